package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/internal/judge"
)

func TestParse_IDs(t *testing.T) {
	for _, c := range []struct{ id, family, version, suite, err string }{
		{"node@26", "node", "26", "", ""},
		{"deno", "deno", "", "", ""},
		{"php@8.4/sid", "php", "8.4", "sid", ""},
		{"java@21", "java", "21", thisSuite(), ""},
		{"jsc/sid", "jsc", "", "sid", ""},
		{"wasmtime-go@39", "wasmtime-go", "39", "", ""},
		{"node@26/sid", "", "", "", "comes from npm"},
		{"wazero/sid", "", "", "", "comes from Go's proxy"},
		{"java", "", "", "", "which version?"},
		{"jaba@21", "", "", "", `no family is called "jaba"; there are node, deno,`},
	} {
		r, err := parse(c.id)
		switch {
		case c.err != "":
			if err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%s: got %v, want %q", c.id, err, c.err)
			}
		case err != nil:
			t.Errorf("%s: %v", c.id, err)
		case r.family.name != c.family || r.version != c.version || r.suite != c.suite:
			t.Errorf("%s: got %s %s %s", c.id, r.family.name, r.version, r.suite)
		}
	}
	for _, id := range defaults {
		if _, err := parse(id); err != nil {
			t.Error(err)
		}
	}
}

// Every family's programs are there, and have marks.
func TestFamilies_Complete(t *testing.T) {
	for _, f := range families {
		if f.prepare == nil || (f.npm == "" && f.module == nil) == (f.packages == nil) || (f.packages == nil) != (f.versions == nil) {
			t.Errorf("%s: no way to install or to run it", f.name)
		}
		for _, p := range f.programs {
			if _, err := os.Stat(filepath.Join("..", "..", "testdata", "truth", p)); err != nil {
				t.Errorf("%s: %v", f.name, err)
			}
		}
	}
}

func TestNewest_OfAMajor(t *testing.T) {
	versions := []string{"9.0.0", "24.1.0", "25.9.0", "25.10.1", "25.10.0", "26.0.0-rc.1", "250.0.0", "odd"}
	for prefix, want := range map[string]string{"": "250.0.0", "25": "25.10.1", "25.9": "25.9.0", "25.9.0": "25.9.0", "26": "", "2": ""} {
		if got := newest(versions, prefix); got != want {
			t.Errorf("%q: got %q, want %q", prefix, got, want)
		}
	}
}

func TestMatches_WholeNumbers(t *testing.T) {
	for _, c := range []struct {
		installed, asked string
		want             bool
	}{{"10.0.13", "10.0", true}, {"10.1.0", "10.0", false}, {"25.2.3", "25", true}, {"250.1", "25", false}, {"8.2", "8.2", true}, {"1.2", "", true}} {
		if got := matches(c.installed, c.asked); got != c.want {
			t.Errorf("%s, asked for %s: got %v, want %v", c.installed, c.asked, got, c.want)
		}
	}
}

const emptyPage = "# Page\n\n<!-- runtimes:names -->\n| runtime | version |\n|---|---|\n<!-- /runtimes:names -->\n\ntext\n\n<!-- runtimes:remarks -->\n<!-- /runtimes:remarks -->\nend\n"

// Rows are replaced or put in their place; nothing else changes.
func TestPage_RowsKeepTheirPlaces(t *testing.T) {
	p := &page{path: "page.md", text: emptyPage}
	order := []string{"node@20", "node@25"}
	for _, row := range [][2]string{{"zeta", "1"}, {"node@25", "25.9.0"}, {"alpha", "2"}, {"node@20", "20.1"}, {"node@25", "25.10.1"}} {
		if err := p.setRow("names", row[0], row[1:], order); err != nil {
			t.Fatal(err)
		}
	}
	want := strings.Replace(emptyPage, "|---|---|\n", "|---|---|\n| `node@20` | 20.1 |\n| `node@25` | 25.10.1 |\n| `alpha` | 2 |\n| `zeta` | 1 |\n", 1)
	if p.text != want {
		t.Errorf("got\n%s\nwant\n%s", p.text, want)
	}
	if err := p.setRow("none", "a", nil, order); err == nil || !strings.Contains(err.Error(), "<!-- runtimes:none -->") {
		t.Errorf("a table that is not there: got %v", err)
	}
}

func TestPage_RemarksOfOneRuntime(t *testing.T) {
	p := &page{path: "page.md", text: emptyPage}
	order := []string{"node@20"}
	long := strings.TrimSpace(strings.Repeat("seven ch ", 14))
	for _, r := range []struct {
		id   string
		text []string
	}{{"b", []string{"old"}}, {"a", []string{"gone"}}, {"b", []string{"new", long}}, {"node@20", []string{"first"}}, {"a", nil}} {
		if err := p.setRemarks(r.id, r.text, order); err != nil {
			t.Fatal(err)
		}
	}
	_, got, _ := strings.Cut(p.text, "<!-- runtimes:remarks -->\n")
	want := "\n### `node@20`\n\n- `first`\n\n### `b`\n\n- `new`\n- `" + strings.TrimSpace(strings.Repeat("seven ch ", 10)) + " seven\n  ch" + strings.Repeat(" seven ch", 3) + "`\n\n<!-- /runtimes:remarks -->\nend\n"
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	for line := range strings.Lines(p.text) {
		if len([]rune(line)) > 101 {
			t.Errorf("a line of %d columns: %s", len([]rune(line)), line)
		}
	}
}

func TestPercent_NeverRoundsToTheEnds(t *testing.T) {
	for _, c := range []struct {
		part, all int
		want      string
	}{{0, 0, "–"}, {5, 5, "100 %"}, {0, 5, "0 %"}, {9999, 10000, "99.9 %"}, {1, 10000, "0.1 %"}, {1, 2, "50 %"}, {2, 3, "66.7 %"}} {
		if got := percent(c.part, c.all); got != c.want {
			t.Errorf("%d of %d: got %s, want %s", c.part, c.all, got, c.want)
		}
	}
}

func TestInnermost_SkipsTheInterpreter(t *testing.T) {
	jitted, own := judge.Frame{Symbol: "py::f:/a.py", DSO: "/tmp/jitted-1-1.so"}, judge.Frame{Symbol: "eval", DSO: "/usr/bin/python3"}
	nowhere := judge.Frame{DSO: "[unknown]"}
	got := innermost([]judge.Sample{
		{Frames: []judge.Frame{own, nowhere, jitted, own}}, {Frames: []judge.Frame{own}}, {},
	})
	want := []judge.Sample{{Frames: []judge.Frame{jitted, own}}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestPair_CountsSamplesOfEither(t *testing.T) {
	jitted := judge.Frame{Symbol: "f", DSO: "/tmp/jitted-1-1.so"}
	file, start := judge.Frame{Symbol: "Builtins_f", DSO: "/usr/bin/node"}, judge.Frame{Symbol: "_start", DSO: "/usr/bin/node"}
	sample := func(time uint64, frames ...judge.Frame) judge.Sample { return judge.Sample{Time: time, Frames: frames} }
	var p pair
	p.count([]judge.Sample{sample(1, jitted), sample(2, file, start), sample(3, jitted, start)}, []judge.Sample{sample(1, file, start), sample(2, file, start), sample(3, jitted)})
	if p.jitted != 2 || p.ours != 1 || p.theirs != 1 {
		t.Errorf("got %d jitted, %d of ours and %d of theirs whole, want 2, 1, 1", p.jitted, p.ours, p.theirs)
	}
}

func TestReason_WithoutTheCommand(t *testing.T) {
	for _, c := range []struct {
		err  error
		want string
	}{
		{fmt.Errorf("perf script -i a: %w", context.DeadlineExceeded), "it takes more than 2m0s"},
		{errors.New("perf inject -i a: exit status 255: first\nflags 0x2"), "flags 0x2"},
		{errors.New("perf inject -i a: exit status 255: flags 0x2"), "exit status 255: flags 0x2"},
		{errors.New("perf script -i a: signal: segmentation fault after 3 samples: "), "signal: segmentation fault after 3 samples:"},
		{errors.New("no such file"), "no such file"},
	} {
		if got := reason(c.err); got != c.want {
			t.Errorf("for %v: got %q, want %q", c.err, got, c.want)
		}
	}
}
