package engine_test

import (
	"bytes"
	"encoding/binary"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/internal/config"
	"github.com/jitinject/jitinject/internal/engine"
	"github.com/jitinject/jitinject/internal/testrec"
	"github.com/jitinject/jitinject/perfdata"
)

// Recordings in all forms, read and written.

// forms are real recordings of one program, in the forms that perf record has.
var forms = []struct{ name, input string }{
	{"node-zstd", "perf.data"},
	{"node-threads", "perf.data.dir"},
	{"node-pipe", "perf.pipe.data"},
}

// shares says how many of the samples in user space are in jitted code, by name,
// and how many are nowhere that perf knows. How many samples there are is counted
// as well: a reader that loses records must not look good.
type shares struct{ jitted, unknown, all int }

func count(t *testing.T, dir, perf, input string, stdin io.Reader) (s shares) {
	t.Helper()
	cmd := testrec.Command(t, dir, perf, "script", "--no-inline", "-G", "-F", "pid,ip,sym,dso", "-i", input)
	cmd.Stdin = stdin
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s script -i %s: %v\n%s", perf, input, err, errs.String())
	}
	for _, bad := range []string{"out of order", "out-of-order", "unhandled"} {
		if strings.Contains(errs.String(), bad) {
			t.Errorf("%s complains: %s", perf, errs.String())
		}
	}
	for line := range strings.Lines(string(out)) {
		s.all++
		switch {
		case strings.Contains(line, "/jitted-"):
			s.jitted++
		case strings.Contains(line, "[JIT] tid"), strings.Contains(line, "//anon"):
			s.unknown++
		}
	}
	return s
}

// countSamples returns how many samples perf finds in a recording.
func countSamples(t *testing.T, dir, input string) int {
	t.Helper()
	return strings.Count(testrec.Run(t, dir, testrec.Tool(t, "perf"), "script", "-G", "-F", "ip", "-i", input), "\n")
}

func TestForm_EveryRecording(t *testing.T) {
	for _, form := range forms {
		t.Run(form.name, func(t *testing.T) {
			dir := testrec.Unpack(t, form.name)
			all := countSamples(t, dir, form.input)
			check := func(what string, s shares) {
				t.Helper()
				// Of node-fp, all samples in jitted code have a name.
				if s.all != all || s.jitted < 60 || s.unknown > s.jitted/50 {
					t.Errorf("%s: %+v, the recording has %d samples", what, s, all)
				}
			}
			out := filepath.Join(dir, "out.data")
			sum, err := engine.Run(t.Context(), config.Options{Input: filepath.Join(dir, form.input), Output: out})
			if err != nil || !sum.Complete() || sum.Mappings < 2000 {
				t.Fatalf("got %s, %v; want no error, nothing missing, Mappings >= 2000", asJSON(sum), err)
			}
			stream, w := pipe(t)
			go func() {
				defer w.Close()
				_, err := engine.Run(t.Context(), config.Options{Input: filepath.Join(dir, form.input), Output: "-", Stdout: w})
				if err != nil {
					t.Error(err)
				}
			}()
			piped, err := io.ReadAll(stream)
			if err != nil {
				t.Fatal(err)
			}
			for version, perf := range testrec.Perfs(t) {
				check("perf "+version, count(t, dir, perf, out, nil))
				check("perf "+version+", from a pipe", count(t, dir, perf, "-", bytes.NewReader(piped)))
			}
			again := filepath.Join(dir, "again.data")
			if sum, err = engine.Run(t.Context(), config.Options{Input: out, Output: again}); err != nil || sum.Mappings != 0 || sum.AlreadyInjected < 2000 {
				t.Errorf("again: %+v, %v", sum, err)
			}
			if form.name != "node-pipe" && !bytes.Equal(read(t, out), read(t, again)) {
				t.Error("injecting the result again changes it")
			}
		})
	}
}

// Compressed results, as a file and as a pipe, are what they would be otherwise.
func TestForm_CompressedOutput(t *testing.T) {
	dir := testrec.Place(t, "node-fp")
	in, plain := filepath.Join(dir, "perf.data"), filepath.Join(dir, "plain.data")
	if _, err := engine.Run(t.Context(), config.Options{Input: in, Output: plain}); err != nil {
		t.Fatal(err)
	}
	all := func(path string) (recs []string) {
		eachRecord(t, path, func(_ *perfdata.Layouts, rec perfdata.Record) {
			if rec.Type < perfdata.RecordCompressed { // rounds and such stand between
				recs = append(recs, string(rec.Data))
			}
		})
		return recs
	}
	for _, level := range []int{1, 19} {
		packed := filepath.Join(dir, "packed.data")
		if _, err := engine.Run(t.Context(), config.Options{Input: in, Output: packed, Compress: level}); err != nil {
			t.Fatal(err)
		}
		if len(read(t, packed)) > len(read(t, plain))/2 {
			t.Errorf("level %d: %d bytes of %d", level, len(read(t, packed)), len(read(t, plain)))
		}
		if a, b := all(plain), all(packed); !slices.Equal(a, b) {
			t.Errorf("level %d: %d records, %d uncompressed, or others", level, len(b), len(a))
		}
		stream, w := pipe(t)
		go func() {
			defer w.Close()
			if _, err := engine.Run(t.Context(), config.Options{Input: in, Output: "-", Stdout: w, Compress: level}); err != nil {
				t.Error(err)
			}
		}()
		piped, err := io.ReadAll(stream)
		if err != nil {
			t.Fatal(err)
		}
		if level > 1 {
			continue
		}
		for version, perf := range testrec.Perfs(t) {
			want := count(t, dir, perf, plain, nil)
			if got := count(t, dir, perf, packed, nil); got != want {
				t.Errorf("perf %s: %+v, %+v uncompressed", version, got, want)
			}
			if got := count(t, dir, perf, "-", bytes.NewReader(piped)); got.all != want.all || got.jitted != want.jitted {
				t.Errorf("perf %s, from a pipe: %+v, %+v uncompressed", version, got, want)
			}
		}
	}
}

// A directory stays one if that is asked for.
func TestForm_DirectoryOutput(t *testing.T) {
	dir := testrec.Unpack(t, "node-threads")
	in, out := filepath.Join(dir, "perf.data.dir"), filepath.Join(dir, "out.dir")
	for range 2 { // the second time, what was there is kept
		if sum, err := engine.Run(t.Context(), config.Options{Input: in, Output: out + "/"}); err != nil || !sum.Complete() {
			t.Fatalf("got %s, %v; want no error, nothing missing", asJSON(sum), err)
		}
	}
	names := func(dir string) string {
		list, err := filepath.Glob(filepath.Join(dir, "*"))
		if err != nil {
			t.Fatal(err)
		}
		for i := range list {
			list[i] = filepath.Base(list[i])
		}
		return strings.Join(list, " ")
	}
	if names(in) != "data data.0 data.1" || names(out) != names(in) || names(out+".old") != names(in) {
		t.Errorf("%s has %s, %s.old has %s", out, names(out), out, names(out+".old"))
	}
	all := countSamples(t, dir, "perf.data.dir")
	for version, perf := range testrec.Perfs(t) {
		if s := count(t, dir, perf, out, nil); s.all != all || s.jitted < 60 || s.unknown > 0 {
			t.Errorf("perf %s: %+v, the recording has %d samples", version, s, all)
		}
	}
	again := filepath.Join(dir, "again.dir")
	if _, err := engine.Run(t.Context(), config.Options{Input: out, Output: again + "/"}); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"data", "data.0", "data.1"} {
		if !bytes.Equal(read(t, filepath.Join(out, name)), read(t, filepath.Join(again, name))) {
			t.Errorf("injecting the result again changes %s", name)
		}
	}
	// What is replaced, or removed for it, must be a recording and nothing else.
	for _, name := range []string{"mine", "recording"} {
		other := filepath.Join(dir, name+".dir")
		if err := os.MkdirAll(other+".old", 0o755); err != nil {
			t.Fatal(err)
		}
		put(t, filepath.Join(other+".old", "precious"), []byte("x"))
		if name == "recording" {
			if err := os.CopyFS(other+".old", os.DirFS(out)); err != nil {
				t.Fatal(err)
			}
		}
		before := files(t, dir)
		if _, err := engine.Run(t.Context(), config.Options{Input: in, Output: other + "/"}); err == nil || !strings.Contains(err.Error(), "would be replaced, but it") {
			t.Errorf(`%s: got %v; want an error with "would be replaced, but it"`, name, err)
		}
		if after := files(t, dir); after != before {
			t.Errorf("%s: files before:\n%safter:\n%s", name, before, after)
		}
	}
	for _, c := range []struct{ in, out, want string }{
		{in, in + "/", "is the input"},
		{filepath.Join(in, "data"), out + "/", "directory format"},
		{filepath.Join(in, "data.0"), out, "not a perf.data file"},
	} {
		if _, err := engine.Run(t.Context(), config.Options{Input: c.in, Output: c.out}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("-i %s -o %s: got %v; want an error with %q", c.in, c.out, err, c.want)
		}
	}
}

func pipe(t *testing.T) (r, w *os.File) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close(); w.Close() })
	return r, w
}

// Real programs in the forms of perf record: each resolves as much as the same
// program recorded into a file.
func TestForm_FreshRecordings(t *testing.T) {
	testrec.Fresh(t)
	perf, node := testrec.Tool(t, "perf"), testrec.Tool(t, "node", "nodejs")
	dir := t.TempDir()
	prog := read(t, filepath.Join(testrec.Unpack(t, "node-fp"), "prog.js"))
	program(t, dir, "prog.js", string(prog))
	common := []string{"record", "-q", "-e", "cpu-clock", "-F", "999", "-k", "mono", "-g"}
	for name, args := range map[string][]string{
		"plain": {"-o", "perf.data"}, "compressed": {"-z", "-o", "perf.data"}, "threads": {"--threads", "-a", "-o", "perf.data"},
	} {
		os.RemoveAll(filepath.Join(dir, "perf.data"))
		testrec.Run(t, dir, perf, append(append(append([]string{}, common...), args...), "--", node, "--perf-prof", "prog.js")...)
		out := filepath.Join(dir, "out.data")
		sum, err := engine.Run(t.Context(), config.Options{Input: filepath.Join(dir, "perf.data"), Output: out})
		if err != nil || !sum.Complete() {
			t.Fatalf("%s: got %s, %v; want no error, nothing missing", name, asJSON(sum), err)
		}
		s := count(t, dir, perf, out, nil)
		if s.jitted < 50 || s.unknown > s.jitted/50 {
			t.Errorf("%s: got %+v; want jitted >= 50, unknown <= jitted/50", name, s)
		}
		removeAll(t, dir, "*.so", "jit-*.dump")
	}

	// Two runtimes at once, in a recording of all that runs.
	php := testrec.Tool(t, "php")
	program(t, dir, "prog.php", string(read(t, filepath.Join(testrec.Unpack(t, "php"), "prog.php"))))
	os.RemoveAll(filepath.Join(dir, "perf.data"))
	both := node + " --perf-prof prog.js & " + php + " -d opcache.enable_cli=1 -d opcache.file_update_protection=0 -d opcache.jit_buffer_size=64M -d opcache.jit=tracing -d opcache.jit_debug=0x20 prog.php; wait"
	testrec.Run(t, dir, perf, append(append([]string{}, common...), "-a", "-o", "perf.data", "--", "sh", "-c", both)...)
	out := filepath.Join(dir, "both.data")
	if _, err := engine.Run(t.Context(), config.Options{Input: filepath.Join(dir, "perf.data"), Output: out, Objects: filepath.Join(dir, "objects")}); err != nil {
		t.Fatal(err) // other programs of the machine may have dumps that are gone
	}
	names := testrec.Run(t, dir, perf, "script", "--no-inline", "-G", "-F", "ip,sym", "-i", out)
	if js, traces := strings.Count(names, " JS:"), strings.Count(names, " TRACE-"); js < 50 || traces < 50 {
		t.Errorf("%d samples in functions of node, %d in PHP's", js, traces)
	}
	checkNames(t, dir, out, "") // removes what PHP leaves in /tmp
	removeAll(t, dir, "*.so", "jit-*.dump")

	// perf record -o - | jitinject | perf script -i -, with everything at work at once.
	recorder := exec.CommandContext(t.Context(), perf, append(append(append([]string{}, common...), "-o", "-", "--"), node, "--perf-prof", "prog.js")...)
	recorder.Dir = dir
	inR, inW := pipe(t)
	outR, outW := pipe(t)
	recorder.Stdout = inW
	if err := recorder.Start(); err != nil {
		t.Fatal(err)
	}
	inW.Close()
	go func() {
		defer outW.Close()
		if sum, err := engine.Run(t.Context(), config.Options{Input: "-", Stdin: inR, Output: "-", Stdout: outW}); err != nil || !sum.Complete() {
			t.Errorf("got %s, %v; want no error, nothing missing", asJSON(sum), err)
		}
	}()
	if s := count(t, dir, perf, "-", outR); s.jitted < 50 || s.unknown > s.jitted/50 {
		t.Errorf("live: %+v", s)
	}
	if err := recorder.Wait(); err != nil {
		t.Error(err)
	}
}

func removeAll(t *testing.T, dir string, patterns ...string) {
	t.Helper()
	for _, p := range patterns {
		names, _ := filepath.Glob(filepath.Join(dir, p))
		for _, n := range names {
			os.Remove(n)
		}
	}
}

// What is missing of a directory costs what is missing.
func TestForm_DamagedDirectory(t *testing.T) {
	for name, c := range map[string]struct {
		damage func(in string) error
		want   string
	}{
		"a file is gone": {func(in string) error { return os.Rename(filepath.Join(in, "data.0"), filepath.Join(in, "data.2")) }, "data.0 is missing in it"},
		"a file is cut":  {func(in string) error { return os.Truncate(filepath.Join(in, "data.1"), 57203) }, "it ends inside a record"},
		"other things":   {func(in string) error { return os.Mkdir(filepath.Join(in, "data.7"), 0o755) }, ""},
	} {
		dir := testrec.Unpack(t, "node-threads")
		in := filepath.Join(dir, "perf.data.dir")
		if err := c.damage(in); err != nil {
			t.Fatal(err)
		}
		sum, err := engine.Run(t.Context(), config.Options{Input: in, Output: filepath.Join(dir, "out.data")})
		if err != nil || sum.Mappings < 2000 || sum.Complete() != (c.want == "") || c.want != "" && !strings.Contains(sum.Problems[0].Text, c.want) {
			t.Errorf(`%s: got %s, %v; want no error, Mappings >= 2000, Complete() = %v, c.want = "" or Problems[0].Text with %q`, name, asJSON(sum), err, c.want == "", c.want)
		}
	}
}

// The index of AUXTRACE records says where they are, whatever has been put in front
// of them, and compressed.
func TestAuxtraceIndex_AfterInjection(t *testing.T) {
	w := newWorld(t)
	w.mark(100, 1000, "jit-100.dump")
	w.dump("jit-100.dump", x86(100), load(2000, 100, 1, 0x10000, "alpha", code(64, 1)))
	w.expect(100, 3000, 0x10008, "alpha+0x8")
	payload := []byte("this is no record")
	for range 2 {
		body := make([]byte, 40)
		body[0] = byte(len(payload))
		w.Raw(71, 0, body)
		w.Payload(payload)
		w.Sample(100, 3100, 0x10008)
	}
	// A third feature, behind the two that there are.
	b, le := w.Bytes(), binary.LittleEndian
	dataAt, dataSize := le.Uint64(b[40:]), le.Uint64(b[48:])
	table := dataAt + dataSize
	b[74] |= 1 << 2 // feature 18
	index := le.AppendUint64(nil, 2)
	for at := dataAt; at < table; {
		size := uint64(le.Uint16(b[at+6:]))
		if le.Uint32(b[at:]) == 71 {
			size += uint64(len(payload))
			index = le.AppendUint64(le.AppendUint64(index, at), size)
		}
		at += size
	}
	content := bytes.Clone(b[table+32:])
	for i := range uint64(2) {
		le.PutUint64(b[table+16*i:], le.Uint64(b[table+16*i:])+16)
	}
	b = append(b[:table+32], le.AppendUint64(le.AppendUint64(nil, table+48+uint64(len(content))), uint64(len(index)))...)
	b = append(append(b, content...), index...)
	put(t, w.opts.Input, b)
	for level := range 2 {
		w.opts.Compress = level
		if sum, err := engine.Run(t.Context(), w.opts); err != nil || sum.Mappings != 1 {
			t.Fatalf("got %s, %v; want no error, Mappings = 1", asJSON(sum), err)
		}
		out := read(t, w.opts.Output)
		f := openFile(t, w.opts.Output)
		index, err := f.Feature(perfdata.FeatureAuxtrace).Bytes()
		if err != nil || le.Uint64(index) != 2 {
			t.Fatalf("got % x, %v; want no error, le.Uint64(index) = 2", index, err)
		}
		for i := range 2 {
			at := le.Uint64(index[8+16*i:])
			if at+48 > uint64(len(out)) || le.Uint32(out[at:]) != 71 || !bytes.HasPrefix(out[at+48:], payload) {
				t.Errorf("level %d: there is no AUXTRACE record at %d, where the index says", level, at)
			}
		}
	}
}
