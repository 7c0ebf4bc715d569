package dumptail

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/jitinject/jitinject/internal/procmem"
	"github.com/jitinject/jitinject/internal/safefile/sys"
	"github.com/jitinject/jitinject/internal/testrec"
)

// wantRest wants a tail of the dump that is what the process writes next. more says that it must not be
// empty.
func wantRest(t *testing.T, w *writer, more bool) {
	t.Helper()
	before := w.read()
	size, tail, err := w.dump().Tail()
	if err != nil || size != int64(len(before)) {
		t.Fatalf("got size %d, %d bytes, error %v; want size %d", size, len(tail), err, len(before))
	}
	w.do("f")
	after := w.read()
	if want := after[len(before):]; !bytes.Equal(tail, want) || more && len(want) == 0 {
		t.Errorf("got %d bytes after %d:\n% x\nwant the %d bytes that fflush writes:\n% x", len(tail), size, tail, len(want), want)
	}
}

func TestTail_Libraries(t *testing.T) {
	for _, c := range []struct {
		name      string
		compilers []string
		flags     []string
	}{
		{"glibc", gcc, nil},
		{"static glibc", gcc, []string{"-static"}},
		{"musl", []string{"musl-gcc"}, []string{"-static"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			program := compile(t, c.compilers, c.flags...)
			for _, mode := range []string{"stdio", "large", "append", "noted"} {
				t.Run(mode, func(t *testing.T) {
					w := startWriter(t, program, mode)
					w.do("w0")
					wantRest(t, w, true) // the header
					for _, n := range []int{1, 7, 100, 3000, 5} {
						w.do(fmt.Sprintf("w%d", n))
						wantRest(t, w, true)
					}
					wantRest(t, w, false)
					if n, whole := loads(t, w.read()); n != 3113 || !whole {
						t.Errorf("got %d functions, whole: %v; want 3113", n, whole)
					}
				})
			}
		})
	}
}

// A producer without a buffer misses nothing, unless it is inside a write.
func TestTail_NoBuffer(t *testing.T) {
	w := startWriter(t, compile(t, gcc), "write")
	w.do("w100")
	if size, tail, err := w.dump().Tail(); size != int64(len(w.read())) || len(tail) > 0 || err != nil {
		t.Errorf("got size %d, %d bytes, error %v; want nothing missing", size, len(tail), err)
	}
	w.do("p8")
	if size, tail, err := w.dump().Tail(); size != int64(len(w.read())) || len(tail) > 0 || !errors.Is(err, errNoBuffer) {
		t.Errorf("got size %d, %d bytes, error %v; want %v", size, len(tail), err, errNoBuffer)
	}
}

// The dump may have no path any more.
func TestTail_DeletedDump(t *testing.T) {
	w := startWriter(t, compile(t, gcc), "stdio")
	w.do("w100")
	w.do("u")
	path := filepath.Join(t.TempDir(), "copy")
	copied, err := w.dump().Copy(path)
	if err != nil || copied.Missing != nil || copied.Tail == 0 {
		t.Fatalf("got %+v, %v; want a copy with a tail", copied, err)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if n, whole := loads(t, b); n != 100 || !whole || int64(len(b)) != copied.Disk+int64(copied.Tail) {
		t.Errorf("got %d functions in %d bytes, whole: %v, after %+v; want 100", n, len(b), whole, copied)
	}
}

// Disk and tail fit together while the process writes.
func TestTail_BusyWriter(t *testing.T) {
	t.Run("glibc", func(t *testing.T) { readWhileWriting(t, compile(t, gcc)) })
	t.Run("musl", func(t *testing.T) { readWhileWriting(t, compile(t, []string{"musl-gcc"}, "-static")) })
}

func readWhileWriting(t *testing.T, program string) {
	for _, mode := range []string{"stdio", "large", "append", "noted", "write"} {
		t.Run(mode, func(t *testing.T) {
			w := startWriter(t, program, mode)
			w.do("w1")
			dump := w.dump()
			if mode == "write" {
				fmt.Fprintln(w.in, "w1000000")
			} else {
				fmt.Fprintln(w.in, "s")
			}
			tails := 0
			for range 20 {
				size, tail, err := dump.Tail()
				switch {
				case errors.Is(err, errBusy), mode == "write" && errors.Is(err, errNoBuffer):
				case err != nil:
					t.Fatal(err)
				default:
					f, err := dump.open(0)
					if err != nil {
						t.Fatal(err)
					}
					if !(&follower{disk: growing{file: f}}).fits(size, tail) {
						t.Errorf("got %d bytes after %d that do not go on with its records", len(tail), size)
					}
					f.Close()
					tails += min(len(tail), 1)
				}
			}
			if mode != "write" && tails == 0 {
				t.Errorf("got no tail of a process that writes all the time; want some")
			}
		})
	}
}

// Each state of a process that ends meanwhile is one of an error.
func TestTail_EndedProcess(t *testing.T) {
	program := compile(t, gcc)
	for _, command := range []string{"e", "c"} {
		w := startWriter(t, program, "stdio")
		w.do("w100")
		d := w.dump()
		if command == "e" {
			fmt.Fprintln(w.in, command)
			w.cmd.Wait()
		} else {
			w.do(command)
		}
		if _, tail, err := d.Tail(); len(tail) > 0 || !errors.Is(err, procmem.ErrEnded) {
			t.Errorf("%s: got %d bytes, error %v; want %v", command, len(tail), err, procmem.ErrEnded)
		}
	}
	for range 20 {
		w := startWriter(t, program, "stdio")
		w.do("w100")
		d := w.dump()
		w.cmd.Process.Kill()
		for {
			_, tail, err := d.Tail()
			if err != nil {
				if !errors.Is(err, procmem.ErrEnded) && !errors.Is(err, procmem.ErrNone) {
					t.Errorf("got error %v; want %v or %v", err, procmem.ErrEnded, procmem.ErrNone)
				}
				break
			}
			if len(tail) == 0 {
				t.Error("got no tail and no error; want one of them")
				break
			}
		}
		w.cmd.Wait()
	}
}

// A buffer that always is of another place of the file is tried again, but not without end: a process may
// say that it has 16 MB, at many places.
func TestTail_LargeBuffers(t *testing.T) {
	const size = maxBuffer + pageSize
	memory, err := unix.Mmap(-1, 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Munmap(memory)
	file, err := sys.OpenFile(t.TempDir()+"/jit-"+strconv.Itoa(os.Getpid())+".dump", os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	dumps, err := Dumps(uint32(os.Getpid()))
	if err != nil || len(dumps) != 1 {
		t.Fatalf("got dumps %+v, %v; want one", dumps, err)
	}
	p, err := procmem.Open(uint32(os.Getpid()))
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	at := uint64(uintptr(unsafe.Pointer(&memory[0])))
	start := at + pageSize
	end := start + maxBuffer
	copy(memory, words(map[int]uint64{0x00: 0xfbad2c84, 0x20: start, 0x28: end, 0x38: start, 0x40: end, 0x70: uint64(dumps[0].FD), 0x90: 40}))
	r := &reader{dump: &dumps[0], process: p, file: file}
	for range maxFILEs {
		if found, err := r.read(at, libraries[0]); found || err != nil || !r.busy {
			t.Fatalf("got %v, %v, busy: %v; want it to be busy", found, err, r.busy)
		}
	}
	if r.held < maxHeld || r.held > maxHeld+maxBuffer {
		t.Errorf("got %d bytes of buffers read; want at most %d", r.held, maxHeld+maxBuffer)
	}
}

// startNode starts a node that compiles 300 functions, then says so, and then runs the rest of a script.
func startNode(t *testing.T, rest string) (pid int, dir string) {
	t.Helper()
	dir = t.TempDir()
	script := filepath.Join(dir, "app.js")
	if err := os.WriteFile(script, []byte(`
const make = i => new Function("n", "let s = " + i + "; for (let k = 0; k < n; k++) s += k * s % 7; return s");
let sum = 0;
for (let i = 0; i < 300; i++) { const f = make(i); for (let k = 0; k < 30; k++) sum += f(500); }
require("fs").writeSync(1, "ready");
`+rest), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(testrec.Tool(t, "node"), "--perf-prof", script)
	cmd.Dir = dir
	_, out := testrec.Start(t, cmd)
	if _, err := out.Read(make([]byte, 5)); err != nil {
		t.Fatal(err)
	}
	return cmd.Process.Pid, dir
}

func TestTail_Node(t *testing.T) {
	pid, dir := startNode(t, "setInterval(() => {}, 1000);")
	found := false
	for range 20 { // it compiles in the background
		dumps, err := Dumps(uint32(pid))
		if err != nil || len(dumps) != 1 {
			t.Fatalf("got dumps %+v, %v; want one", dumps, err)
		}
		path := filepath.Join(dir, "copy.dump")
		copied, err := dumps[0].Copy(path)
		if err != nil || copied.Missing != nil {
			t.Fatalf("got %+v, %v; want a copy", copied, err)
		}
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		n, whole := loads(t, b)
		if !whole || n < 300 {
			t.Errorf("got %d functions in %d bytes and %d, whole: %v; want at least 300", n, copied.Disk, copied.Tail, whole)
		}
		found = found || copied.Tail > 0
	}
	if !found {
		t.Error("got no tail at 20 moments; want some")
	}
}
