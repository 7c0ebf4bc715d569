package showmap_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/jitinject/jitinject/internal/show"
	"github.com/jitinject/jitinject/internal/show/showtest"
)

// smallMap has lines of several runtimes, a name that a terminal must not get, and damage.
const smallMap = "0x00007f1200000000 0x0000000000000040 int Hot.fib(int)\n" +
	"7f1200000100 1f0 JS:*fib /app/hot.js:1:13\n" +
	"7f1200000300 0 \x1b[31mred\n"

const damagedMap = smallMap + "what is this\n7f1200000400 20\n7f1200000500 20 cut"

func TestGolden_SmallMap(t *testing.T) {
	testdata, err := filepath.Abs("testdata")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	showtest.Put(t, "perf-17.map", []byte(smallMap))
	showtest.Put(t, "damaged.map", []byte(damagedMap))
	showtest.Golden(t, testdata, "small.txt", showtest.Whole(t, "perf-17.map", show.Options{Hex: true}))
	showtest.Golden(t, testdata, "small.json", showtest.Whole(t, "perf-17.map", show.Options{JSON: true}))
	showtest.Golden(t, testdata, "damaged.txt", showtest.Shown(t, "damaged.map", show.Options{}))
}

func TestShow_Filters(t *testing.T) {
	t.Chdir(t.TempDir())
	showtest.Put(t, "perf-17.map", []byte(smallMap))
	at := func(first, last uint64) show.Range { return show.Range{Set: true, First: first, Last: last} }
	for _, c := range []struct {
		filter show.Filter
		want   string // parts of names that are shown
	}{
		{show.Filter{Address: at(0x7f120000010f, 0x7f12000002ff)}, "JS:*fib"},
		{show.Filter{Address: at(0x7f1200000040, 0x7f12000000ff)}, ""},
		{show.Filter{Names: []show.Name{{Part: "fib("}}}, "int Hot.fib(int)"},
		{show.Filter{PIDs: []uint32{17}, Types: []string{"function"}, Names: []show.Name{{Part: "JS"}}}, "JS:*fib"},
		{show.Filter{PIDs: []uint32{18}}, ""},
		{show.Filter{Time: at(0, 5)}, ""},
	} {
		got := showtest.Shown(t, "perf-17.map", show.Options{Filter: c.filter})
		if (c.want == "") != (got == "") || !strings.Contains(got, c.want) || strings.Count(got, "\n") > 2 {
			t.Errorf("%+v: got %q; want %q", c.filter, got, c.want)
		}
	}
	if err := showtest.File(&bytes.Buffer{}, "perf-17.map", &show.Options{Disassemble: true}); err == nil || err.Error() != "perf map files have no code to disassemble; leave out -d" {
		t.Errorf("got %v; want that there is no code", err)
	}
}

// A map in a pipe is shown as from a file.
func TestShow_FromPipe(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	go func() {
		w.WriteString(smallMap)
		w.Close()
	}()
	var out bytes.Buffer
	if err := showtest.File(&out, "-", &show.Options{Stdin: r}); err != nil || strings.Count(out.String(), " function ") != 3 {
		t.Errorf("got %q, %v; want 3 functions", out.String(), err)
	}
}

// FuzzMap: arbitrary bytes are shown without a panic, as JSON and as text without commands for a
// terminal.
func FuzzMap(f *testing.F) {
	paths, _ := filepath.Glob("../../format/perfmap/testdata/*.map")
	for _, path := range paths {
		b, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b, true)
	}
	f.Add([]byte(damagedMap), false)
	path := filepath.Join(f.TempDir(), "perf-1.map")
	f.Fuzz(func(t *testing.T, in []byte, asJSON bool) {
		in = append([]byte("7f1200000000 40 first\n"), in...)
		if err := os.WriteFile(path, in, 0o600); err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		err := showtest.File(showtest.Limited{Out: &out}, path, &show.Options{JSON: asJSON, Hex: len(in)%2 == 0})
		var damaged *show.Damaged
		if errors.As(err, new(*show.LostOutput)) {
			return // there is a lot to be shown
		}
		if err != nil && !errors.As(err, &damaged) {
			t.Fatal(err)
		}
		for line := range bytes.Lines(out.Bytes()) {
			if asJSON && !json.Valid(line) {
				t.Fatalf("got %q; want JSON", line)
			}
		}
		if i := bytes.IndexFunc(out.Bytes(), func(r rune) bool { return r < ' ' && r != '\n' || r == 0x7f }); i >= 0 || !utf8.Valid(out.Bytes()) {
			t.Fatalf("got control characters or no UTF-8 at byte %d; want none", i)
		}
	})
}
