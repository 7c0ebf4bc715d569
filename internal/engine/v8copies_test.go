package engine_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/internal/config"
	"github.com/jitinject/jitinject/internal/formats"
)

// firstLines returns a log up to the line of the first optimized function with inlined calls.
func firstLines(t *testing.T, log string) []byte {
	t.Helper()
	b, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	at := bytes.Index(b, []byte(",F0O117F1O125F2O90F3O207I2"))
	return b[:at+bytes.IndexByte(b[at:], '\n')+1]
}

// Of several logs with the same functions, the most complete one counts, in any order of names.
func TestV8Log_Copies(t *testing.T) {
	const whole = "isolate-0x5-8649-v8.log"
	for _, c := range []struct {
		name  string // of the other log
		cut   bool
		logs  int
		note  string // about it
		named bool
	}{
		{"isolate-0x1-8649-v8.log", false, 1, whole, false}, // the copy is read first
		{"isolate-0x9-8649-v8.log", false, 1, "isolate-0x9-8649-v8.log", false},
		{"isolate-0x1-8649-v8.log", true, 1, "isolate-0x1-8649-v8.log", false}, // the larger one is read first
		{"isolate-0x9-8649-v8.log", true, 1, "isolate-0x9-8649-v8.log", false},
		{"copy.log", false, 1, whole, true},
		{"copy.log", true, 2, "", true},
	} {
		dir := placeLog(t, whole)
		b, err := os.ReadFile(filepath.Join(dir, whole))
		if c.cut {
			b = firstLines(t, filepath.Join(dir, whole))
		}
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, c.name), b, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
		sum := runLog(t, dir, "both", func(o *config.Options) {
			if c.named {
				o.SideFiles = []config.SideFile{{Kind: formats.V8Log, Path: filepath.Join(dir, c.name)}}
			}
		})
		if d := sum.Dumps[0]; !sum.Complete() || len(d.Logs) != c.logs || d.Inlining != 4 || d.Unlogged != 0 {
			t.Errorf("log %v: got %s; want %d logs, 4 functions with inlined calls, nothing missing", c, asJSON(sum), c.logs)
		}
		want := filepath.Join(dir, c.note) + ": another log describes the same functions; this one is left out"
		if notes := strings.Join(sum.Notes, "\n"); c.note == "" && notes != "" || c.note != "" && notes != want {
			t.Errorf("log %v: got notes %q; want one about %q", c, sum.Notes, c.note)
		}
	}
}

// A log that ends with a line lacks code, and the summary says so.
func TestV8Log_Lacking(t *testing.T) {
	const name = "isolate-0x1-8649-v8.log"
	dir := placeLog(t, name)
	log := firstLines(t, filepath.Join(dir, name))
	for _, c := range []struct {
		log      []byte
		unlogged int
		want     string
	}{
		{log, 10, "jit-8649.dump: 10 of its 11 optimized functions are in no log of V8; they have the lines of the dump, without inlined calls"},
		{log[:bytes.Index(log, []byte(",*"))], 11, "jit-8649.dump: 11 of its 11 optimized functions are in no log of V8"},
	} {
		if end := bytes.LastIndexByte(c.log, '\n') + 1; os.WriteFile(filepath.Join(dir, name), c.log[:end], 0o600) != nil {
			t.Fatal("cannot write the log")
		}
		sum := runLog(t, dir, "lacking", nil)
		if !sum.Complete() || sum.Dumps[0].Unlogged != c.unlogged || sum.Dumps[0].WithLines != 11 || len(sum.Notes) != 1 || !strings.Contains(sum.Notes[0], c.want) {
			t.Errorf("got %s; want %d functions without a log, 11 with lines, a note %q", asJSON(sum), c.unlogged, c.want)
		}
	}
}

// V8 replaces %p in --logfile. A log is also found where the dumps are that were moved away.
func TestV8Log_NamesAndPlaces(t *testing.T) {
	for _, name := range []string{"isolate-0x1-8649-v8.log", "isolate-0x1-8649-v8-8649.log", "isolate-0x1-8649-app.log"} {
		dir, elsewhere := placeLog(t, name), t.TempDir()
		if err := os.Rename(filepath.Join(dir, name), filepath.Join(elsewhere, name)); err != nil {
			t.Fatal(err)
		}
		for _, dirs := range [][]string{nil, {elsewhere}} {
			sum := runLog(t, dir, "out", func(o *config.Options) { o.DumpDirs = dirs })
			if d := sum.Dumps[0]; !sum.Complete() || len(d.Logs) != len(dirs) || len(dirs) > 0 && d.Logs[0].Path != filepath.Join(elsewhere, name) {
				t.Errorf("%s, directories %v: got %s; want the log in them, nothing missing", name, dirs, asJSON(sum))
			}
		}
	}
}
