package source

import (
	"context"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/jitinject/jitinject/format/monolog"
	"github.com/jitinject/jitinject/internal/jitcode"
	"github.com/jitinject/jitinject/internal/wire"
)

// ErrNotMonoLog says that a file is no log of Mono's profiler.
var ErrNotMonoLog = monolog.ErrNotMonoLog

// A MonoLog is a log of Mono's log profiler, scanned once. It tells of methods where
// they are, from when on and how long they are; it has none of their bytes. Times are
// of CLOCK_MONOTONIC.
//
// Of all that a log may hold, only what is about code is kept, so that memory grows with
// the functions. Offsets are of the log as it is without compression.
type MonoLog struct {
	Listing

	// Addressless counts methods of which the log does not say where they are. Merged
	// counts those that came under two names; see monoMerge.
	Addressless int
	Merged      int

	// Short leaves the parameters out of the names of functions.
	Short bool

	header  *monolog.Header
	src     *countingReader
	reader  *monolog.Reader
	target  jitcode.Target
	scanned bool
	latest  uint64 // time of anything in the log
	at      int64  // offset of the buffer that is being read

	names    monoNames
	nameOf   [][]byte       // of each function
	places   map[uint64]int // the function that is at an address, of those so far
	methods  monoMethods
	toldFull bool
	memory   codeMemory
	derive   bool
}

var (
	_ Dump     = (*MonoLog)(nil)
	_ Codeless = (*MonoLog)(nil)
)

// OpenMonoLog reads the header of a log, plain or packed by gzip. It fails where nothing
// can be read at all.
func OpenMonoLog(src io.ReaderAt) (*MonoLog, error) {
	counted := &countingReader{src: src}
	r, err := monolog.NewReader(counted)
	if err != nil {
		return nil, err
	}
	m := &MonoLog{Listing: Listing{Cut: -1}, header: r.Header(), src: counted, reader: r, places: make(map[uint64]int)}
	m.target = jitcode.Target{Machine: uint32(monoMachine(m.header.Arch, m.header.PtrSize)), Order: binary.LittleEndian}
	return m, nil
}

// A countingReader reads a file from its beginning on.
type countingReader struct {
	src io.ReaderAt
	off int64
}

func (r *countingReader) Read(p []byte) (int, error) {
	n, err := r.src.ReadAt(p, r.off)
	r.off += int64(n)
	return n, err
}

// Header returns the header of the log.
func (m *MonoLog) Header() *monolog.Header { return m.header }

// PID returns the process that the log says it is of, in that process's own pid
// namespace. Logs of 2010 do not say: it is 0.
func (m *MonoLog) PID() uint32 { return m.header.PID }

// NumFunctions returns how many functions there are.
func (m *MonoLog) NumFunctions() int { return len(m.nameOf) }

// Scan reads the log. What is damaged becomes a Problem, with an offset; what is good
// on both sides of it is used. A second call does nothing: what else is written then is
// not read.
func (m *MonoLog) Scan(ctx context.Context) error {
	if m.scanned {
		return nil
	}
	for {
		if err := m.pause(ctx); err != nil {
			return err
		}
		buffer, err := m.reader.NextBuffer()
		if err == io.EOF {
			break
		}
		if err != nil {
			m.damaged(err, "")
			continue
		}
		m.at = buffer.Offset
		m.latest = max(m.latest, buffer.Time)
		if err := m.buffer(ctx); err != nil {
			return err
		}
	}
	m.scanned = true
	m.places = nil
	return m.pause(ctx)
}

// pause tells how far the scan is, and returns ctx's error.
func (m *MonoLog) pause(ctx context.Context) error {
	if m.Watch != nil {
		m.Watch(m.src.off)
	}
	return ctx.Err()
}

// buffer reads the events of one buffer.
func (m *MonoLog) buffer(ctx context.Context) error {
	for n := 1; ; n++ {
		if n%(64<<10) == 0 {
			if err := m.pause(ctx); err != nil {
				return err
			}
		}
		e, err := m.reader.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			m.damaged(err, "; what stands behind it in its buffer is left out")
			return nil
		}
		switch e.Kind {
		case monolog.KindJIT:
			m.jitted(e)
		case monolog.KindJITHelper:
			m.helper(e)
		}
		m.latest = max(m.latest, e.Time)
	}
}

// maxRange is the longest function that is believed in, in bytes.
const maxRange = 256 << 20

// checked reports whether a function can be where an event says that it is.
func (m *MonoLog) checked(e *monolog.Event) bool {
	if e.Size <= maxRange && e.Code+e.Size >= e.Code {
		return true
	}
	m.problem(e.Offset, "%s: %s at offset %#x of %d bytes at %#x: there is no such function; it is left out", monolog.FormatName, e.Kind, e.Offset, e.Size, e.Code)
	return false
}

// jitted takes in a method that was compiled, or found in an image that had been
// compiled before.
func (m *MonoLog) jitted(e *monolog.Event) {
	if len(m.methods.all) >= 2*maxMonoFunctions {
		m.full(e)
		return
	}
	if e.Code == 0 || e.Size == 0 {
		m.Addressless++
		m.methods.add(e.Method, e.Time, -1)
		return
	}
	if !m.checked(e) {
		return
	}
	if i, ok := m.places[e.Code]; ok && m.merge(i, e) {
		m.methods.add(e.Method, e.Time, i)
		return
	}
	if len(m.nameOf) >= maxMonoFunctions {
		m.full(e)
		return
	}
	m.methods.add(e.Method, e.Time, len(m.nameOf))
	m.add(e, m.names.keep(e.Name))
}

// maxMonoFunctions is how many functions of a log are believed in: a program of a
// gigabyte has fewer. A small packed log can have more events than there is memory for.
var maxMonoFunctions = 4 << 20

// full says, once, that there are too many functions.
func (m *MonoLog) full(e *monolog.Event) {
	if !m.toldFull {
		m.toldFull = true
		m.problem(e.Offset, "%s: %s at offset %#x is one more than the %d functions that a log can have here; the rest is left out", monolog.FormatName, e.Kind, e.Offset, maxMonoFunctions)
	}
}

// monoMerge is how long after each other two events at one address tell of one method,
// in nanoseconds. Mono tells twice of methods whose code others share, one at once
// after the other: first of the method that was asked for, App:Fill<string> (string), then
// of the one that was compiled, App:Fill<T_REF> (T_REF). The latter is how Mono itself calls
// what is there, in stack traces and in the map that --jitmap writes.
const monoMerge = 10e6

// merge makes an event a part of a function, if it is one.
func (m *MonoLog) merge(i int, e *monolog.Event) bool {
	old := &m.Events[i]
	if old.Size != e.Size || old.Time > e.Time+monoMerge || e.Time > old.Time+monoMerge {
		return false
	}
	if e.Time >= old.Time {
		m.nameOf[i] = m.names.keep(e.Name)
	}
	old.Time = min(old.Time, e.Time)
	m.Merged++
	return true
}

// add adds a function.
func (m *MonoLog) add(e *monolog.Event, name []byte) {
	i := len(m.nameOf)
	m.nameOf = append(m.nameOf, name)
	m.places[e.Code] = i
	m.target.HighAddress = max(m.target.HighAddress, e.Code+e.Size)
	m.Events = append(m.Events, jitcode.Event{Kind: jitcode.Load, Function: i, Time: e.Time, Index: uint64(i), Addr: e.Code, Size: e.Size})
}

// helper takes in code that Mono made for itself. Of methods it tells here once more,
// without their names.
func (m *MonoLog) helper(e *monolog.Event) {
	if e.Sub == monolog.HelperMethod || e.Code == 0 || e.Size == 0 {
		return
	}
	if len(m.nameOf) >= maxMonoFunctions {
		m.full(e)
		return
	}
	if !m.checked(e) {
		return
	}
	m.add(e, m.names.helper(e))
}

// damaged makes a problem of an error. That the log ends inside a buffer is usual: its
// process was killed, or still writes.
func (m *MonoLog) damaged(err error, cost string) {
	off := int64(-1)
	var at *wire.Error
	if errors.As(err, &at) {
		off = at.Offset
	}
	if errors.Is(err, monolog.ErrCut) {
		m.Cut = max(off, m.at)
		return
	}
	m.problem(off, "%v%s", err, cost)
}

// Began returns when the log was begun: what its header says, or else its first time.
func (m *MonoLog) Began() uint64 {
	if m.header.StartupTime > 0 {
		return m.header.StartupTime
	}
	first, _ := m.Span()
	return first
}

// Span returns the times of the first and the last event about code; both are 0 if there
// is none.
func (m *MonoLog) Span() (first, last uint64) {
	for i := range m.Events {
		t := m.Events[i].Time
		if i == 0 {
			first = t
		}
		first, last = min(first, t), max(last, t)
	}
	return first, last
}

// Clock returns the clock of the log's times. It fails for those of Mono of 2010 that
// were recorded with a clock that counts something else: then nothing says when anything
// happened.
func (m *MonoLog) Clock() (Clock, error) {
	if m.header.StartupTime == 0 && m.latest < minMonoTime {
		return 0, fmt.Errorf("its times are no times, the latest is %d: it was recorded with time=null or time=fast, in the options of Mono's profiler; leave that out", m.latest)
	}
	return MonotonicClock, nil
}

// minMonoTime is how soon after the start of the machine nobody runs a program, in
// nanoseconds. time=null counts events.
const minMonoTime = 1e9

// Target returns what the log's code is made for.
func (m *MonoLog) Target() jitcode.Target { return m.target }

// SetTarget says what machine the code is for, where the log does not: machine is as
// uname(2) has it.
func (m *MonoLog) SetTarget(machine string, order binary.ByteOrder) {
	if m.target.Machine == uint32(elf.EM_NONE) {
		m.target.Machine = uint32(monoMachine(machine, m.header.PtrSize))
	}
	m.target.Order = order
}

// monoMachine returns the machine of a name, which is Mono's, or the kernel's; EM_NONE
// if nobody knows it. Programs of 32 bits run on machines of 64.
func monoMachine(name string, ptrSize uint8) elf.Machine {
	narrow := ptrSize == 4
	switch name {
	case "x86-64", "amd64", "x86_64":
		if narrow {
			return elf.EM_386
		}
		return elf.EM_X86_64
	case "x86", "i386", "i486", "i586", "i686":
		return elf.EM_386
	case "arm64", "aarch64":
		if narrow {
			return elf.EM_ARM
		}
		return elf.EM_AARCH64
	case "arm", "armv6l", "armv7l", "armv8l":
		return elf.EM_ARM
	case "ppc64", "ppc64le":
		return elf.EM_PPC64
	case "ppc":
		return elf.EM_PPC
	case "s390x", "s390":
		return elf.EM_S390
	case "riscv", "riscv64", "riscv32":
		return elf.EM_RISCV
	case "mips", "mips64":
		return elf.EM_MIPS
	case "sparc", "sparc64":
		return elf.EM_SPARCV9
	}
	return elf.EM_NONE
}
