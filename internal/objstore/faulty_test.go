package objstore

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/jitinject/jitinject/internal/config"
	"github.com/jitinject/jitinject/internal/model"
	"github.com/jitinject/jitinject/internal/safefile/sys"
	"github.com/jitinject/jitinject/internal/source"
)

// A faulty is a seam that counts calls and lets those with one name fail.
type faulty struct {
	name string // "" for none
	made map[string]int
}

func (f *faulty) Before(c *sys.Call) error {
	if c.Name == f.name {
		return unix.EIO
	}
	return nil
}

func (f *faulty) After(c *sys.Call, _ int, err error) {
	if err == nil {
		f.made[c.Name]++
	}
}

// with lets the calls with a name fail while do runs. It returns how often calls were made.
func with(name string, do func()) map[string]int {
	f := &faulty{name, make(map[string]int)}
	defer sys.Use(f)()
	do()
	return f.made
}

// A lock file of a killed run may be marked, and have its time.
func TestShare_LockCannotBeReset(t *testing.T) {
	for _, call := range []string{"fchmod", "utimensat"} {
		dir := t.TempDir()
		with(call, func() {
			s, err := openStore(context.Background(), dir, false)
			if err != nil {
				t.Errorf("%s fails: got %v; want a directory that can be used", call, err)
				return
			}
			if s.alone || s.MayUndo() == nil {
				t.Errorf("%s fails: got a run that relies on its lock: alone %v, may undo: %v", call, s.alone, s.MayUndo())
			}
			s.Close()
		})
		if entries, err := os.ReadDir(dir); err != nil || len(entries) > 0 {
			t.Errorf("%s fails: got %v, %v; want no file left", call, entries, err)
		}
	}
}

// Without the mark, another run may remove objects of this one.
func TestMark_Fails(t *testing.T) {
	s, err := openStore(context.Background(), t.TempDir(), false)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	stores := &Stores{byPath: map[string]*Store{s.path: s}}
	with("fchmod", func() {
		if found := stores.Mark(); len(found.Problems) != 1 || !strings.Contains(found.Problems[0].Text, "could not be marked") {
			t.Errorf("got %v; want a problem", found.Problems)
		}
	})
	if found := stores.Mark(); len(found.Problems) != 0 {
		t.Errorf("got %v; want no problem", found.Problems)
	}
}

// A source file that is there may be one that is not on the disk.
func TestSources_SyncedIfThere(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "sources")
	for _, call := range []string{"first", "second"} {
		tree, err := OpenSources(&config.Options{Sources: dir})
		if err != nil {
			t.Fatal(err)
		}
		d := withSource(t)
		if _, found := tree.Place(d); len(found.Problems) > 0 {
			t.Fatalf("got %v; want no problems", found.Problems)
		}
		made := with("", func() {
			if err := tree.Sync(); err != nil {
				t.Errorf("unexpected error: %v", err)
			}
		})
		if made["syncfs"] != 1 {
			t.Errorf("%s run: got %d calls of syncfs; want 1", call, made["syncfs"])
		}
		tree.Close()
	}
}

// withSource returns a dump with one source file.
func withSource(t *testing.T) *model.Dump {
	t.Helper()
	f, err := os.Create(filepath.Join(t.TempDir(), "dump"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return &model.Dump{File: sys.Of(f), Source: &oneSource{}}
}

// A oneSource is a dump with one source file and nothing else.
type oneSource struct{ source.Dump }

func (*oneSource) Sources() []source.Source      { return []source.Source{{Name: "f.toy"}} }
func (*oneSource) Text(int) (source.Text, error) { return source.TextOf([]byte("text")), nil }
func (*oneSource) PlaceSource(int, string)       {}

// A remover is another run that removes its directory just before this one locks it.
type remover struct{ dir string }

func (r *remover) Before(c *sys.Call) error {
	if c.Name == "openat" && strings.Contains(c.Path, ".lock.") && r.dir != "" {
		os.Remove(r.dir)
		r.dir = ""
	}
	return nil
}

func (r *remover) After(*sys.Call, int, error) {}

func TestStore_DirectoryRemovedBeforeLock(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "objects")
	restore := sys.Use(&remover{dir})
	s, err := openStore(context.Background(), dir, true)
	restore()
	if err != nil {
		t.Fatalf("got %v; want the directory made again", err)
	}
	defer s.Close()
	if st, err := os.Stat(dir); err != nil || !st.IsDir() {
		t.Errorf("got %v, %v; want a directory", st, err)
	}
}

// A blind seam does not know the types of files.
type blind struct{}

func (blind) Before(c *sys.Call) error {
	if c.Name == "fstat" {
		return unix.EIO
	}
	return nil
}

func (blind) After(*sys.Call, int, error) {}

// Directories that may be another run's stay, and are named if that is unknown.
func TestStores_MadeDirectoriesNamed(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "objects")
	s, err := openStore(context.Background(), dir, true)
	if err != nil {
		t.Fatal(err)
	}
	all := Stores{byPath: map[string]*Store{dir: s}}
	restore := sys.Use(blind{})
	all.RemoveMade()
	restore()
	if left := all.Close(); !strings.Contains(left, filepath.Dir(dir)) || !strings.Contains(left, "input/output error") {
		t.Errorf("got %q; want %s and the error", left, filepath.Dir(dir))
	}
	if _, err := os.Stat(dir); err != nil {
		t.Errorf("got %v; want the directory left", err)
	}
}
