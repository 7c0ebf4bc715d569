package engine_test

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/internal/config"
	"github.com/jitinject/jitinject/internal/engine"
	"github.com/jitinject/jitinject/internal/testrec"
)

// Of two copies of a dump the longer one is used, wherever it is: the other one was copied while the
// process wrote it. A longer dump of another run does not take the place of a dump. Nor does one that is
// longer take the place of one that the user names.
func TestDump_LongerCopy(t *testing.T) {
	same := func(b []byte) []byte { return b }
	short := func(b []byte) []byte { return b[:len(b)-2000] }
	for _, c := range []struct {
		name            string
		recorded, other func(whole []byte) []byte
		named           bool // the recorded file, by an option
		uses            bool // the other file
		note            string
	}{
		{"longer copy elsewhere", short, same, false, true, "it has more of the dump than"},
		{"copy without functions", func(b []byte) []byte { return b[:64] }, same, false, true, "it has more of the dump than"},
		{"shorter copy elsewhere", same, short, false, false, "it has more of the dump than"},
		{"named", short, same, true, false, ""},
		{"another start", func(b []byte) []byte { b[24]++; return short(b) }, same, false, false, "it is where it was recorded"}, // the time in the header
		{"another end", func(b []byte) []byte { b = short(b); b[len(b)-1]++; return b }, same, false, false, "it is where it was recorded"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := testrec.Place(t, "node-hot")
			recorded := testrec.Dumps(t, dir)[0]
			other := filepath.Join(t.TempDir(), filepath.Base(recorded))
			whole := read(t, recorded)
			put(t, other, c.other(bytes.Clone(whole)))
			put(t, recorded, c.recorded(bytes.Clone(whole)))
			opts := config.Options{Input: filepath.Join(dir, "perf.data"), Output: filepath.Join(dir, "out.data"), Objects: filepath.Join(dir, "objects"), DumpDirs: []string{filepath.Dir(other)}}
			if c.named {
				opts.SideFiles = []config.SideFile{{PID: 538, Path: recorded}}
			}
			sum, err := engine.Run(t.Context(), opts)
			if err != nil || len(sum.Dumps) != 1 {
				t.Fatalf("got %s, %v; want 1 dump, no error", asJSON(sum), err)
			}
			want := recorded
			if c.uses {
				want = other
			}
			if d := sum.Dumps[0]; d.Path != want || !strings.Contains(d.Note, c.note) || c.note == "" && d.Note != "" {
				t.Errorf("got %s with note %q; want %s with %q", d.Path, d.Note, want, c.note)
			}
			if d := sum.Dumps[0]; (d.Samples.Resolved == d.Samples.InJIT) != (len(read(t, want)) == len(whole)) {
				t.Errorf("%s: got %d of %d samples resolved", want, d.Samples.Resolved, d.Samples.InJIT)
			}
		})
	}
}
