package engine_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jitinject/jitinject/internal/config"
	"github.com/jitinject/jitinject/internal/engine"
	"github.com/jitinject/jitinject/internal/report"
	"github.com/jitinject/jitinject/internal/testrec"
	"github.com/jitinject/jitinject/perfdata"
)

// Recordings that come through a pipe, and can be read only once.

// feed gives b to a pipe, n bytes at a time.
func feed(t *testing.T, b []byte, n int) *os.File {
	r, w := pipe(t)
	go func() {
		defer w.Close()
		for len(b) > 0 {
			k := min(n, len(b))
			if _, err := w.Write(b[:k]); err != nil {
				return
			}
			b = b[k:]
		}
	}()
	return r
}

// A stream that is over when it comes gives the same as a file, and its rounds
// stay. It may come in pieces of any size, and go to a pipe or to a file.
func TestStream_OverWhenRead(t *testing.T) {
	dir := testrec.Unpack(t, "node-pipe")
	t.Chdir(dir) // where the dump of a stream is looked for
	stream := read(t, "perf.pipe.data")
	all := countSamples(t, dir, "perf.pipe.data")
	var first []byte
	for _, size := range []int{1 << 20, 4096, 777} {
		r, w := pipe(t)
		go func() {
			defer w.Close()
			sum, err := engine.Run(t.Context(), config.Options{Input: "-", Stdin: feed(t, stream, size), Output: "-", Stdout: w})
			if err != nil || !sum.Complete() || sum.Mappings < 2000 || sum.Markers != 1 {
				t.Errorf("got %s, %v; want no error, nothing missing, Mappings >= 2000, Markers = 1", asJSON(sum), err)
			}
		}()
		piped, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		if first == nil {
			first = piped
		} else if !bytes.Equal(piped, first) {
			t.Errorf("pieces of %d bytes make a difference", size)
		}
	}
	if a, b := bytes.Count(stream, []byte{68, 0, 0, 0, 0, 0, 8, 0}), bytes.Count(first, []byte{68, 0, 0, 0, 0, 0, 8, 0}); a == 0 || a != b {
		t.Errorf("%d rounds, %d in the result", a, b)
	}
	out := filepath.Join(dir, "out.data")
	sum, err := engine.Run(t.Context(), config.Options{Input: "-", Stdin: feed(t, stream, 5000), Output: out})
	if err != nil {
		t.Fatal(err)
	}
	if shown := shownByPerf(t, dir, testrec.Tool(t, "perf"), out)[sum.Dumps[0].PID]; sum.Samples.JitSamples != shown || shown.Resolved == 0 || sum.BytesRead < int64(len(stream)) {
		t.Errorf("the summary says %+v, of %d bytes; perf shows %+v", sum.Samples, sum.BytesRead, shown)
	}
	for version, perf := range testrec.Perfs(t) {
		for _, s := range []shares{count(t, dir, perf, "-", bytes.NewReader(first)), count(t, dir, perf, out, nil)} {
			if s.all != all || s.jitted < 60 || s.unknown > 0 {
				t.Errorf("perf %s: %+v of %d", version, s, all)
			}
		}
	}
	// The header comes from records, and must say the same.
	perf := testrec.Tool(t, "perf")
	header := func(input string) string {
		var kept []string
		for line := range strings.Lines(testrec.Run(t, dir, perf, "report", "--header-only", "-i", input)) {
			if strings.HasPrefix(line, "# ") && !strings.Contains(line, "captured on") && !strings.Contains(line, "offset") && !strings.Contains(line, "data size") && !strings.Contains(line, "missing features") && !strings.Contains(line, "header version") && !strings.Contains(line, "=====") {
				kept = append(kept, line)
			}
		}
		return strings.Join(kept, "")
	}
	if was, is := header("perf.pipe.data"), header(out); was != is || len(is) < 500 {
		t.Errorf("header\n%s\nof the stream, of the file\n%s", was, is)
	}
}

// A process may write its dump after the marker has come, and remove it before the pipe ends.
func TestStream_DumpRemovedBeforeTheEnd(t *testing.T) {
	w := newWorld(t)
	w.mark(100, 1000, "jit-100.dump")
	w.expect(100, 3000, 0x10008, "early+0x8")
	rest := w.expectations(t, func() { w.expect(100, 6000, 0x30008, "late+0x8") })
	w.Write(t, w.opts.Input)
	stream := w.stream()
	dump := dumpBytes(t, x86(100), load(2000, 100, 1, 0x10000, "early", code(64, 1)), load(5000, 100, 3, 0x30000, "late", code(64, 3)))
	put(t, w.path("jit-100.dump"), nil) // mapped, and nothing written yet
	r, pw := pipe(t)
	var p report.Progress
	go func() {
		defer pw.Close()
		pw.Write(stream[:len(stream)-rest])
		for p.State().Done < int64(len(stream)-rest) {
			time.Sleep(time.Millisecond)
		}
		pw.Write(stream[len(stream)-rest : len(stream)-rest+1]) // the copy takes it after what came before
		for p.State().Done < int64(len(stream)-rest+1) {
			time.Sleep(time.Millisecond)
		}
		appendTo(t, w.path("jit-100.dump"), dump)
		os.Remove(w.path("jit-100.dump"))
		pw.Write(stream[len(stream)-rest+1:])
	}()
	sum, err := engine.Run(t.Context(), config.Options{Input: "-", Stdin: r, Output: w.opts.Output, Progress: &p})
	if err != nil || !sum.Complete() || sum.Mappings != 2 || sum.Samples.Resolved != 2 || sum.Dumps[0].Path != w.path("jit-100.dump") {
		t.Fatalf("got %s, %v; want no error, nothing missing, Mappings = 2, Samples.Resolved = 2, the path of the dump", asJSON(sum), err)
	}
	w.resolve(w.opts.Output)
}

// A recording in a file may come through a pipe as well, compressed or not, and so may a compressed
// pipe. All give what the file gives.
func TestStream_OtherForms(t *testing.T) {
	for _, name := range []string{"node-fp", "node-zstd"} {
		dir := testrec.Unpack(t, name)
		t.Chdir(dir)
		opts := config.Options{Input: "perf.data", Output: "file.data"}
		if _, err := engine.Run(t.Context(), opts); err != nil {
			t.Fatal(err)
		}
		opts.Input, opts.Stdin, opts.Output = "-", feed(t, read(t, "perf.data"), 5000), "piped.data"
		if _, err := engine.Run(t.Context(), opts); err != nil || !bytes.Equal(read(t, "piped.data"), read(t, "file.data")) {
			t.Errorf("%s: got %v, or another result than of the file", name, err)
		}
	}
	t.Chdir(testrec.Unpack(t, "node-pipe"))
	stream := read(t, "perf.pipe.data")
	feature := perfdata.PackerFeature(binary.LittleEndian, 3)
	first, err := perfdata.AppendHeaderFeature(nil, binary.LittleEndian, &feature)
	if err != nil {
		t.Fatal(err)
	}
	packed := bytes.NewBuffer(bytes.Clone(stream[:16]))
	packer, err := perfdata.NewPacker(packed, binary.LittleEndian, 3, first)
	if err != nil {
		t.Fatal(err)
	}
	packer.Write(stream[16:])
	if err := packer.Flush(); err != nil {
		t.Fatal(err)
	}
	sum, err := engine.Run(t.Context(), config.Options{Input: "-", Stdin: feed(t, packed.Bytes(), 777), Output: "out.data"})
	if err != nil || !sum.Complete() || sum.Mappings < 2000 || packed.Len() > len(stream)/2 {
		t.Errorf("%d bytes: got %s, %v; want less than half of the pipe, no error, Mappings >= 2000", packed.Len(), asJSON(sum), err)
	}
}

// A copy that cannot be made ends the run before the recording has come, and so does a wrong name.
func TestStream_NoCopy(t *testing.T) {
	dir := testrec.Unpack(t, "node-pipe")
	stream := read(t, filepath.Join(dir, "perf.pipe.data"))
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	t.Setenv("TMPDIR", filepath.Join(dir, "gone"))
	for want, opts := range map[string]config.Options{
		"cannot copy it to " + filepath.Join(dir, "gone") + ": no such file or directory; name another directory with the variable TMPDIR": {Output: "-", Stdout: null, DumpDirs: []string{dir}},
		"there is no such directory": {Output: filepath.Join(dir, "out.data"), DumpDirs: []string{filepath.Join(dir, "gone")}},
		"is a directory":             {Output: dir},
	} {
		opts.Input, opts.Stdin = "-", feed(t, stream[:16], 16) // the rest has not come
		if _, err := engine.Run(t.Context(), opts); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v; want an error with %q", err, want)
		}
	}
}

// A recording from a pipe is not lost with its dump: the result is a copy, and a problem says so.
func TestStream_DumpGone(t *testing.T) {
	dir := testrec.Unpack(t, "node-pipe")
	t.Chdir(dir)
	if err := os.Remove("jit-9960.dump"); err != nil {
		t.Fatal(err)
	}
	out, err := os.Create("out.pipe")
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	stream := read(t, "perf.pipe.data")
	sum, err := engine.Run(t.Context(), config.Options{Input: "-", Stdin: feed(t, stream, 5000), Output: "-", Stdout: out})
	endOfHeader := []byte("\x50\x00\x00\x00\x00\x00\x10\x00\x20\x00\x00\x00\x00\x00\x00\x00") // HEADER_FEATURE 32, of no content
	if err != nil || len(sum.Problems) != 1 || !strings.Contains(sum.Problems[0].Text, "jit-9960.dump is gone") || !bytes.Equal(read(t, "out.pipe"), bytes.Replace(stream, endOfHeader, nil, 1)) {
		t.Errorf("got %s, %v; want one problem, and the same recording", asJSON(sum), err)
	}
}

// A pipe that is cut gives what it has, and a problem.
func TestStream_Cut(t *testing.T) {
	dir := testrec.Unpack(t, "node-pipe")
	t.Chdir(dir)
	stream := read(t, "perf.pipe.data")
	sum, err := engine.Run(t.Context(), config.Options{Input: "-", Stdin: feed(t, stream[:len(stream)-5], 5000), Output: "out.data"})
	if err != nil || len(sum.Problems) != 1 || !strings.Contains(sum.Problems[0].Text, "it ends inside a record") || sum.Mappings < 2000 {
		t.Errorf("got %s, %v; want no error, one problem of its end, Mappings >= 2000", asJSON(sum), err)
	}
}

// expectations returns how many bytes of records add makes.
func (w *world) expectations(t *testing.T, add func()) int {
	before := len(w.Bytes())
	add()
	return len(w.Bytes()) - before
}

func openFile(t *testing.T, path string) *perfdata.File {
	t.Helper()
	b := read(t, path)
	f, err := perfdata.Open(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func appendTo(t *testing.T, path string, b []byte) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Write(b); err != nil {
		t.Fatal(err)
	}
	f.Close()
}

// A pipe that ends before it begins leaves what was there alone.
func TestStream_Empty(t *testing.T) {
	dir := testrec.Unpack(t, "node-pipe")
	stream := read(t, filepath.Join(dir, "perf.pipe.data"))
	out := filepath.Join(dir, "out.data")
	put(t, out, []byte("there before"))
	for _, n := range []int{0, 8, 16, 26, 39} {
		if _, err := engine.Run(t.Context(), config.Options{Input: "-", Stdin: feed(t, stream[:n], 100), Output: out}); err == nil {
			t.Errorf("%d bytes are a recording", n)
		}
		put(t, filepath.Join(dir, "short.data"), stream[:n])
		if _, err := engine.Run(t.Context(), config.Options{Input: filepath.Join(dir, "short.data"), Output: out}); err == nil {
			t.Errorf("%d bytes in a file are a recording", n)
		}
	}
	if string(read(t, out)) != "there before" {
		t.Error("the old output is gone")
	}
}

// An event whose ids do not fit into a pipe is not cut silently.
func TestStream_MoreIDsThanFit(t *testing.T) {
	w := ready(t)
	f := openFile(t, w.opts.Input)
	f.Attrs[0].IDs = make([]uint64, 9000)
	if _, err := perfdata.AppendPreamble(nil, f); err == nil || !strings.Contains(err.Error(), "9000 ids") {
		t.Error(err)
	}
}

// refuses injects a recording from a pipe, and expects an error with some words, and no result.
func (w *world) refuses(words ...string) {
	w.t.Helper()
	_, err := engine.Run(w.t.Context(), w.opts)
	for _, word := range words {
		if err == nil || !strings.Contains(err.Error(), word) {
			w.t.Errorf("got %v; want an error with %q", err, word)
		}
	}
	if _, err := os.Stat(w.opts.Output); !errors.Is(err, fs.ErrNotExist) {
		w.t.Errorf("got %v; want that there is no result", err)
	}
}

// A refusal keeps the recording, because it cannot be read from the pipe again.
func TestStream_StrictKeepsRecording(t *testing.T) {
	w := ready(t)
	w.Marker(200, 1000, w.path("jit-200.dump")) // there is no such dump
	w.Write(t, w.opts.Input)
	stream, err := perfdata.AppendPreamble([]byte("PERFILE2\x10\x00\x00\x00\x00\x00\x00\x00"), openFile(t, w.opts.Input))
	if err != nil {
		t.Fatal(err)
	}
	eachRaw(t, w.opts.Input, func(rec []byte) { stream = append(stream, rec...) })
	w.opts.Input, w.opts.Strict = "-", true
	for _, name := range []string{w.opts.Output + ".recording", w.opts.Output + ".recording.2"} {
		w.opts.Stdin = feed(t, stream, 1000)
		w.refuses("jit-200.dump", "is gone", "the recording is kept; to inject it: `again with Options.Input = "+strconv.Quote(name)+"`")
		if kept, err := os.ReadFile(name); err != nil || !bytes.Equal(kept, stream) {
			t.Errorf("got %d bytes, %v; want the %d of the pipe", len(kept), err, len(stream))
		}
	}
	t.Setenv("TMPDIR", t.TempDir())
	r, into, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	named := w.opts.Output
	w.opts.Output, w.opts.Stdin, w.opts.Stdout = "-", feed(t, stream, 1000), into
	_, err = engine.Run(t.Context(), w.opts)
	into.Close()
	if written, _ := io.ReadAll(r); len(written) > 0 || err == nil || !strings.Contains(err.Error(), "jitinject.recording") {
		t.Errorf("got %d bytes in the pipe, %v; want none, and the name of what is kept", len(written), err)
	}
	w.opts.Output, w.opts.Stdout = named, nil
	w.opts.Input, w.opts.Stdin, w.opts.Strict = w.opts.Output+".recording", nil, false
	if sum, err := w.run(); err != nil || sum.Mappings == 0 || len(sum.Problems) != 1 {
		t.Errorf("got %s, %v; want mappings and one problem", asJSON(sum), err)
	}
}

// --clock strict refuses in a stream, too.
func TestStream_ClockStrict(t *testing.T) {
	w := ready(t)
	w.ClockID = -1
	w.Write(t, w.opts.Input)
	stream, err := perfdata.AppendPreamble([]byte("PERFILE2\x10\x00\x00\x00\x00\x00\x00\x00"), openFile(t, w.opts.Input))
	if err != nil {
		t.Fatal(err)
	}
	eachRaw(t, w.opts.Input, func(rec []byte) { stream = append(stream, rec...) })
	w.opts.Input, w.opts.Stdin, w.opts.Clock = "-", feed(t, stream, 1000), "strict"
	w.refuses("standard input: it was recorded without -k mono", "the recording is kept")
}

// What a file has in its header and a pipe in records survives the way there and
// back: tracepoints, build ids, and features of all kinds.
func TestStream_HeaderThereAndBack(t *testing.T) {
	dir := testrec.Place(t, "node-fp")
	f := openFile(t, filepath.Join(dir, "perf.data"))
	tracing := bytes.Repeat([]byte("tracing "), 40000) // larger than any record
	f.Features = append([]perfdata.Feature{perfdata.NewFeature(perfdata.FeatureTracingData, tracing)}, f.Features...)
	var stream []byte
	stream, err := perfdata.AppendPreamble([]byte("PERFILE2\x10\x00\x00\x00\x00\x00\x00\x00"), f)
	if err != nil {
		t.Fatal(err)
	}
	eachRaw(t, filepath.Join(dir, "perf.data"), func(rec []byte) { stream = append(stream, rec...) })
	out := filepath.Join(dir, "out.data")
	sum, err := engine.Run(t.Context(), config.Options{Input: "-", Stdin: feed(t, stream, 3000), Output: out})
	if err != nil || !sum.Complete() || sum.Mappings < 2000 {
		t.Fatalf("got %s, %v; want no error, nothing missing, Mappings >= 2000", asJSON(sum), err)
	}
	got := openFile(t, out)
	for i := range f.Features {
		id := f.Features[i].ID
		want, _ := f.Features[i].Bytes()
		feature := got.Feature(id)
		if feature == nil {
			t.Errorf("feature %d is lost", id)
			continue
		}
		is, err := feature.Bytes()
		if err != nil {
			t.Fatal(err)
		}
		if id == perfdata.FeatureBuildID {
			list := func(table []byte) (ids []string) {
				for e, err := range perfdata.BuildIDs(f.Header.Order, table) {
					if err != nil {
						t.Fatal(err)
					}
					ids = append(ids, fmt.Sprintf("%x %s", e.BuildID, e.Filename))
				}
				return ids
			}
			was, ids := list(want), list(is)
			if len(was) == 0 || len(ids) != len(was)+sum.Objects || !slices.Equal(ids[:len(was)], was) {
				t.Errorf("%d build ids, there were %d, and %d objects", len(ids), len(was), sum.Objects)
			}
		} else if !bytes.Equal(is, want) {
			t.Errorf("feature %d has %d bytes, had %d, or others", id, len(is), len(want))
		}
	}
}
