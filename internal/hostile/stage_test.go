package hostile

import (
	"bytes"
	"context"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/jitinject/jitinject/internal/testrec"
	"github.com/jitinject/jitinject/jitdump"
	"github.com/jitinject/jitinject/perfdata"
)

// program is the command, built for these tests.
var program string

func TestMain(m *testing.M) {
	testrec.PrivateTmp()
	for _, sig := range []os.Signal{syscall.SIGINT, syscall.SIGHUP} {
		if signal.Ignored(sig) { // programs that are started would do so, too
			signal.Notify(make(chan os.Signal, 1), sig)
		}
	}
	dir, err := os.MkdirTemp("", "jitinject-hostile-")
	if err != nil {
		panic(err)
	}
	os.Chmod(dir, 0o755) // other users run it, too
	program = filepath.Join(dir, "jitinject")
	code := 1
	if err := testrec.Build(program); err != nil {
		fmt.Fprintln(os.Stderr, err)
	} else {
		code = m.Run()
	}
	os.RemoveAll(dir)
	os.Exit(code)
}

const (
	pid  = 4711
	base = uint64(0x7f1200000000)
)

// A stage is a directory with a recording and its dump, where an attack takes place.
type stage struct {
	t   *testing.T
	dir string
}

// newStage makes a recording of a process with functions of 64 bytes, called f0,
// f1, ..., each of which is sampled.
func newStage(t *testing.T, functions int) *stage {
	t.Helper()
	s := emptyStage(t)
	s.functions(functions)
	return s
}

func emptyStage(t *testing.T) *stage {
	dir, err := os.MkdirTemp("", "hostile-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	os.Chmod(dir, 0o755)
	return &stage{t, dir}
}

// functions writes the dump and the recording.
func (s *stage) functions(n int) {
	s.t.Helper()
	r := testrec.NewRecording()
	r.Comm(pid, 900, "prog", true)
	r.Marker(pid, 1000, s.path(dumpName))
	var recs []timed
	for i := range uint64(n) {
		recs = append(recs, timed{2000 + i, load(i, fmt.Sprintf("f%d", i))})
		r.Sample(pid, 1000000+i, base+64*i+8)
	}
	s.dump(dumpName, recs...)
	r.Write(s.t, s.path("perf.data"))
}

const dumpName = "jit-4711.dump"

// load is function number i.
func load(i uint64, name string) *jitdump.Load {
	addr := base + 64*i
	return &jitdump.Load{PID: pid, TID: pid, VMA: addr, CodeAddr: addr, CodeIndex: i, Name: []byte(name), Code: code(i)}
}

// code is 64 bytes of instructions, different for each function.
func code(i uint64) []byte {
	b := []byte{0x49, 0xba} // movabs $i, %r10
	b = binary.LittleEndian.AppendUint64(b, i)
	for len(b) < 63 {
		b = append(b, 0x90)
	}
	return append(b, 0xc3)
}

// A timed record of a dump.
type timed struct {
	time uint64
	rec  jitdump.Record
}

func (s *stage) dump(name string, recs ...timed) {
	s.t.Helper()
	s.dumpOf(pid, name, recs...)
}

// dumpOf writes a dump of a process.
func (s *stage) dumpOf(pid uint32, name string, recs ...timed) {
	s.t.Helper()
	var out bytes.Buffer
	w, err := jitdump.NewWriter(&out, &jitdump.Header{Order: binary.LittleEndian, Version: 1, Machine: uint32(elf.EM_X86_64), PID: pid})
	if err != nil {
		s.t.Fatal(err)
	}
	for _, r := range recs {
		if err := w.Write(r.time, r.rec); err != nil {
			s.t.Fatal(err)
		}
	}
	s.put(name, out.String())
}

func (s *stage) path(name string) string { return filepath.Join(s.dir, name) }

func (s *stage) put(name, content string) {
	s.t.Helper()
	if err := os.WriteFile(s.path(name), []byte(content), 0o644); err != nil {
		s.t.Fatal(err)
	}
}

func (s *stage) read(name string) string {
	s.t.Helper()
	b, err := os.ReadFile(s.path(name))
	if err != nil {
		s.t.Fatal(err)
	}
	return string(b)
}

func (s *stage) must(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

// list names all files of the stage with what they are, to see what was left.
func (s *stage) list() map[string]string {
	s.t.Helper()
	all := make(map[string]string)
	err := filepath.WalkDir(s.dir, func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		what := info.Mode().String()
		if info.Mode().IsRegular() {
			content, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			what += " " + string(content)
		}
		name, _ := filepath.Rel(s.dir, path)
		all[name] = what
		return nil
	})
	s.must(err)
	return all
}

// untouched wants nothing to be changed since a list was made, nor anything new.
func (s *stage) untouched(before map[string]string) {
	s.t.Helper()
	after := s.list()
	for name, what := range before {
		if after[name] != what {
			s.t.Errorf("%q is not what it was", name)
		}
	}
	for name := range after {
		if _, ok := before[name]; !ok {
			s.t.Errorf("%q was left", name)
		}
	}
}

// A result is what came of a run.
type result struct {
	t              *testing.T
	what           string
	code           int
	stdout, stderr string
}

// within is how long a run may take that has little to do, on a busy machine.
const within = 30 * time.Second

// patience limits how long a test repeats what depends on the right moment. Where the
// machine is busy, most attempts miss it.
const patience = 2 * time.Minute

// run runs the command in the stage's directory. It is not to hang, to panic, or to
// send anything to a terminal that is no text.
func (s *stage) run(args ...string) *result {
	s.t.Helper()
	return s.runVia(nil, args...)
}

// runVia has another program run the command.
func (s *stage) runVia(via []string, args ...string) *result {
	s.t.Helper()
	argv := append(append(append([]string{}, via...), program), args...)
	ctx, cancel := context.WithTimeout(context.Background(), within)
	defer cancel()
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Dir = s.dir
	cmd.WaitDelay = time.Second
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	r := &result{s.t, strings.Join(argv[len(via)+1:], " "), cmd.ProcessState.ExitCode(), stdout.String(), stderr.String()}
	if ctx.Err() != nil {
		s.t.Fatalf("%s: it does not come to an end\n%s", r.what, r.stderr)
	}
	if err != nil && !errors.As(err, new(*exec.ExitError)) {
		s.t.Fatal(err)
	}
	for _, word := range []string{"panic:", "goroutine ", "fatal error:"} {
		if strings.Contains(r.stderr, word) {
			s.t.Errorf("%s: it panics\n%s", r.what, r.stderr)
		}
	}
	for _, text := range []string{r.stdout, r.stderr} {
		isText(s.t, r.what, text)
	}
	return r
}

// isText wants nothing in a text that a terminal might obey.
func isText(t *testing.T, what, text string) {
	t.Helper()
	if !utf8.ValidString(text) {
		t.Errorf("%s: it prints invalid UTF-8: %q", what, text)
	}
	for _, c := range text {
		if c != '\n' && !unicode.IsPrint(c) {
			t.Errorf("%s: it prints %q: %q", what, c, text)
			return
		}
	}
}

// Exit codes.
const (
	allInjected = 0
	incomplete  = 1
	usage       = 129
	notWritten  = 255
)

// wants checks the exit code and what was said.
func (r *result) wants(code int, words ...string) *result {
	r.t.Helper()
	if r.code != code {
		r.t.Errorf("%s: exit code %d, want %d\n%s", r.what, r.code, code, r.stderr)
	}
	for _, word := range words {
		if !strings.Contains(r.stderr, word) {
			r.t.Errorf("%s: it says %q, want %q", r.what, r.stderr, word)
		}
	}
	return r
}

// shows checks an output: that it can be read to its end, and that each of so many
// functions is mapped from an object that is there, has the build id that the output
// says, the function's name and its code. It returns how many mappings there were.
func (s *stage) shows(output string, functions int) int {
	s.t.Helper()
	seen := make(map[string]bool)
	n := 0
	s.objects(output, func(m *perfdata.Mmap) {
		n++
		f, err := elf.Open(string(m.Filename))
		if err != nil {
			s.t.Errorf("%s: %v", m.Filename, err)
			return
		}
		defer f.Close()
		if note, err := f.Section(".note.gnu.build-id").Data(); err != nil || !bytes.HasSuffix(note, m.BuildID) || len(m.BuildID) == 0 {
			s.t.Errorf("%s: the build id is % x, in the output % x", m.Filename, note, m.BuildID)
		}
		syms, err := f.Symbols()
		if err != nil {
			s.t.Errorf("%s: %v", m.Filename, err)
			return
		}
		text, err := f.Section(".text").Data()
		if err != nil {
			s.t.Errorf("%s: %v", m.Filename, err)
			return
		}
		for _, sym := range syms {
			var i uint64
			if _, err := fmt.Sscanf(sym.Name, "f%d", &i); err != nil {
				continue
			}
			if at := sym.Value - f.Section(".text").Addr; !bytes.HasPrefix(text[at:], code(i)) {
				s.t.Errorf("%s: not the code of %s", m.Filename, sym.Name)
			}
			seen[sym.Name] = true
		}
	})
	for i := range functions {
		if !seen[fmt.Sprintf("f%d", i)] {
			s.t.Errorf("%s: f%d is missing", output, i)
		}
	}
	return n
}

// objects calls f for the mappings of objects in a recording.
func (s *stage) objects(output string, f func(*perfdata.Mmap)) {
	s.t.Helper()
	file, err := os.Open(s.path(output))
	s.must(err)
	defer file.Close()
	st, err := file.Stat()
	s.must(err)
	pd, err := perfdata.Open(file, st.Size())
	s.must(err)
	ls, err := perfdata.NewLayouts(pd.Header.Order, pd.Attrs)
	s.must(err)
	for r := pd.Blocks(); ; {
		block, err := r.Next()
		if errors.Is(err, io.EOF) {
			return
		}
		s.must(err)
		for _, rec := range block.Records() {
			if rec.Type != perfdata.RecordMmap2 {
				continue
			}
			m, err := ls.Mmap(rec)
			s.must(err)
			if name := filepath.Base(string(m.Filename)); strings.HasPrefix(name, "jitted-") {
				f(&m)
			}
		}
	}
}

// objectNames returns the objects of a result.
func (s *stage) objectNames(output string) (names []string) {
	s.t.Helper()
	s.objects(output, func(m *perfdata.Mmap) {
		if name := string(m.Filename); !slices.Contains(names, name) {
			names = append(names, name)
		}
	})
	return names
}

// inject is run with the usual output.
func (s *stage) inject(args ...string) *result {
	s.t.Helper()
	return s.run(append([]string{"-i", "perf.data", "-o", "out.data"}, args...)...)
}

// root skips a test that needs root.
func root(t *testing.T) {
	t.Helper()
	if os.Geteuid() != 0 {
		testrec.Skip(t, "this needs root")
	}
}

// owner returns whose a file is.
func owner(info os.FileInfo) int { return int(info.Sys().(*syscall.Stat_t).Uid) }

// nobody is a user who is not root, and another than the one of the tests.
const nobody = 65534

// as runs the command as another user.
func (s *stage) as(uid int, args ...string) *result {
	s.t.Helper()
	id := fmt.Sprint(uid)
	return s.runVia([]string{testrec.Tool(s.t, "setpriv"), "--reuid", id, "--regid", id, "--clear-groups"}, args...)
}
