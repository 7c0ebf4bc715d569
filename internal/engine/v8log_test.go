package engine_test

import (
	"bytes"
	"debug/dwarf"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/internal/config"
	"github.com/jitinject/jitinject/internal/engine"
	"github.com/jitinject/jitinject/internal/formats"
	"github.com/jitinject/jitinject/internal/report"
	"github.com/jitinject/jitinject/internal/testrec"
	"github.com/jitinject/jitinject/jitdump"
)

// Logs of V8. The dumps and logs are those of package v8: node's, cut to a sample program.

const sampleStep = "JS:*step /tmp/v8log-share/node20/app.js:2:14"

// placeLog makes a recording of process 8649 with a sample in each function of its dump. The log
// has the name.
func placeLog(t *testing.T, log string) (dir string) { return placeSample(t, "node20", log) }

// placeSample is placeLog for a sample of package v8.
func placeSample(t *testing.T, sample, log string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	copyTo := func(from, name string) []byte {
		b, err := os.ReadFile(filepath.Join("..", from))
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name), b, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	dump := copyTo("runtime/v8/testdata/"+sample+".dump", "jit-8649.dump")
	if log != "" {
		copyTo("format/v8log/testdata/"+sample+".log", log)
	}
	r, err := jitdump.NewReader(bytes.NewReader(dump))
	if err != nil {
		t.Fatal(err)
	}
	rec := testrec.NewRecording()
	rec.Machine = "x86_64"
	first := true
	for raw, err := r.Next(); err == nil; raw, err = r.Next() {
		if raw.ID != jitdump.IDLoad {
			continue
		}
		if first {
			rec.Mmap2(8649, raw.Timestamp-2000, 0x7f3000000000, 0x1000, 0, filepath.Join(dir, "jit-8649.dump"))
			first = false
		}
		rec.Sample(8649, raw.Timestamp+1000, binary.LittleEndian.Uint64(raw.Body[16:])+8)
	}
	rec.Write(t, filepath.Join(dir, "perf.data"))
	return dir
}

// runLog injects the recording of placeLog.
func runLog(t *testing.T, dir, name string, change func(*config.Options)) *report.Summary {
	t.Helper()
	opts := config.Options{
		Input: filepath.Join(dir, "perf.data"), Output: filepath.Join(dir, name+".data"), Objects: filepath.Join(dir, name),
	}
	if change != nil {
		change(&opts)
	}
	sum, err := engine.Run(t.Context(), opts)
	if err != nil {
		t.Fatal(err)
	}
	return sum
}

// inlinedCalls returns the inlined calls of a function in the objects of a directory: names, with
// the file, line and column of the call, and the number of code bytes.
func inlinedCalls(t *testing.T, dir, function string) (calls []string) {
	t.Helper()
	for _, f := range objectFiles(t, dir) {
		d, err := f.DWARF()
		if err != nil {
			continue // an object without lines
		}
		names := make(map[dwarf.Offset]string)
		for r := d.Reader(); ; {
			e, err := r.Next()
			if e == nil || err != nil {
				break
			}
			if name, ok := e.Val(dwarf.AttrName).(string); ok {
				names[e.Offset] = name
			}
		}
		var lines *dwarf.LineReader
		in := false
		for r := d.Reader(); ; {
			e, err := r.Next()
			if e == nil || err != nil {
				break
			}
			switch e.Tag {
			case dwarf.TagCompileUnit:
				if lines, err = d.LineReader(e); err != nil {
					t.Fatal(err)
				}
			case dwarf.TagSubprogram:
				in = names[e.Offset] == function
			case dwarf.TagInlinedSubroutine:
				if !in {
					continue
				}
				ranges, err := d.Ranges(e)
				if err != nil {
					t.Fatal(err)
				}
				size := uint64(0)
				for _, r := range ranges {
					size += r[1] - r[0]
				}
				file := lines.Files()[e.Val(dwarf.AttrCallFile).(int64)].Name
				calls = append(calls, fmt.Sprintf("%s %s:%d:%d %d", names[e.Val(dwarf.AttrAbstractOrigin).(dwarf.Offset)],
					filepath.Base(file), e.Val(dwarf.AttrCallLine), e.Val(dwarf.AttrCallColumn), size))
			}
		}
	}
	return calls
}

// stepCalls are the calls that V8's log has for step: its positions from 125 to 178, from 109 to 125,
// and from 39 to 109 and 357 to 488.
var stepCalls = []string{"clamp app.js:4:10 53", "len app.js:4:18 16", "scale app.js:3:13 201"}

// A log beside the dump needs no option, with any options for objects.
func TestV8Log_EveryForm(t *testing.T) {
	dir := placeLog(t, "isolate-0x27989f80-8649-v8.log")
	for _, c := range []struct {
		name   string
		change func(*config.Options)
	}{
		{"plain", nil},
		{"dwarf4", func(o *config.Options) { o.DWARF = 4 }},
		{"bundle", func(o *config.Options) { o.Bundle = true }},
		{"sampled", func(o *config.Options) { o.Sampled = true }},
	} {
		sum := runLog(t, dir, c.name, c.change)
		if logs := sum.Dumps[0].Logs; len(logs) != 1 || logs[0].Optimized != 11 || logs[0].Paired != 11 || !sum.Complete() || sum.Dumps[0].Inlining != 4 {
			t.Errorf("%s: got %s; want a log with 11 of 11 paired, 4 functions with inlined calls, nothing missing", c.name, asJSON(sum))
		}
		got := inlinedCalls(t, filepath.Join(dir, c.name), sampleStep)
		slices.Sort(got)
		if !slices.Equal(got, stepCalls) {
			t.Errorf("%s: got calls %q; want %q", c.name, got, stepCalls)
		}
	}
}

// A log of another name is named. A link is not followed.
func TestV8Log_Named(t *testing.T) {
	dir := placeLog(t, "v8.log")
	if sum := runLog(t, dir, "without", nil); sum.Dumps[0].Inlining != 0 || sum.Dumps[0].Logs != nil {
		t.Errorf("got %s; want no inlined calls", asJSON(sum))
	}
	name := func(path string, pid uint32) func(*config.Options) {
		return func(o *config.Options) {
			o.SideFiles = []config.SideFile{{Kind: formats.V8Log, Path: filepath.Join(dir, path), PID: pid}}
		}
	}
	for _, pid := range []uint32{0, 8649} {
		if sum := runLog(t, dir, "named", name("v8.log", pid)); sum.Dumps[0].Inlining != 4 || !sum.Complete() {
			t.Errorf("process %d: got %s; want 4 functions with inlined calls, nothing missing", pid, asJSON(sum))
		}
	}
	if err := os.Symlink("v8.log", filepath.Join(dir, "link.log")); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{"link.log": "symbolic link", "none.log": "there is no such file", "perf.data": "not a log of V8"} {
		opts := config.Options{Input: filepath.Join(dir, "perf.data"), Output: filepath.Join(dir, "bad.data")}
		name(path, 0)(&opts)
		if _, err := engine.Run(t.Context(), opts); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v; want %q", path, err, want)
		}
	}
}

// Another run's log costs nothing but a message.
func TestV8Log_OtherRun(t *testing.T) {
	dir := placeLog(t, "")
	plain := runLog(t, dir, "plain", nil)
	b, err := os.ReadFile("../format/v8log/testdata/node25.log")
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "isolate-0x1-8649-v8.log"), b, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	sum := runLog(t, dir, "other", nil)
	if len(sum.Problems) != 1 || !strings.Contains(sum.Problems[0].String(), "it is of another run: of its 17 optimized functions, 0 are in") {
		t.Errorf("got problems %v; want that the log is of another run", sum.Problems)
	}
	if sum.Dumps[0].WithLines != plain.Dumps[0].WithLines || sum.Dumps[0].Inlining != 0 {
		t.Errorf("got %s; want what the dump says", asJSON(sum))
	}
}

// A log of an earlier run beside the one that fits is only noted, in any order of names.
func TestV8Log_OtherRunBesideRight(t *testing.T) {
	for _, other := range []string{"isolate-0x1-8649-v8.log", "isolate-0x9-8649-v8.log"} {
		dir := placeLog(t, "isolate-0x5-8649-v8.log")
		b, err := os.ReadFile("../format/v8log/testdata/node25.log")
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, other), b, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
		sum := runLog(t, dir, "both", nil)
		if !sum.Complete() || len(sum.Dumps[0].Logs) != 1 || sum.Dumps[0].Inlining != 4 {
			t.Errorf("%s: got %s; want one log, 4 functions with inlined calls, nothing missing", other, asJSON(sum))
		}
		if len(sum.Notes) != 1 || !strings.HasPrefix(sum.Notes[0], filepath.Join(dir, other)+": it is of another run: of its 17 optimized functions, 0 are in ") {
			t.Errorf("%s: got notes %q; want that it is of another run", other, sum.Notes)
		}
		named := runLog(t, dir, "named", func(o *config.Options) {
			o.SideFiles = []config.SideFile{{Kind: formats.V8Log, Path: filepath.Join(dir, other)}}
		})
		if len(named.Problems) != 1 || !strings.Contains(named.Problems[0].Text, "it is of another run") {
			t.Errorf("%s, named: got problems %v; want that it is of another run", other, named.Problems)
		}
	}
}

// V8 writes a log without code beside each dump. That is no problem, unless the log is named.
func TestV8Log_WithoutCode(t *testing.T) {
	dir := placeLog(t, "")
	const text = "v8-version,11,3,244,8,-node.38,0\nv8-platform,linux,linux\nheap-capacity,1030880\n"
	path := filepath.Join(dir, "isolate-0x1-8649-v8.log")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if sum := runLog(t, dir, "found", nil); !sum.Complete() || len(sum.Problems) != 0 || sum.Dumps[0].Logs != nil || sum.Dumps[0].Unlogged != 11 {
		t.Errorf("found: got %s; want nothing missing, no log, 11 functions that one would describe", asJSON(sum))
	}
	// One that was asked for with too few options is noted.
	const code = text + "code-creation,JS,11,1,0x500,9,f /a.js:1:1,0x30,~\n"
	if err := os.WriteFile(path, []byte(code), 0o600); err != nil {
		t.Fatal(err)
	}
	found := runLog(t, dir, "found", func(o *config.Options) { o.SourceMaps = true })
	for i, want := range []string{path + ": it has no positions of code, and is left out; V8 writes them with --log-code --log-source-code", "has no effect: source maps are found by V8's log, and none is used"} {
		if !found.Complete() || len(found.Notes) != 2 || !strings.HasSuffix(found.Notes[i], want) {
			t.Errorf("with --log-code only: got %s; want nothing missing, a note %q", asJSON(found), want)
		}
	}
	sum := runLog(t, dir, "named", func(o *config.Options) {
		o.SideFiles = []config.SideFile{{Kind: formats.V8Log, Path: path}}
	})
	const want = "it has no positions of code; its inlined calls are missing; record with --log-code --log-source-code"
	if len(sum.Problems) != 1 || !strings.HasSuffix(sum.Problems[0].String(), want) {
		t.Errorf("named: got problems %v; want %q", sum.Problems, want)
	}
}

// A log that ends too early describes the code before its end.
func TestV8Log_Cut(t *testing.T) {
	dir := placeLog(t, "isolate-0x1-8649-v8.log")
	path := filepath.Join(dir, "isolate-0x1-8649-v8.log")
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	const first = ",F0O117F1O125F2O90F3O207I2" // the calls of the first optimized function
	at := bytes.Index(b, []byte(first))
	at += bytes.IndexByte(b[at:], '\n') + 1
	if err := os.WriteFile(path, b[:at+20], 0o600); err != nil {
		t.Fatal(err)
	}
	sum := runLog(t, dir, "cut", nil)
	want := fmt.Sprintf("it ends inside a line, at offset %#x", at)
	if d := sum.Dumps[0]; d.Inlining != 1 || d.WithLines != 11 || len(d.Logs) != 1 || d.Logs[0].Paired != 1 || len(sum.Notes) != 2 || !strings.Contains(sum.Notes[0], want) {
		t.Errorf("got %s; want 1 function of the log, 11 with lines, a note %q", asJSON(sum), want)
	}
}

// Reading logs is a phase of its own. It ends with the last byte of the log.
func TestV8Log_Progress(t *testing.T) {
	const name = "isolate-0x1-8649-v8.log"
	dir := placeLog(t, name)
	st, err := os.Stat(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	var p report.Progress
	var got report.ProgressState
	runLog(t, dir, "out", func(o *config.Options) {
		o.Progress = &p
		o.Log = func(_ int, line string) {
			if line == "described: 1 logs" {
				got = p.State()
			}
		}
	})
	if want := (report.ProgressState{Phase: report.PhaseLogs, Done: st.Size(), Total: st.Size()}); got != want {
		t.Errorf("got %+v; want %+v", got, want)
	}
}

// Functions of a log that changes after it was read first lose their descriptions, with a message each.
// The functions have the lines of the dump.
func TestV8Log_ChangesDuringRun(t *testing.T) {
	const name = "isolate-0x1-8649-v8.log"
	other, err := os.ReadFile("../format/v8log/testdata/node25.log")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, want string
		change     func(f *os.File, size int64) error
	}{
		{"emptied", "has shrunk since it was read first", func(f *os.File, _ int64) error { return f.Truncate(0) }},
		{"cut", "has shrunk since it was read first", func(f *os.File, size int64) error { return f.Truncate(size / 2) }},
		{"of another run", "has changed since it was read first", func(f *os.File, _ int64) error { _, err := f.WriteAt(other, 0); return err }},
		{"zeroed", "has changed since it was read first", func(f *os.File, size int64) error { _, err := f.WriteAt(make([]byte, size), 0); return err }},
		{"longer", "", func(f *os.File, size int64) error { _, err := f.WriteAt([]byte("code-cre"), size); return err }},
		{"removed", "", func(f *os.File, _ int64) error { return os.Remove(f.Name()) }},
	} {
		dir := placeLog(t, name)
		plain := runLog(t, dir, "before", nil)
		var failed error
		sum := runLog(t, dir, "out", func(o *config.Options) {
			o.Log = func(_ int, line string) {
				if line != "described: 1 logs" {
					return
				}
				f, err := os.OpenFile(filepath.Join(dir, name), os.O_RDWR, 0)
				if err != nil {
					failed = err
					return
				}
				st, err := f.Stat()
				failed = errors.Join(err, c.change(f, st.Size()), f.Close())
			}
		})
		if failed != nil {
			t.Fatal(failed)
		}
		got, want := sum.Dumps[0], plain.Dumps[0]
		if got.WithLines != want.WithLines || sum.Complete() != (c.want == "") {
			t.Errorf("%s: got %s; want %d functions with lines", c.name, asJSON(sum), want.WithLines)
		}
		if c.want == "" {
			if got.Inlining != 4 {
				t.Errorf("%s: got %d functions with inlined calls; want 4", c.name, got.Inlining)
			}
			continue
		}
		if got.Inlining == 4 || len(sum.Problems) == 0 {
			t.Errorf("%s: got %d functions with inlined calls, problems %v; want less than 4, and problems", c.name, got.Inlining, sum.Problems)
		}
		for _, p := range sum.Problems {
			if text := p.String(); !strings.Contains(text, name) || !strings.Contains(text, c.want) || !strings.Contains(text, "the lines of the dump are used") {
				t.Errorf("%s: got problem %s; want the log's name, and %q", c.name, text, c.want)
			}
		}
	}
}
