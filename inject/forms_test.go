package inject_test

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
	"time"

	"github.com/jitinject/jitinject/inject"
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

func TestForms(t *testing.T) {
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
			sum, err := inject.Run(t.Context(), inject.Options{Input: filepath.Join(dir, form.input), Output: out})
			if err != nil || !sum.Complete() || sum.Mappings < 2000 {
				t.Fatalf("%+v, %v", sum, err)
			}
			stream, w := pipe(t)
			go func() {
				defer w.Close()
				_, err := inject.Run(t.Context(), inject.Options{Input: filepath.Join(dir, form.input), Output: "-", Stdout: w})
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
			if sum, err = inject.Run(t.Context(), inject.Options{Input: out, Output: again}); err != nil || sum.Mappings != 0 || sum.Injected < 2000 {
				t.Errorf("again: %+v, %v", sum, err)
			}
			if form.name != "node-pipe" && !bytes.Equal(read(t, out), read(t, again)) {
				t.Error("injecting the result again changes it")
			}
		})
	}
}

// Compressed results, as a file and as a pipe, are what they would be otherwise.
func TestCompressedOutput(t *testing.T) {
	dir := testrec.Place(t, "node-fp")
	in, plain := filepath.Join(dir, "perf.data"), filepath.Join(dir, "plain.data")
	if _, err := inject.Run(t.Context(), inject.Options{Input: in, Output: plain}); err != nil {
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
		if _, err := inject.Run(t.Context(), inject.Options{Input: in, Output: packed, Compress: level}); err != nil {
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
			if _, err := inject.Run(t.Context(), inject.Options{Input: in, Output: "-", Stdout: w, Compress: level}); err != nil {
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
func TestDirectoryOutput(t *testing.T) {
	dir := testrec.Unpack(t, "node-threads")
	in, out := filepath.Join(dir, "perf.data.dir"), filepath.Join(dir, "out.dir")
	for range 2 { // the second time, what was there is kept
		if sum, err := inject.Run(t.Context(), inject.Options{Input: in, Output: out + "/"}); err != nil || !sum.Complete() {
			t.Fatalf("%+v, %v", sum, err)
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
	if _, err := inject.Run(t.Context(), inject.Options{Input: out, Output: again + "/"}); err != nil {
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
		if _, err := inject.Run(t.Context(), inject.Options{Input: in, Output: other + "/"}); err == nil || !strings.Contains(err.Error(), "would be replaced, but it") {
			t.Errorf("%s: %v", name, err)
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
		if _, err := inject.Run(t.Context(), inject.Options{Input: c.in, Output: c.out}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("-i %s -o %s: %v", c.in, c.out, err)
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
func TestStream(t *testing.T) {
	dir := testrec.Unpack(t, "node-pipe")
	t.Chdir(dir) // where the dump of a stream is looked for
	stream := read(t, "perf.pipe.data")
	all := countSamples(t, dir, "perf.pipe.data")
	var first []byte
	for _, size := range []int{1 << 20, 4096, 777} {
		r, w := pipe(t)
		go func() {
			defer w.Close()
			sum, err := inject.Run(t.Context(), inject.Options{Input: "-", Stdin: feed(t, stream, size), Output: "-", Stdout: w})
			if err != nil || !sum.Complete() || sum.Mappings < 2000 || sum.Markers != 1 {
				t.Errorf("%+v, %v", sum, err)
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
	if _, err := inject.Run(t.Context(), inject.Options{Input: "-", Stdin: feed(t, stream, 5000), Output: out}); err != nil {
		t.Fatal(err)
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

// A process is still at work while its stream is injected: what is there comes out
// at once, and functions that it tells of late are found all the same.
func TestLiveStream(t *testing.T) {
	w := newWorld(t)
	pid := uint32(os.Getpid()) // a process that is alive
	w.mark(pid, 1000, "jit-1.dump")
	w.expect(pid, 3000, 0x10008, "early+0x8")
	w.Round()
	w.expect(pid, 4000, 0x20008, "late+0x8")
	w.Round()
	rest := w.expectations(t, func() { w.expect(pid, 6000, 0x30008, "last+0x8") })
	w.Write(t, w.opts.Input)

	// The preamble and the records of a file, as a stream.
	f := openFile(t, w.opts.Input)
	var stream []byte
	stream = append(stream, "PERFILE2\x10\x00\x00\x00\x00\x00\x00\x00"...)
	stream, err := perfdata.AppendPreamble(stream, f)
	if err != nil {
		t.Fatal(err)
	}
	eachRaw(t, w.opts.Input, func(rec []byte) { stream = append(stream, rec...) })
	first, last := stream[:len(stream)-rest], stream[len(stream)-rest:]

	dump := dumpBytes(t, x86(1), load(2000, 1, 1, 0x10000, "early", code(64, 1)))
	more := dumpBytes(t, x86(1), load(2500, 1, 2, 0x20000, "late", code(64, 2)), load(5000, 1, 3, 0x30000, "last", code(64, 3)))[40:]
	put(t, w.path("jit-1.dump"), nil) // mapped, and nothing written yet

	inR, inW := pipe(t)
	outR, outW := pipe(t)
	done := make(chan *inject.Summary, 1)
	go func() {
		defer outW.Close()
		sum, err := inject.Run(t.Context(), inject.Options{Input: "-", Stdin: inR, Output: "-", Stdout: outW})
		if err != nil {
			t.Error(err)
		}
		done <- sum
	}()
	got := make(chan []byte)
	go func() {
		for {
			b := make([]byte, 1<<16)
			n, err := outR.Read(b)
			if n > 0 {
				got <- b[:n]
			}
			if err != nil {
				close(got)
				return
			}
		}
	}()
	var result []byte
	waitFor := func(what string, is func() bool) {
		t.Helper()
		timeout := time.After(20 * time.Second)
		for !is() {
			select {
			case b, ok := <-got:
				if !ok {
					t.Fatalf("%s: the output has ended", what)
				}
				result = append(result, b...)
			case <-timeout:
				t.Fatalf("%s: nothing comes", what)
			}
		}
	}
	inW.Write(first)
	waitFor("the samples, while the input is open", func() bool { return bytes.Contains(result, []byte{8, 0, 2, 0, 0, 0, 0, 0}) })
	if bytes.Contains(result, []byte("/jitted-")) {
		t.Error("functions come before they are known")
	}
	put(t, w.path("jit-1.dump"), dump)
	appendTo(t, w.path("jit-1.dump"), more[:30]) // in the middle of a record
	inW.Write(last[:1])
	inW.Write(last[1:])
	waitFor("the first function", func() bool { return bytes.Contains(result, []byte("/jitted-")) })
	appendTo(t, w.path("jit-1.dump"), more[30:])
	inW.Close()
	for b := range got {
		result = append(result, b...)
	}
	sum := <-done
	if sum == nil || !sum.Complete() || sum.Mappings != 3 || sum.Markers != 1 {
		t.Errorf("%+v", sum)
	}
	if bytes.Contains(result, []byte{68, 0, 0, 0, 0, 0, 8, 0}) {
		t.Error("a round is promised to be over, but functions of it came later")
	}
	put(t, w.path("result.pipe"), result)
	for version, perf := range testrec.Perfs(t) {
		out := testrec.Run(t, w.dir, perf, "script", "-i", "result.pipe", "-F", "ip,sym,symoff")
		for _, want := range w.wants {
			if !strings.Contains(out, want.sym) {
				t.Errorf("perf %s: no %s in\n%s", version, want.sym, out)
			}
		}
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

// Real programs in the forms of perf record: each resolves as much as the same
// program recorded into a file.
func TestLiveForms(t *testing.T) {
	testrec.CanRecord(t)
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
		sum, err := inject.Run(t.Context(), inject.Options{Input: filepath.Join(dir, "perf.data"), Output: out})
		if err != nil || !sum.Complete() {
			t.Fatalf("%s: %+v, %v", name, sum, err)
		}
		s := count(t, dir, perf, out, nil)
		if s.jitted < 50 || s.unknown > s.jitted/50 {
			t.Errorf("%s: %+v", name, s)
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
	if _, err := inject.Run(t.Context(), inject.Options{Input: filepath.Join(dir, "perf.data"), Output: out, Objects: filepath.Join(dir, "objects")}); err != nil {
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
		if sum, err := inject.Run(t.Context(), inject.Options{Input: "-", Stdin: inR, Output: "-", Stdout: outW}); err != nil || !sum.Complete() {
			t.Errorf("%+v, %v", sum, err)
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
func TestDamagedDirectory(t *testing.T) {
	for name, c := range map[string]struct {
		damage func(in string) error
		want   string
	}{
		"a file is gone": {func(in string) error { return os.Rename(filepath.Join(in, "data.0"), filepath.Join(in, "data.2")) }, "there is no data.0 in it"},
		"a file is cut":  {func(in string) error { return os.Truncate(filepath.Join(in, "data.1"), 57203) }, "it ends inside a record"},
		"other things":   {func(in string) error { return os.Mkdir(filepath.Join(in, "data.7"), 0o755) }, ""},
	} {
		dir := testrec.Unpack(t, "node-threads")
		in := filepath.Join(dir, "perf.data.dir")
		if err := c.damage(in); err != nil {
			t.Fatal(err)
		}
		sum, err := inject.Run(t.Context(), inject.Options{Input: in, Output: filepath.Join(dir, "out.data")})
		if err != nil || sum.Mappings < 2000 || sum.Complete() != (c.want == "") || c.want != "" && !strings.Contains(sum.Problems[0].Text, c.want) {
			t.Errorf("%s: %+v, %v", name, sum, err)
		}
	}
}

// A pipe that ends before it begins leaves what was there alone.
func TestEmptyStream(t *testing.T) {
	dir := testrec.Unpack(t, "node-pipe")
	stream := read(t, filepath.Join(dir, "perf.pipe.data"))
	out := filepath.Join(dir, "out.data")
	put(t, out, []byte("there before"))
	for _, n := range []int{0, 8, 16, 26, 39} {
		if _, err := inject.Run(t.Context(), inject.Options{Input: "-", Stdin: feed(t, stream[:n], 100), Output: out}); err == nil {
			t.Errorf("%d bytes are a recording", n)
		}
		put(t, filepath.Join(dir, "short.data"), stream[:n])
		if _, err := inject.Run(t.Context(), inject.Options{Input: filepath.Join(dir, "short.data"), Output: out}); err == nil {
			t.Errorf("%d bytes in a file are a recording", n)
		}
	}
	if string(read(t, out)) != "there before" {
		t.Error("the old output is gone")
	}
}

// The index of AUXTRACE records says where they are, whatever has been put in front
// of them, and compressed.
func TestAuxtraceIndex(t *testing.T) {
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
		if sum, err := inject.Run(t.Context(), w.opts); err != nil || sum.Mappings != 1 {
			t.Fatalf("%+v, %v", sum, err)
		}
		out := read(t, w.opts.Output)
		f := openFile(t, w.opts.Output)
		index, err := f.Feature(perfdata.FeatureAuxtrace).Bytes()
		if err != nil || le.Uint64(index) != 2 {
			t.Fatalf("% x, %v", index, err)
		}
		for i := range 2 {
			at := le.Uint64(index[8+16*i:])
			if at+48 > uint64(len(out)) || le.Uint32(out[at:]) != 71 || !bytes.HasPrefix(out[at+48:], payload) {
				t.Errorf("level %d: there is no AUXTRACE record at %d, where the index says", level, at)
			}
		}
	}
}

// An event whose ids do not fit into a pipe is not cut silently.
func TestManyIDs(t *testing.T) {
	w := ready(t)
	f := openFile(t, w.opts.Input)
	f.Attrs[0].IDs = make([]uint64, 9000)
	if _, err := perfdata.AppendPreamble(nil, f); err == nil || !strings.Contains(err.Error(), "9000 ids") {
		t.Error(err)
	}
}

// --clock strict refuses in a stream, too.
func TestStrictStream(t *testing.T) {
	w := ready(t)
	w.ClockID = -1
	w.Write(t, w.opts.Input)
	stream, err := perfdata.AppendPreamble([]byte("PERFILE2\x10\x00\x00\x00\x00\x00\x00\x00"), openFile(t, w.opts.Input))
	if err != nil {
		t.Fatal(err)
	}
	eachRaw(t, w.opts.Input, func(rec []byte) { stream = append(stream, rec...) })
	w.opts.Input, w.opts.Stdin, w.opts.Clock = "-", feed(t, stream, 1000), "strict"
	w.fails("standard input: it was recorded without -k mono")
}
