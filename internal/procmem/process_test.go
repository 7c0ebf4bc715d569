package procmem

import (
	"bytes"
	"debug/elf"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/jitinject/jitinject/internal/elfcore"
	"github.com/jitinject/jitinject/internal/safefile/sys"
	"github.com/jitinject/jitinject/internal/testrec"
)

// Memory of a mapped file is that of the file, and of nothing else.
func TestReadCode_MappedProgram(t *testing.T) {
	cmd := exec.Command(testrec.Tool(t, "cat"))
	testrec.StartWaiting(t, cmd)
	p, err := Open(uint32(cmd.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	path, err := filepath.EvalSymlinks(cmd.Path)
	if err != nil {
		t.Fatal(err)
	}
	if p.Program() != path || p.PID() != cmd.Process.Pid {
		t.Errorf("got program %s of process %d; want %s of %d", p.Program(), p.PID(), path, cmd.Process.Pid)
	}
	image, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer image.Close()
	if p.Machine != image.Machine || p.Class != image.Class || p.Order != image.ByteOrder {
		t.Errorf("got %v, %v, %v; want %v, %v, %v", p.Machine, p.Class, p.Order, image.Machine, image.Class, image.ByteOrder)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	compared := 0
	for _, f := range p.Files() {
		i := slices.IndexFunc(p.Segments(), func(s elfcore.Segment) bool { return s.Addr == f.Start })
		if i < 0 || p.Segments()[i].Size != f.End-f.Start {
			t.Errorf("got segments %+v; want one of %+v", p.Segments(), f)
		} else if f.Name == path && p.Segments()[i].Flags == elf.PF_R|elf.PF_X {
			got := make([]byte, min(f.End-f.Start, uint64(len(text))-f.Offset))
			if err := p.ReadCode(f.Start, got); err != nil || !bytes.Equal(got, text[f.Offset:][:len(got)]) {
				t.Errorf("memory at %#x is not the file's from %#x on: %v", f.Start, f.Offset, err)
			}
			compared++
		}
	}
	if compared != 1 {
		t.Errorf("got %d executable mappings of %s; want 1", compared, path)
	}
	for _, addr := range []uint64{0, 1<<63 - 8, 1 << 63, ^uint64(0)} {
		var missing *elfcore.MissingError
		if err := p.ReadCode(addr, make([]byte, 16)); !errors.As(err, &missing) || err.Error() != fmt.Sprintf("the process has no memory at %#x that can be read", missing.Addr) {
			t.Errorf("%#x: got error %v; want that the process has no memory there", addr, err)
		}
	}
}

// A process that has ended, or runs another program, is not read any further.
func TestReadCode_EndedProcess(t *testing.T) {
	for _, c := range []struct{ name, line string }{{"ended", "exit"}, {"other program", "exec cat"}} {
		t.Run(c.name, func(t *testing.T) {
			cmd := exec.Command(testrec.Tool(t, "sh"))
			in := testrec.StartWaiting(t, cmd)
			p, err := Open(uint32(cmd.Process.Pid))
			if err != nil {
				t.Fatal(err)
			}
			defer p.Close()
			if err := p.Check(); err != nil {
				t.Errorf("got error %v of a running process; want none", err)
			}
			fmt.Fprintln(in, c.line)
			in.Close()
			if err := cmd.Wait(); err != nil {
				t.Fatal(err)
			}
			if err := p.ReadCode(p.Segments()[0].Addr, make([]byte, 4)); !errors.Is(err, ErrEnded) {
				t.Errorf("got error %v; want %v", err, ErrEnded)
			}
			if err := p.Check(); !errors.Is(err, ErrEnded) {
				t.Errorf("Check: got error %v; want %v", err, ErrEnded)
			}
			if _, err := Open(uint32(cmd.Process.Pid)); !errors.Is(err, ErrNone) {
				t.Errorf("Open: got error %v; want %v", err, ErrNone)
			}
		})
	}
	for _, pid := range []uint32{0, 1 << 31, 1<<32 - 1} {
		if _, err := Open(pid); !errors.Is(err, ErrNone) {
			t.Errorf("Open(%d): got error %v; want %v", pid, err, ErrNone)
		}
	}
}

// A denier fails the opening of files with a suffix.
type denier struct {
	suffix string
	err    error
}

func (d denier) Before(c *sys.Call) error {
	if c.Name == "openat" && strings.HasSuffix(c.Path, d.suffix) {
		return d.err
	}
	return nil
}

func (denier) After(*sys.Call, int, error) {}

func TestOpen_FailingFiles(t *testing.T) {
	for _, c := range []struct {
		suffix string
		err    error
		want   error
	}{
		{"/mem", unix.EACCES, ErrNotAllowed}, {"/maps", unix.EPERM, ErrNotAllowed}, {"/mem", unix.ENOENT, ErrNone}, {"/stat", unix.ESRCH, ErrNone},
		{"/exe", unix.EMFILE, unix.EMFILE},
	} {
		restore := sys.Use(denier{c.suffix, c.err})
		_, err := Open(uint32(os.Getpid()))
		restore()
		if !errors.Is(err, c.want) {
			t.Errorf("got error %v for %v of %s; want %v", err, c.err, c.suffix, c.want)
		}
	}
}

func TestParseMaps_Lines(t *testing.T) {
	const text = `55d0c0a00000-55d0c0a02000 r-xp 00002000 fe:01 131  /usr/bin/a b (deleted)
7ffd5c9f1000-7ffd5ca12000 rw-p 00000000 00:00 0                          [stack]
7ffff0000000-7ffff0001000 ---p 00000000 00:00 0 
7ffff1000000-7ffff1001000 rwxs 00010000 00:01 2 /memfd:x\012y (deleted)
`
	mappings, err := parseMaps(text)
	if err != nil {
		t.Fatal(err)
	}
	segments, files := likeCore(mappings)
	wantSegments := []elfcore.Segment{
		{Addr: 0x55d0c0a00000, Size: 0x2000, Stored: 0x2000, Flags: elf.PF_R | elf.PF_X},
		{Addr: 0x7ffd5c9f1000, Size: 0x21000, Stored: 0x21000, Flags: elf.PF_R | elf.PF_W},
		{Addr: 0x7ffff0000000, Size: 0x1000},
		{Addr: 0x7ffff1000000, Size: 0x1000, Stored: 0x1000, Flags: elf.PF_R | elf.PF_W | elf.PF_X},
	}
	wantFiles := []elfcore.File{
		{Start: 0x55d0c0a00000, End: 0x55d0c0a02000, Offset: 0x2000, Name: "/usr/bin/a b (deleted)"},
		{Start: 0x7ffff1000000, End: 0x7ffff1001000, Offset: 0x10000, Name: "/memfd:x\ny (deleted)"},
	}
	if !slices.Equal(segments, wantSegments) {
		t.Errorf("got segments %+v; want %+v", segments, wantSegments)
	}
	if !slices.Equal(files, wantFiles) {
		t.Errorf("got files %+v; want %+v", files, wantFiles)
	}
	wantNames := []string{"/usr/bin/a b (deleted)", "[stack]", "", "/memfd:x\ny (deleted)"}
	for i, m := range mappings {
		if private := i < 3; m.Private != private || m.Name != wantNames[i] {
			t.Errorf("line %d: got a mapping of %q, private: %v; want %q, %v", i+1, m.Name, m.Private, wantNames[i], private)
		}
	}
	for _, bad := range []string{"x", "1-2 r-xp 0 0:0", "2-1 r-xp 0 0:0 0", "1-2 r-xp g 0:0 0", "1 r-xp 0 0:0 0"} {
		if _, err := parseMaps(bad); err == nil {
			t.Errorf("%q: got no error; want one", bad)
		}
	}
}
