package procmem

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/jitinject/jitinject/internal/elfcore"
	"github.com/jitinject/jitinject/internal/format/elffile"
	"github.com/jitinject/jitinject/internal/safefile/sys"
)

var (
	// ErrNone says that no process has the pid.
	ErrNone = errors.New("no process with this pid is running")

	// ErrEnded says that a process has ended, or has replaced its program by another one.
	ErrEnded = errors.New("the process ended, or started another program, while it was read")

	// ErrNotAllowed says that the user may not read the process.
	ErrNotAllowed = errors.New("its memory may not be read")
)

// AdviceAllowed is advice about ErrNotAllowed.
const AdviceAllowed = "run jitinject as the user of the process, or as root; where /proc/sys/kernel/yama/ptrace_scope is not 0, only as root"

// A Process is an open running process. Several goroutines may read it at once. Callers must not
// change the slices that its methods return.
type Process struct {
	Class   elf.Class
	Order   binary.ByteOrder
	Machine elf.Machine

	pid      uint32
	program  string // path of its program, as the kernel reports it
	started  uint64
	mem      *sys.File
	mappings []Mapping
	files    []elfcore.File
	segments []elfcore.Segment
}

// Dir returns the directory of a process in /proc.
func Dir(pid uint32) string {
	return filepath.Join("/proc", strconv.FormatUint(uint64(pid), 10))
}

// Open opens a running process. Its error is ErrNone, ErrNotAllowed, ErrEnded, or that of a file in
// /proc. The caller closes the process.
func Open(pid uint32) (*Process, error) {
	if pid == 0 || pid > math.MaxInt32 {
		return nil, ErrNone
	}
	dir := Dir(pid)
	p := &Process{pid: pid}
	var err error
	if p.mem, err = sys.OpenFile(dir+"/mem", unix.O_RDONLY|unix.O_CLOEXEC, 0); err != nil {
		return nil, ErrorOf(err)
	}
	if err = p.read(dir); err != nil {
		p.Close()
		return nil, ErrorOf(err)
	}
	return p, nil
}

// read fills in everything but the memory.
func (p *Process) read(dir string) (err error) {
	if p.program, err = sys.Readlink(dir + "/exe"); err != nil {
		return err
	}
	if p.started, err = Started(p.pid); err != nil {
		return err
	}
	if err = p.header(dir + "/exe"); err != nil {
		return err
	}
	return p.maps()
}

// maps reads the mappings.
func (p *Process) maps() error {
	mappings, err := readMaps(Dir(p.pid) + "/maps")
	if err != nil {
		return err
	}
	p.mappings = mappings
	p.segments, p.files = likeCore(mappings)
	// The file of the memory was opened first, and belongs to the program that ran then. If it can
	// still be read, the mappings are of that program, too.
	return p.Check()
}

// ErrorOf makes the usual errors of files in /proc/PID those of this package.
func ErrorOf(err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, unix.ESRCH):
		return ErrNone
	case errors.Is(err, fs.ErrPermission):
		return ErrNotAllowed
	}
	return err
}

// header reads the machine of the program from its ELF header.
func (p *Process) header(path string) error {
	f, err := sys.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	program, err := elffile.OpenSegments(f)
	if err != nil {
		return err
	}
	p.Class, p.Order, p.Machine = program.Class, program.ByteOrder, program.Machine
	return nil
}

// Close closes the process.
func (p *Process) Close() error { return p.mem.Close() }

// PID returns the pid.
func (p *Process) PID() int { return int(p.pid) }

// Program returns the path of the program, without the kernel's suffix of deleted files.
func (p *Process) Program() string { return strings.TrimSuffix(p.program, " (deleted)") }

// Started returns when the process started, in nanoseconds of CLOCK_MONOTONIC: see [Started].
func (p *Process) Started() uint64 { return p.started }

// Mappings returns the memory of the process, in the order of its addresses.
func (p *Process) Mappings() []Mapping { return p.mappings }

// Files returns the mapped files, in the order of their addresses.
func (p *Process) Files() []elfcore.File { return p.files }

// Segments returns the mappings as segments.
func (p *Process) Segments() []elfcore.Segment { return p.segments }

// Refresh reads the mappings again: the process may have more by now. It must not run while others use
// Mappings, Files or Segments. Its error is as for Open.
func (p *Process) Refresh() error {
	return ErrorOf(p.maps())
}

// Check returns ErrEnded if the process does not run its program any more, or the error of reading it.
func (p *Process) Check() error {
	for i := range p.segments {
		var b [1]byte
		if err := p.ReadCode(p.segments[i].Addr, b[:]); err == nil || !errors.As(err, new(*elfcore.MissingError)) {
			return err
		}
	}
	return ErrEnded // a process without memory is ending
}

// ReadCode fills b with the memory at addr. It returns an *elfcore.MissingError where the process has
// no memory that can be read, and ErrEnded if the process does not run its program any more.
func (p *Process) ReadCode(addr uint64, b []byte) error {
	for len(b) > 0 {
		if addr > math.MaxInt64 {
			return &elfcore.MissingError{Addr: addr, Running: true}
		}
		n, err := p.mem.ReadAt(b, int64(addr))
		addr, b = addr+uint64(n), b[n:]
		switch {
		case len(b) == 0:
		case errors.Is(err, io.EOF):
			return ErrEnded
		case errors.Is(err, unix.EIO), errors.Is(err, unix.EFAULT):
			return &elfcore.MissingError{Addr: addr, Running: true}
		case err != nil:
			return fmt.Errorf("memory at %#x: %w", addr, err)
		}
	}
	return nil
}

// Started returns when a process started, in nanoseconds of CLOCK_MONOTONIC, or up to 10 ms earlier.
func Started(pid uint32) (uint64, error) {
	fields, err := Stat(pid)
	if err != nil {
		return 0, err
	}
	const startTime = 22 - 3 // field 22
	if len(fields) <= startTime {
		return 0, fmt.Errorf("%s/stat has no start time", Dir(pid))
	}
	ticks, err := strconv.ParseUint(string(fields[startTime]), 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%s/stat: %w", Dir(pid), err)
	}
	var monotonic, boot unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &monotonic); err != nil {
		return 0, err
	}
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &boot); err != nil {
		return 0, err
	}
	const tick = 1e9 / 100 // USER_HZ, on every machine
	start, asleep := ticks*tick, uint64(boot.Nano()-monotonic.Nano())
	return start - min(start, asleep), nil
}

// Stat returns the fields of /proc/PID/stat from the third on (proc_pid_stat(5)), the state. The name before
// it may contain anything.
func Stat(pid uint32) ([][]byte, error) {
	stat, err := sys.ReadFile(Dir(pid) + "/stat")
	return bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:]), err
}

// Numbers returns the numbers of a process in its pid namespaces: ours first, and its own last. Old kernels
// say ours only.
func Numbers(pid uint32) ([]uint32, error) {
	numbers := []uint32{pid}
	status, err := sys.ReadFile(Dir(pid) + "/status")
	if err != nil {
		return nil, err
	}
	_, after, _ := strings.Cut(string(status), "\nNSpid:")
	line, _, _ := strings.Cut(after, "\n")
	for field := range strings.FieldsSeq(line) {
		if n, err := strconv.ParseUint(field, 10, 32); err == nil {
			numbers = append(numbers, uint32(n))
		}
	}
	return numbers, nil
}
