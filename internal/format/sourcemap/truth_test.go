package sourcemap

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Each column has the original place that another decoder finds (testdata/README.md).
func TestFind_AsOtherDecoder(t *testing.T) {
	truths, _ := filepath.Glob("testdata/*.truth")
	if len(truths) != 3 {
		t.Fatalf("got %d files of truth; want 3", len(truths))
	}
	for _, path := range truths {
		text, err := os.ReadFile(strings.TrimSuffix(path, ".truth") + ".map")
		if err != nil {
			t.Fatal(err)
		}
		truth, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		m := read(t, string(text))
		compared := 0
		var line, column uint32 // of the last entry
		want := ""
		demand := func(to uint32) {
			for ; column < to; column++ {
				p, ok := m.Find(line, column)
				got := "none"
				if ok {
					got = fmt.Sprintf("%s\t%d\t%d\t%s", m.Sources[p.Source].URL, p.Line, p.Column, p.Name)
				}
				if got != want {
					t.Errorf("%s: at %d:%d: got %q; want %q", path, line, column, got, want)
				}
				compared++
			}
		}
		for row := range strings.Lines(string(truth)) {
			fields := strings.SplitN(strings.TrimSuffix(row, "\n"), "\t", 3)
			var l, c uint32
			fmt.Sscan(fields[0], &l)
			fmt.Sscan(fields[1], &c)
			switch line {
			case 0: // the first row
			case l:
				demand(c)
			default:
				demand(column + 1)
			}
			line, column, want = l, c, fields[2]
		}
		demand(column + 1)
		if compared < 250 {
			t.Errorf("%s: compared %d columns; want 250 or more", path, compared)
		}
	}
}
