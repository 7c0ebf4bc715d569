package v8

import (
	"context"
	"errors"
	"io"

	"github.com/jitinject/jitinject/internal/format/v8log"
	"github.com/jitinject/jitinject/internal/jitcode"
	"github.com/jitinject/jitinject/internal/runtime/v8/stays"
	"github.com/jitinject/jitinject/internal/source"
)

// ErrNotLog says that a file is no log of V8.
var ErrNotLog = errors.New("it is no log of V8: these begin with v8-version")

// A Log is a log of V8 as a dump of its own: it has the places, names, lines and inlined calls of code, and no
// bytes. It has no events before its process is known: see take.
type Log struct {
	source.Listing

	src     io.ReaderAt
	limit   int       // of the index's memory, in bytes
	longest uint64    // the latest time that it may have, in nanoseconds of an isolate; 0 if unknown
	index   *index    // nil before Scan
	codes   []code    // by function
	code    stays.Log // where and when codes are
	shared  bool      // several isolates wrote it at once
	target  jitcode.Target
	machine source.Machine
	memory  source.CodeMemory
	derive  bool
	sources source.Sources // the texts of scripts
}

// A code is a function of the log.
type code struct {
	prefix  string     // tag, colon and tier
	name    v8log.Span // in the log
	escaped int32      // of the name: from here on, it is escaped
	sum     uint64     // of the name: it tells whether that has changed
	key     uint64     // hash of the name, as in a dump: see stays.Code
	object  int32      // its lines and inlined calls in the index, or unknown
	load    int32      // index of its load in Events
}

var (
	_ source.Dump        = (*Log)(nil)
	_ source.WithoutCode = (*Log)(nil)
	_ source.PartlyTimed = (*Log)(nil)
	_ source.Offset      = (*Log)(nil)
	_ source.Texter      = (*Log)(nil)
	_ source.Namer       = (*Log)(nil)
)

// Open returns the log in a file, not yet scanned. It fails with ErrNotLog for another file.
func Open(src io.ReaderAt) (source.Dump, error) {
	if !v8log.IsLog(src) {
		return nil, ErrNotLog
	}
	return &Log{Listing: source.Listing{Cut: -1}, src: src, limit: maxIndex}, nil
}

// Scan reads the log. A second call does nothing, even if the log has grown.
func (l *Log) Scan(ctx context.Context) error {
	if l.index != nil {
		return nil
	}
	read := reading{ctx: ctx, src: l.src, limit: l.limit, log: l, watch: l.Watch}
	x, err := read.index()
	if ctx.Err() != nil {
		l.codes, l.code = nil, stays.Log{}
		return ctx.Err()
	}
	if err != nil {
		l.Problem(-1, "%v", err)
		l.codes, l.code, x = nil, stays.Log{}, &index{cut: -1, full: -1}
	}
	l.index, l.Cut = x, x.cut
	if x.damaged > 0 {
		l.Problem(-1, "damaged lines are left out: %d, the first: %v", x.damaged, x.damage)
	}
	if x.full >= 0 {
		l.Problem(x.full, "the logs need more than %d MiB of memory; code after this offset is left out", maxIndex>>20)
	}
	l.addTexts()
	return nil
}

// take takes the events of its code, and leaves out the functions without one. The others are numbered in the order
// of their loads.
func (l *Log) take() {
	l.Events = l.code.Events
	codes, number := make([]code, 0, len(l.codes)), make([]int, len(l.codes))
	for i := range l.Events {
		e := &l.Events[i]
		if e.Kind == jitcode.Load {
			number[e.Function] = len(codes)
			c := l.codes[e.Function]
			c.load, c.key = int32(i), l.code.Codes[e.Function].Key
			codes = append(codes, c)
		}
		e.Function = number[e.Function]
		e.Index = uint64(e.Function)
		l.target.HighAddress = max(l.target.HighAddress, e.Addr+e.Size)
	}
	l.codes = codes
	l.code = stays.Log{Offsets: l.code.Offsets, Own: l.code.Own, Unclear: l.code.Unclear}
}

// Traits returns the traits of logs.
func (l *Log) Traits() source.Traits {
	return source.Traits{Kind: Kind, Trust: source.TrustLog, Attached: true, Unchecked: true}
}

// SetMachine sets the machine of the code. It may have 64 bits more than the process: see setPID.
func (l *Log) SetMachine(machine source.Machine) {
	l.machine = machine
	l.target.Machine, l.target.Order = uint32(source.MachineOf(machine.Name, 8)), machine.Order
}

// setPID sets the process, which may have 32 bits on a machine with 64.
func (l *Log) setPID(pid uint32) {
	if l.machine.Narrow != nil && l.machine.Narrow(pid) {
		l.target.Machine = uint32(source.MachineOf(l.machine.Name, 4))
	}
}

// PID returns 0: only the name of a log has its process.
func (l *Log) PID() uint32 { return 0 }

// Clock returns a clock that does not matter: the times are the recording's.
func (l *Log) Clock() (source.Clock, error) { return source.MonotonicClock, nil }

// HasTimes returns false: no clock matters.
func (l *Log) HasTimes() bool { return false }

// StartAt does nothing.
func (l *Log) StartAt(uint64, func(addr uint64) uint64) {}

// Offset returns the least time at which an isolate of the log began, and the largest uncertainty of these.
func (l *Log) Offset() (least, width int64) {
	least = stays.Never
	for _, b := range l.code.Offsets {
		if !b.IsEmpty() {
			least, width = min(least, b.Lo), max(width, b.Width())
		}
	}
	return least, width
}

// Target returns the target of the code.
func (l *Log) Target() jitcode.Target { return l.target }

// NumFunctions returns the number of functions.
func (l *Log) NumFunctions() int { return len(l.codes) }

// Fixes returns nil.
func (l *Log) Fixes() []source.Fix { return nil }

// CodeFrom sets the sources of the functions' bytes. It must not run while functions are read.
func (l *Log) CodeFrom(sources []source.CodeSource, world source.CodeWorld) (late []int) {
	l.memory, late = source.NewCodeMemory(sources, l.Events, len(l.codes), world)
	return late
}

// DeriveFrames derives unwind tables from code for functions with known bytes. It must not run while functions
// are read.
func (l *Log) DeriveFrames(source.Surroundings) { l.derive = true }
