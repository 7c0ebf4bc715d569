package engine_test

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/jitinject/jitinject/internal/config"
	"github.com/jitinject/jitinject/internal/formats"
	"github.com/jitinject/jitinject/internal/procmem"
)

// Code of logs and captures from a process that runs. This process stands for the runtime: the recording
// has its program where it is, and code in memory that it maps.

// jitMemory maps 256 KiB of executable memory with a pattern, until the test ends.
func jitMemory(t *testing.T) (addr uint64, memory []byte) {
	t.Helper()
	memory, err := unix.Mmap(-1, 0, 0x40000, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unix.Munmap(memory) })
	copy(memory, bytes.Repeat([]byte{0x90, 0x55, 0x48, 0x89, 0xe5, 0x5d, 0xc3}, len(memory)/7+1))
	if err := unix.Mprotect(memory, unix.PROT_READ|unix.PROT_EXEC); err != nil {
		t.Fatal(err)
	}
	p, err := procmem.Open(uint32(os.Getpid()))
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	for _, s := range p.Segments() { // Go hides addresses of memory
		got := make([]byte, 64)
		if s.Size >= uint64(len(memory)) && s.Flags == 5 && p.ReadCode(s.Addr, got) == nil && bytes.Equal(got, memory[:64]) {
			return s.Addr, memory
		}
	}
	t.Fatal("got no executable memory with the pattern; want that which was mapped")
	return 0, nil
}

// runHere adds this process, which runs since it started, with its program and 256 KiB of executable
// memory at an address.
func (w *world) runHere(memory uint64) (pid uint32, start uint64) {
	w.t.Helper()
	pid = uint32(os.Getpid())
	p, err := procmem.Open(pid)
	if err != nil {
		w.t.Fatal(err)
	}
	defer p.Close()
	w.Machine = "x86_64"
	start = p.Started()
	w.Comm(pid, start, "mono", true)
	for i, f := range p.Files() {
		if f.Name == p.Program() {
			w.Mmap2(pid, start+uint64(i), f.Start, f.End-f.Start, f.Offset, f.Name)
		}
	}
	w.Mmap2(pid, start+50, 0x110000000000, 0x20000, 0, profiler)
	w.Mmap2(pid, start+60, memory, 0x40000, 0, "//anon")
	return pid, start
}

func TestCodeFrom_RunningProcess(t *testing.T) {
	memory, content := jitMemory(t)
	for _, c := range []struct {
		name string
		size uint64
		say  func(w *world, pid uint32, start uint64)
	}{
		{formats.Mono, 64, func(w *world, pid uint32, start uint64) {
			put(t, w.path("app.mlpd"), monoLog(t, 17, pid, start, jitted{start + 200, 2, memory + 0x100, 64, "App:IsPrime (int)"}))
			w.opts.SideFiles = []config.SideFile{{Kind: formats.Mono, Path: w.path("app.mlpd")}}
			w.expect(pid, start+300, memory+0x110, "App:IsPrime (int)+0x10")
		}},
		{formats.J9, 0x200, func(w *world, pid uint32, start uint64) {
			w.capture("a", vector(t, memory+0x100, 0x200, 0, 0), j9Methods)
			w.opts.SideFiles = []config.SideFile{{Kind: formats.J9, PID: pid, Path: w.path("a.bin")}}
			w.expect(pid, start+300, memory+0x110, "App.run(I)V+0x10")
		}},
	} {
		for _, live := range []bool{true, false} {
			w := newWorld(t)
			pid, start := w.runHere(memory)
			c.say(w, pid, start)
			without := 1
			if live {
				w.opts.Live, without = []uint32{pid}, 0
			}
			sum := w.check()
			if d := sum.Dumps[0]; d.Kind != c.name || d.PID != pid || d.WithoutCode != without {
				t.Errorf("got %s of a running process, read: %v; want %d functions without code", asJSON(sum), live, without)
			}
			paths, _ := filepath.Glob(filepath.Join(sum.Dumps[0].Objects, "jitted-*.so"))
			var code [][]byte
			for _, path := range paths {
				for _, fn := range functionsIn(t, path) {
					code = append(code, fn.code)
				}
			}
			want := [][]byte{nil}
			if live {
				want[0] = content[0x100:][:c.size]
			}
			if !slices.EqualFunc(code, want, bytes.Equal) {
				t.Errorf("%s, read: %v: got code % x; want % x", c.name, live, code, want)
			}
		}
	}
}
