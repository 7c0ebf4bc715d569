package engine_test

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/jitinject/jitinject/internal/procmem"
	"github.com/jitinject/jitinject/internal/testrec"
)

// The end of a dump that a running process has not written yet.

// writtenAt is the address of the functions of a writer.
const writtenAt = 0x110000000000

// A writer is a running program that writes a jitdump, with functions of 64 bytes.
type writer struct {
	t   *testing.T
	pid uint32
	in  io.Writer
	out *bufio.Reader
}

// startWriter starts a writer, with its dump in the world.
func (w *world) startWriter(mode string) *writer {
	w.t.Helper()
	program := w.path("writer")
	testrec.Run(w.t, ".", testrec.Tool(w.t, "gcc", "cc"), "-O1", "-o", program, filepath.Join("..", "dumptail", "testdata", "writer.c"))
	cmd := exec.Command(program, w.dir, mode, fmt.Sprint(writtenAt))
	in, out := testrec.Start(w.t, cmd)
	p := &writer{t: w.t, pid: uint32(cmd.Process.Pid), in: in, out: bufio.NewReader(out)}
	p.do("w0")
	return p
}

// do gives the writer a command, and waits for the answer.
func (p *writer) do(command string) {
	p.t.Helper()
	fmt.Fprintln(p.in, command)
	if _, err := p.out.ReadString('\n'); err != nil {
		p.t.Fatalf("%s: got error %v; want an answer", command, err)
	}
}

// record adds the writer and its dump to the recording.
func (w *world) record(p *writer) {
	w.t.Helper()
	running, err := procmem.Open(p.pid)
	if err != nil {
		w.t.Fatal(err)
	}
	defer running.Close()
	w.Machine = "x86_64"
	start := running.Started()
	w.Comm(p.pid, start, "writer", true)
	for _, f := range running.Files() {
		if f.Name == running.Program() {
			w.Mmap2(p.pid, start, f.Start, f.End-f.Start, f.Offset, f.Name)
		}
	}
	w.Mmap2(p.pid, start, writtenAt, 0x40000, 0, "//anon")
	w.Marker(p.pid, start, w.path(fmt.Sprintf("jit-%d.dump", p.pid)))
}

// now returns the time of the recording's clock.
func now(t *testing.T) uint64 {
	t.Helper()
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts); err != nil {
		t.Fatal(err)
	}
	return uint64(ts.Nano())
}

func TestLive_EndOfTheDump(t *testing.T) {
	for _, c := range []struct {
		name      string
		functions int  // that the process writes
		live      bool // it is named
		last      bool // its last function gets a name
		note      string
	}{
		{"named", 100, true, true, "bytes are from the memory of process"},
		{"named, with an empty file", 3, true, true, "bytes are from the memory of process"},
		{"not named", 100, false, false, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			p := w.startWriter("stdio")
			p.do(fmt.Sprintf("w%d", c.functions))
			w.record(p)
			last, name := c.functions-1, ""
			if c.last {
				name = fmt.Sprintf("fn_%d+0x10", last)
			}
			w.expect(p.pid, now(t), writtenAt+64*uint64(last)+0x10, name)
			if c.live {
				w.opts.Live = []uint32{p.pid}
			}
			path := w.path(fmt.Sprintf("jit-%d.dump", p.pid))
			before, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			sum, err := w.run()
			if err != nil {
				t.Fatal(err)
			}
			w.resolve(w.opts.Output)
			if notes := strings.Join(sum.Notes, "\n"); !strings.Contains(notes, c.note) || c.note == "" && strings.Contains(notes, "from the memory") || strings.Contains(notes, "not needed") {
				t.Errorf("got notes %q; want %q", notes, c.note)
			}
			if got := sum.Dumps[0].Functions; c.last && got != c.functions || !c.last && got >= c.functions {
				t.Errorf("got %d functions; want %d: %v", got, c.functions, c.last)
			}
			if after, err := os.ReadFile(path); err != nil || string(after) != string(before) {
				t.Errorf("got %d bytes, %v in the dump after the run; want the %d from before", len(after), err, len(before))
			}
		})
	}
}

// Without a buffer to read, the result is that of the disk, and a note says what may be missing. There is
// none if nothing is.
func TestLive_DumpWithoutBuffer(t *testing.T) {
	for cut, want := range map[bool]string{true: "could not be read from the memory of that: ", false: ""} {
		w := newWorld(t)
		p := w.startWriter("write")
		p.do("w100")
		if cut {
			p.do("p8")
		}
		w.record(p)
		w.expect(p.pid, now(t), writtenAt+64*99+0x10, "fn_99+0x10")
		w.opts.Live = []uint32{p.pid}
		sum := w.check()
		if notes := strings.Join(sum.Notes, "\n"); !strings.Contains(notes, want) || want == "" && notes != "" {
			t.Errorf("got notes %q; want %q", notes, want)
		}
	}
}

// A file that the process does not write any more is read as it is on the disk.
func TestLive_OtherFile(t *testing.T) {
	w := newWorld(t)
	p := w.startWriter("stdio")
	p.do("w100")
	w.record(p)
	path := w.path(fmt.Sprintf("jit-%d.dump", p.pid))
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	put(t, path, b)
	w.expect(p.pid, now(t), writtenAt+0x10, "fn_0+0x10")
	w.expect(p.pid, now(t), writtenAt+64*99+0x10, "")
	w.opts.Live = []uint32{p.pid}
	sum, err := w.run()
	if err != nil {
		t.Fatal(err)
	}
	w.resolve(w.opts.Output)
	if notes := strings.Join(sum.Notes, "\n"); strings.Contains(notes, "from the memory") {
		t.Errorf("got notes %q; want nothing from the memory", notes)
	}
}
