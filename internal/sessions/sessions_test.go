package main

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/internal/testrec"
)

// built returns a directory with the program.
func built(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := testrec.Build(filepath.Join(dir, "jitinject")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("jitinject", filepath.Join(dir, "perf-jitinject")); err != nil {
		t.Fatal(err)
	}
	return dir
}

const top = "../.."

// eachDocument calls f for all documents that may have sessions.
func eachDocument(t *testing.T, f func(t *testing.T, path, text string)) {
	for _, path := range documents(top) {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		name, _ := filepath.Rel(top, path)
		t.Run(name, func(t *testing.T) { f(t, path, string(text)) })
	}
}

// What documents show are the commands that are run, and names tell sessions apart.
func TestSessions_AreShown(t *testing.T) {
	seen := make(map[string]bool)
	eachDocument(t, func(t *testing.T, _, text string) {
		sessions, err := parse(text)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range sessions {
			if want, shown := commands(s.lines), commands(s.shown); !slices.Equal(want, shown) {
				t.Errorf("session %s shows\n%s\nand is\n%s; run make sessions", s.name, strings.Join(shown, "\n"), strings.Join(want, "\n"))
			}
			if seen[s.name] {
				t.Errorf("there are two sessions %s", s.name)
			}
			seen[s.name] = true
		}
	})
	if len(seen) < 20 {
		t.Errorf("%d sessions, so this test does not see the most of them", len(seen))
	}
}

// Sessions on recorded data work as they are shown, and where they depend on nothing
// but jitinject, print what is shown.
func TestSessions_OnRecordedData(t *testing.T) {
	testrec.Tool(t, "perf")
	r := &runner{top: top, bin: built(t), work: "/dev/shm"} // for speed
	if dir, err := os.MkdirTemp(r.work, "session-"); err != nil {
		r.work = t.TempDir()
	} else {
		os.Remove(dir)
	}
	ran := 0
	eachDocument(t, func(t *testing.T, _, text string) {
		sessions, err := parse(text)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range sessions {
			if s.records() {
				continue
			}
			for _, tool := range s.list("needs") {
				testrec.Tool(t, tool)
			}
			got, err := r.run(s)
			if err != nil {
				t.Error(err)
				continue
			}
			ran++
			if s.onlyOurs() && !sameBut(got, s.shown) {
				t.Errorf("session %s prints\n%s\nand it is shown as\n%s; run make sessions", s.name, got, s.shown)
			}
		}
	})
	if ran < 5 {
		t.Errorf("%d sessions were run", ran)
	}
}

const sample = `text
<!-- session one recording=node-hot needs=perf,node records
: hidden
$ echo a  b
| first 1
$ false
= 1
-->
` + "```console" + `
$ echo a  b
a 12 b
$ false
` + "```" + `
<!-- /session -->
more
`

func TestParseSession_EveryForm(t *testing.T) {
	sessions, err := parse(sample)
	if err != nil || len(sessions) != 1 {
		t.Fatalf("got %+v, %v; want no error, 1 session", sessions, err)
	}
	s := sessions[0]
	if want := ": hidden\n$ echo a  b\n| first 1\n$ false\n= 1\n"; s.name != "one" || s.attributes["recording"] != "node-hot" || !slices.Equal(s.list("needs"), []string{"perf", "node"}) || !s.records() || s.lines != want {
		t.Errorf(`got %+v; want name = "one", recording = "node-hot", needs equal to perf and node, records, lines = %q`, s, want)
	}
	if s.shown != "$ echo a  b\na 12 b\n$ false\n" || !sameBut(s.shown, "$ echo a b\na 7 b\n$ false\n") || sameBut(s.shown, "$ echo a b\na b\n$ false\n") || !sameBut("in 1.5 s", "in 20 ms") || sameBut("in 1.5 s", "in 20 m") {
		t.Errorf("it shows %q", s.shown)
	}
	if got := s.paste(sample, s.shown); got != sample {
		t.Errorf("pasted again:\n%s", got)
	}
	if got := s.paste(sample, "$ new\n"); !strings.Contains(got, "-->\n```console\n$ new\n```\n<!-- /session -->\nmore") {
		t.Errorf("pasted:\n%s", got)
	}
	for _, bad := range []string{
		"<!-- session \n-->\n<!-- /session -->",
		"<!-- session a colour=red\n-->\n<!-- /session -->",
		"<!-- session a\n$ ls\n-->\n",
		"<!-- session a\n$ ls\n-->\n<!-- session b\n-->\n<!-- /session -->",
	} {
		if _, err := parse(bad); err == nil {
			t.Errorf("%q is taken for a document", bad)
		}
	}
}

// A command with another exit code than the document says fails the session, and so
// does a tool that is not there, in another way.
func TestRun_OtherExitCode(t *testing.T) {
	r := &runner{top: top, bin: t.TempDir(), work: t.TempDir()}
	text, err := r.run(&session{name: "fine", lines: "$ printf 'a \\nb\\nc\\n\\n' >&2\n| first 2\n: X=1\n$ exit_with() { return 1; }; exit_with\n= 1\n$ echo $X; pwd\n"})
	if want := "$ printf 'a \\nb\\nc\\n\\n' >&2\na\nb\n...\n$ exit_with() { return 1; }; exit_with\n$ echo $X; pwd\n1\n" + shownDir + "\n"; err != nil || text != want {
		t.Errorf("%q, %v, want %q", text, err, want)
	}
	for _, lines := range []string{"$ false\n", "$ true\n= 1\n", "ls\n"} {
		if _, err := r.run(&session{name: "wrong", lines: lines}); err == nil || errors.Is(err, errMissing) {
			t.Errorf("%q: got %v; want an error of the session", lines, err)
		}
	}
	if _, err := r.run(&session{name: "missing", attributes: map[string]string{"needs": "no-such-tool"}}); !errors.Is(err, errMissing) {
		t.Errorf("a tool that is not there: %v", err)
	}
}

// Each runtime's page shows that it was tried, or says that it was not; and the table of
// runtimes has it.
func TestDocs_RuntimesAreTried(t *testing.T) {
	pages, err := filepath.Glob(filepath.Join(top, "docs/runtimes/*.md"))
	if err != nil || len(pages) < 10 {
		t.Fatalf("got %+v, %v; want no error, at least 10 pages", pages, err)
	}
	index, err := os.ReadFile(filepath.Join(top, "docs/runtimes/README.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range pages {
		name := filepath.Base(path)
		if name == "README.md" {
			continue
		}
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		sessions, err := parse(string(text))
		if err != nil {
			t.Fatal(err)
		}
		recorded := slices.ContainsFunc(sessions, (*session).records)
		switch said := strings.Contains(string(text), "Not tried by us") || strings.Contains(string(text), "Tried on"); {
		case !recorded && !said:
			t.Errorf("%s shows no session, and does not say that it was not tried", name)
		case recorded && !strings.Contains(string(text), "\n## Versions tried\n"):
			t.Errorf("%s does not say which versions were tried", name)
		}
		if !strings.Contains(string(index), "("+name+")") {
			t.Errorf("the table of runtimes does not have %s", name)
		}
	}
}

// commands are the lines of a session, or of what it shows, that are commands.
func commands(text string) (list []string) {
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "$ ") {
			list = append(list, line)
		}
	}
	return list
}

// onlyOurs reports whether all commands are jitinject's, so that what they print does
// not depend on what else is installed.
func (s *session) onlyOurs() bool {
	others := regexp.MustCompile(`(?m)^[$:] .*[|;&]|^[$:] (jitinject )?`)
	for _, m := range others.FindAllStringSubmatch(s.lines, -1) {
		if m[1] == "" {
			return false
		}
	}
	return true
}

var (
	digits = regexp.MustCompile(`[0-9][0-9.,]*(?: (?:ns|µs|ms|s|bytes|kB|MB|GB)\b)?`)
	blanks = regexp.MustCompile(`[ \t]+`)
)

// sameBut reports whether two texts are the same but for numbers, with the units of times and
// sizes, and the width of columns: process numbers, times and sizes differ from run to run.
func sameBut(a, b string) bool {
	plain := func(s string) string {
		return blanks.ReplaceAllString(digits.ReplaceAllString(s, "0"), " ")
	}
	return plain(a) == plain(b)
}
