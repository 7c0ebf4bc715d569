package record

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestPlaceOf_Names(t *testing.T) {
	for result, want := range map[string]Place{
		"perf.jit.data":        {"perf.data", "perf.jit.data", "perf.jit.files"},
		"app.jit.data":         {"app.data", "app.jit.data", "app.jit.files"},
		"app.data":             {"app.perf.data", "app.data", "app.files"},
		"app":                  {"app.perf.data", "app", "app.files"},
		"a.jit":                {"a.data", "a.jit", "a.jit.files"},
		".jit.data":            {".jit.perf.data", ".jit.data", ".jit.files"},
		"dir/perf.jit.data":    {"dir/perf.data", "dir/perf.jit.data", "dir/perf.jit.files"},
		"/a b/x.y/app.data":    {"/a b/x.y/app.perf.data", "/a b/x.y/app.data", "/a b/x.y/app.files"},
		"perf.data":            {"perf.perf.data", "perf.data", "perf.files"},
		"perf.data.old":        {"perf.data.old.perf.data", "perf.data.old", "perf.data.old.files"},
		"../x.jit.data/y.data": {"../x.jit.data/y.perf.data", "../x.jit.data/y.data", "../x.jit.data/y.files"},
	} {
		got := PlaceOf(result)
		if got != want {
			t.Errorf("%s: got %+v; want %+v", result, got, want)
		}
		if got.Recording == got.Result || got.Files == got.Result {
			t.Errorf("%s: two files have the same name: %+v", result, got)
		}
	}
}

// place makes a place in an empty directory.
func place(t *testing.T) *Place {
	t.Helper()
	p := PlaceOf(filepath.Join(t.TempDir(), "perf.jit.data"))
	return &p
}

// A recording that is injected again has its dumps where record put them.
func TestFilesOf_EachResult(t *testing.T) {
	for _, result := range []string{"perf.jit.data", "app.jit.data", "app.data", "app", "a.jit", ".jit.data", "x.perf.jit.data"} {
		p := PlaceOf(filepath.Join(t.TempDir(), result))
		if got := FilesOf(p.Recording); got != "" {
			t.Errorf("%s: got %q before the recording; want none", result, got)
		}
		if err := p.makeFiles(); err != nil {
			t.Fatal(err)
		}
		if got := FilesOf(p.Recording); got != p.Files {
			t.Errorf("%s: got %q; want %q", result, got, p.Files)
		}
	}
}

// recorded makes what a recording leaves.
func (p *Place) recorded(t *testing.T, text string) {
	t.Helper()
	if err := p.makeFiles(); err != nil {
		t.Fatal(err)
	}
	replace(t, p.Recording, text)
	if err := p.noteRecording(); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(p.Files, "jit-1.dump"), text)
	replace(t, p.Result, text)
	if err := p.Finish(true); err != nil {
		t.Fatal(err)
	}
}

// replace writes a file as perf and inject do it: an earlier one becomes NAME.old.
func replace(t *testing.T, path, text string) {
	t.Helper()
	if exists(path) {
		if err := os.Rename(path, path+".old"); err != nil {
			t.Fatal(err)
		}
	}
	write(t, path, text)
}

// names returns the names that Made returns.
func (p *Place) names(t *testing.T) (names []string) {
	t.Helper()
	paths, ok := Made(p.Result)
	if !ok {
		t.Fatalf("got that record did not make %s", p.Result)
	}
	for _, path := range paths {
		if filepath.Dir(path) != filepath.Dir(p.Result) {
			t.Errorf("got %s; want only what is beside %s", path, p.Result)
		}
		names = append(names, filepath.Base(path))
	}
	slices.Sort(names)
	return names
}

func (p *Place) wantMade(t *testing.T, want ...string) {
	t.Helper()
	if got := p.names(t); !slices.Equal(got, want) {
		t.Errorf("got %q; want %q", got, want)
	}
}

func TestMade_AllOfARecording(t *testing.T) {
	p := place(t)
	p.recorded(t, "one")
	p.wantMade(t, "perf.data", "perf.jit.data", "perf.jit.files")
}

// perf keeps one earlier recording, inject one earlier result. The objects of the latter are gone.
func TestMade_WithTheEarlierRecording(t *testing.T) {
	p := place(t)
	for _, text := range []string{"one", "two, longer", "three, of another length"} {
		p.recorded(t, text)
	}
	p.wantMade(t, "perf.data", "perf.data.old", "perf.jit.data", "perf.jit.files")
	if exists(p.Result + ".old") {
		t.Error("the earlier result is there, whose objects are not")
	}
	if exists(p.Files + ".old") {
		t.Error("the earlier files are there")
	}
}

// Files that others made since are not ours, whatever their names are.
func TestMade_ReplacedFiles(t *testing.T) {
	for _, replace := range []func(path string) error{
		func(path string) error { return os.WriteFile(path, []byte("longer than before"), 0o644) },
		func(path string) error { // of the same length
			if err := os.WriteFile(path+"~", []byte("one"), 0o644); err != nil {
				return err
			}
			return os.Rename(path+"~", path)
		},
		os.Remove,
		func(path string) error { return errors.Join(os.Remove(path), os.Mkdir(path, 0o755)) },
		func(path string) error { return errors.Join(os.Rename(path, path+"~"), os.Symlink(path+"~", path)) },
	} {
		for _, name := range []string{"perf.data", "perf.jit.data"} {
			p := place(t)
			p.recorded(t, "one")
			if err := replace(filepath.Join(filepath.Dir(p.Result), name)); err != nil {
				t.Fatal(err)
			}
			if slices.Contains(p.names(t), name) {
				t.Errorf("%s is another file now, and is to be removed", name)
			}
		}
	}
}

// A recording of perf's own becomes perf.data.old: it is not ours.
func TestMade_RecordingOfPerfBefore(t *testing.T) {
	p := place(t)
	write(t, p.Recording, "of perf record")
	p.recorded(t, "one")
	p.wantMade(t, "perf.data", "perf.jit.data", "perf.jit.files")
	if read(t, p.Recording+".old") != "of perf record" {
		t.Error("the earlier recording is lost")
	}
	p.recorded(t, "two, longer") // perf replaces it
	p.wantMade(t, "perf.data", "perf.data.old", "perf.jit.data", "perf.jit.files")
}

// The directory may be moved with all that is in it.
func TestMade_InAMovedDirectory(t *testing.T) {
	p := place(t)
	p.recorded(t, "one")
	to := filepath.Join(t.TempDir(), "moved")
	if err := os.Rename(filepath.Dir(p.Result), to); err != nil {
		t.Fatal(err)
	}
	moved := PlaceOf(filepath.Join(to, "perf.jit.data"))
	moved.wantMade(t, "perf.data", "perf.jit.data", "perf.jit.files")
}

// A list that somebody else wrote cannot name files elsewhere.
func TestMade_ListThatLeadsElsewhere(t *testing.T) {
	p := place(t)
	p.recorded(t, "one")
	victim := filepath.Join(t.TempDir(), "victim")
	write(t, victim, "one")
	for _, text := range []string{
		strings.ReplaceAll(`[{"Path":"PATH","Inode":1,"Size":3,"Time":1}]`, "PATH", victim),
		`[{"Path":"../victim"}]`, "{", "", `{"Path":7}`, "null",
	} {
		write(t, filepath.Join(p.Files, listFile), text)
		p.wantMade(t, "perf.jit.files")
	}
}

// Nor can it name other files beside the result, also if it has their identity.
func TestMade_ListThatNamesOtherFiles(t *testing.T) {
	p := place(t)
	p.recorded(t, "one")
	victim := filepath.Join(filepath.Dir(p.Result), "victim")
	write(t, victim, "text")
	id, err := identify(victim)
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal([]identity{id})
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(p.Files, listFile), string(text))
	p.wantMade(t, "perf.jit.files")
}

func TestMade_NotOurs(t *testing.T) {
	p := place(t)
	if paths, ok := Made(p.Result); ok {
		t.Errorf("got %q for a directory without a recording", paths)
	}
	write(t, filepath.Join(p.Files, "notes.txt"), "mine")
	write(t, p.Result, "mine")
	if paths, ok := Made(p.Result); ok {
		t.Errorf("got %q for a directory of another's", paths)
	}
}

// Something else that has the name of the directory stays as it is.
func TestMakeFiles_NotOurs(t *testing.T) {
	for what, make := range map[string]func(path string) error{
		"a file":      func(path string) error { return os.WriteFile(path, []byte("mine"), 0o644) },
		"a directory": func(path string) error { return os.MkdirAll(filepath.Join(path, "mine"), 0o755) },
		"a link": func(path string) error {
			return errors.Join(os.MkdirAll(filepath.Join(path+".real", scaffold), 0o755), os.Symlink(path+".real", path))
		},
		"a dead link": func(path string) error { return os.Symlink("nowhere", path) },
	} {
		p := place(t)
		if err := make(p.Files); err != nil {
			t.Fatal(err)
		}
		before, err := identify(p.Files)
		if err != nil {
			t.Fatal(err)
		}
		if err := p.makeFiles(); !errors.Is(err, ErrNotOurs) {
			t.Errorf("%s: got %v; want that it is not ours", what, err)
		}
		if after, err := identify(p.Files); err != nil || after != before {
			t.Errorf("%s: it has changed: %+v, %v; want %+v", what, after, err, before)
		}
	}
}

// perf did not record: the earlier recording's files come back.
func TestAbandon_BringsEarlierFilesBack(t *testing.T) {
	p := place(t)
	if err := p.makeFiles(); err != nil {
		t.Fatal(err)
	}
	if err := p.abandon(identity{}); err != nil || exists(p.Files) {
		t.Errorf("got %v, and the directory of no recording; want none", err)
	}
	p.recorded(t, "one")
	before := p.names(t)
	if err := p.makeFiles(); err != nil {
		t.Fatal(err)
	}
	if exists(filepath.Join(p.Files, "jit-1.dump")) {
		t.Error("the new directory has an earlier dump")
	}
	if err := p.abandon(identity{}); err != nil {
		t.Fatal(err)
	}
	p.wantMade(t, before...)
	if read(t, filepath.Join(p.Files, "jit-1.dump")) != "one" || exists(p.Files+".old") {
		t.Error("the earlier files are not as before")
	}
}

// perf renames the earlier recording and makes an empty file before it fails.
func TestAbandon_EmptyRecording(t *testing.T) {
	p := place(t)
	p.recorded(t, "one")
	before, err := identify(p.Recording)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.makeFiles(); err != nil {
		t.Fatal(err)
	}
	replace(t, p.Recording, "")
	if err := p.abandon(before); err != nil {
		t.Fatal(err)
	}
	if read(t, p.Recording) != "one" || exists(p.Recording+".old") {
		t.Error("the earlier recording has not its name")
	}
	p.wantMade(t, "perf.data", "perf.jit.data", "perf.jit.files")
}

// An empty file that was there before is another's.
func TestAbandon_EmptyFileOfAnother(t *testing.T) {
	p := place(t)
	write(t, p.Recording, "")
	before, err := identify(p.Recording)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.makeFiles(); err != nil {
		t.Fatal(err)
	}
	if err := p.abandon(before); err != nil || !exists(p.Recording) {
		t.Errorf("got %v, or another's file was removed", err)
	}
}

// A result of a plain jitinject, whose objects stay, is not replaced by one of record, whose objects go.
func TestNoteRecording_EarlierResultOfAnother(t *testing.T) {
	p := place(t)
	write(t, p.Result, "plain")
	for _, text := range []string{"one", "two, longer", "three, of another length"} {
		p.recorded(t, text)
		if read(t, p.Result+".old") != "plain" {
			t.Fatalf("the plain result is lost after %q", text)
		}
	}
	p.wantMade(t, "perf.data", "perf.data.old", "perf.jit.data", "perf.jit.files")
}

// A plain jitinject may run between two recordings: perf.jit.data is its result then.
func TestNoteRecording_LaterResultOfAnother(t *testing.T) {
	p := place(t)
	p.recorded(t, "one")
	replace(t, p.Result, "plain, of another length")
	p.wantMade(t, "perf.data", "perf.jit.data.old", "perf.jit.files")
	p.recorded(t, "two, longer")
	if read(t, p.Result+".old") != "plain, of another length" {
		t.Error("the plain result is lost")
	}
}

// A recording that ended before it had a result leaves an earlier one's. All of it is record's.
func TestMade_WithoutAResult(t *testing.T) {
	p := place(t)
	p.recorded(t, "one")
	if err := p.makeFiles(); err != nil {
		t.Fatal(err)
	}
	p.wantMade(t, "perf.data", "perf.jit.data", "perf.jit.files", "perf.jit.files.old") // killed in perf record
	replace(t, p.Recording, "two, longer")
	p.wantMade(t, "perf.data.old", "perf.jit.data", "perf.jit.files", "perf.jit.files.old")
	if err := p.noteRecording(); err != nil {
		t.Fatal(err)
	}
	p.wantMade(t, "perf.data", "perf.data.old", "perf.jit.files", "perf.jit.files.old") // killed in inject
	if err := p.Finish(false); err != nil {
		t.Fatal(err)
	}
	p.wantMade(t, "perf.data", "perf.data.old", "perf.jit.files", "perf.jit.files.old") // the earlier result is not lost
}

// A result of another is not taken for one of a recording without a result.
func TestFinish_WithoutAResult(t *testing.T) {
	p := place(t)
	write(t, p.Result, "plain")
	if err := p.makeFiles(); err != nil {
		t.Fatal(err)
	}
	write(t, p.Recording, "one")
	if err := errors.Join(p.noteRecording(), p.Finish(false)); err != nil {
		t.Fatal(err)
	}
	p.wantMade(t, "perf.data", "perf.jit.files")
}

// A recording that was killed left earlier files under the other name. The next one removes them.
func TestMakeFiles_AfterAKill(t *testing.T) {
	p := place(t)
	p.recorded(t, "one")
	for range 2 { // killed after it began
		if err := p.makeFiles(); err != nil {
			t.Fatal(err)
		}
	}
	p.recorded(t, "two, longer")
	if exists(p.Files + ".old") {
		t.Error("earlier files are there")
	}
	if !slices.Contains(p.names(t), "perf.jit.files") {
		t.Error("the new files are not ours")
	}
}

// The link is elsewhere if TMPDIR has such characters as well.
func TestBegin_TMPDIRWithSpaces(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a b")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("TMPDIR", dir)
	s := Session{Place: PlaceOf(filepath.Join(dir, "perf.jit.data"))}
	if err := s.Begin(Settings{}); err != nil {
		t.Fatal(err)
	}
	if got := s.env.Get("JITDUMPDIR"); !isPlain(got) || !exists(got) {
		t.Errorf("got directory %q; want one without such characters", got)
	}
	if err := s.Abandon(); err != nil {
		t.Fatal(err)
	}
}

// A path with characters that a variable would have to quote is replaced by that of a link.
func TestBegin_PathWithSpaces(t *testing.T) {
	for _, name := range []string{"a b", "x,y", "q'q", `back\slash`, "per%cent", "semi;colon", "two:two", "ä", "plain-1.2_3"} {
		dir := filepath.Join(t.TempDir(), name)
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		s := Session{Place: PlaceOf(filepath.Join(dir, "perf.jit.data"))}
		if err := s.Begin(Settings{Inlines: true}); err != nil {
			t.Fatal(err)
		}
		_, preload, _ := strings.Cut(s.env.Get("NODE_OPTIONS"), "--require=")
		if !isPlain(preload) || !exists(preload) {
			t.Errorf("%q: NODE_OPTIONS names %q; want a file without such characters", name, preload)
		}
		if linked := !strings.HasPrefix(preload, dir); linked == isPlain(name) {
			t.Errorf("%q: NODE_OPTIONS names %q; want a link only if needed", name, preload)
		}
		link := s.link
		if err := s.Abandon(); err != nil {
			t.Fatal(err)
		}
		if exists(s.Place.Files) || link != "" && (exists(link) || exists(filepath.Dir(link))) {
			t.Errorf("%q: the directory or the link %q was left", name, link)
		}
	}
}
