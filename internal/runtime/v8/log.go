package v8

import (
	"context"
	"errors"
	"io"

	"github.com/jitinject/jitinject/internal/format/v8log"
	"github.com/jitinject/jitinject/internal/jitcode"
	"github.com/jitinject/jitinject/internal/source"
)

// ErrNotLog says that a file is no log of V8.
var ErrNotLog = errors.New("it is no log of V8: these begin with v8-version")

// A Log is a log of V8 as a dump of its own: it has the places, names, lines and inlined calls of code, and no
// bytes. Its times are nanoseconds since the beginning of an isolate, until those of the recording or of a
// dump are known.
type Log struct {
	source.Listing

	src     io.ReaderAt
	limit   int    // of the index's memory, in bytes; 0 before it is known
	index   *index // nil before Scan
	codes   []code // by function
	target  jitcode.Target
	machine source.Machine
	memory  source.CodeMemory
	derive  bool
	pid     uint32         // its process, once it is known
	sources source.Sources // the texts of scripts
	timed   bool           // its times are those of a dump
	placed  bool           // its times are those of the recording
	mapped  bool           // most of its code is where the process had executable memory
}

// A code is a function of the log.
type code struct {
	prefix   string     // tag, colon and tier
	name     v8log.Span // in the log
	escaped  int32      // of the name: from here on, it is escaped
	sum      uint64     // of the name: it tells whether that has changed
	isolate  int32
	object   int32 // its lines and inlined calls in the index, or unknown
	load     int32 // index of its load in Events
	bytecode bool  // perhaps no machine code
	shared   bool  // the same in all isolates of V8: a builtin
}

var (
	_ source.Dump        = (*Log)(nil)
	_ source.WithoutCode = (*Log)(nil)
	_ source.PartlyTimed = (*Log)(nil)
	_ source.Texter      = (*Log)(nil)
)

// Open returns the log in a file, not yet scanned. It fails with ErrNotLog for another file.
func Open(src io.ReaderAt) (source.Dump, error) {
	if !v8log.IsLog(src) {
		return nil, ErrNotLog
	}
	return &Log{Listing: source.Listing{Cut: -1}, src: src}, nil
}

// Scan reads the log. A second call does nothing, even if the log has grown.
func (l *Log) Scan(ctx context.Context) error {
	if l.index != nil {
		return nil
	}
	if l.limit == 0 {
		l.limit = maxIndex
	}
	read := reading{ctx: ctx, src: l.src, limit: l.limit, log: l, watch: l.Watch}
	x, err := read.index()
	if ctx.Err() != nil {
		l.codes, l.Events = nil, nil
		return ctx.Err()
	}
	if err != nil {
		l.Problem(-1, "%v", err)
		l.codes, l.Events = nil, nil
		x = new(index)
	}
	l.index, l.Cut = x, x.cut
	if x.damaged > 0 {
		l.Problem(-1, "damaged lines are left out: %d, the first: %v", x.damaged, x.damage)
	}
	if x.full >= 0 {
		l.Problem(x.full, "it needs more than %d MiB of memory; code after this offset is left out", maxIndex>>20)
	}
	l.addTexts()
	for i := range l.Events {
		e := &l.Events[i]
		l.target.HighAddress = max(l.target.HighAddress, e.Addr+e.Size)
	}
	return nil
}

// Traits returns the traits of logs.
func (l *Log) Traits() source.Traits { return source.Traits{Kind: Kind, Unchecked: true} }

// SetMachine sets the machine of the code. It may have 64 bits more than the process: see SetPID.
func (l *Log) SetMachine(machine source.Machine) {
	l.machine = machine
	l.target.Machine, l.target.Order = uint32(source.MachineOf(machine.Name, 8)), machine.Order
}

// SetPID sets the process, which may have 32 bits on a machine with 64. It must follow SetMachine.
func (l *Log) SetPID(pid uint32) {
	if l.machine.Narrow != nil && l.machine.Narrow(pid) {
		l.target.Machine = uint32(source.MachineOf(l.machine.Name, 4))
	}
}

// PID returns 0: only the name of a log has its process.
func (l *Log) PID() uint32 { return 0 }

// Clock returns the clock of a dump's times, once the log has these.
func (l *Log) Clock() (source.Clock, error) { return source.MonotonicClock, nil }

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
