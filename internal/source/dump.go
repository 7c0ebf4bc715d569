package source

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"

	"github.com/jitinject/jitinject/internal/jitcode"
)

// A Dump is a side file that describes JIT code, in any format. One goroutine scans it. Then any
// number of goroutines may read its functions.
type Dump interface {
	// Scan reads the part that was written since the last call. Damage becomes a Problem; the error
	// is ctx's.
	Scan(ctx context.Context) error

	// Scanned returns the findings so far. The listing belongs to the dump.
	Scanned() *Listing

	// Traits returns the properties that all dumps of the format have.
	Traits() Traits

	// SetMachine sets the machine of the recording. It must precede the first Scan.
	SetMachine(Machine)

	PID() uint32            // process in its own pid namespace, from the dump; 0 if unknown
	Clock() (Clock, error)  // clock of its times
	Target() jitcode.Target // target of its code
	NumFunctions() int      // upper bound of function numbers, in events and for a reader

	// Functions returns a new reader of the functions. Each goroutine needs its own.
	Functions() FunctionReader

	// HasCode reports whether the bytes of a function are known.
	HasCode(function int) bool

	// DeriveFrames asks for unwind tables that are derived from the functions' code.
	DeriveFrames(Surroundings)

	// Fixes returns the quirks that were fixed so far, in a fixed order.
	Fixes() []Fix
}

// Traits are the properties that all dumps of a format have.
type Traits struct {
	Kind        string // name of the format, in the summary's JSON form
	Trust       Trust  // which of several descriptions of one place counts
	ClockUnsure bool   // Clock comes from a header, and times may prove it wrong
	Images      bool   // it also lists functions in mapped files
	Registered  bool   // it lists what a process had registered at one moment
	Attached    bool   // dumps get lines from its files already: see locate.Attached
	Tidied      bool   // its file lies in a directory that is tidied or shared, such as /tmp: no place for objects
	Unchecked   bool   // jitinject verify does not check its files

	// MachineAdvice is what to do if the machine of its code is unknown; "" if a recording in a file
	// says it.
	MachineAdvice string
}

// A Trust orders the formats by their evidence. RATIONALE.md has the reasons.
type Trust int

const (
	TrustMap     Trust = iota // addresses and names, which a runtime appends or writes once
	TrustObjects              // what a process had registered for debuggers when it was read
	TrustLog                  // events of a profiler
	TrustDump                 // events with the code itself
)

// A Machine describes the machine and the process of a dump, from the recording.
type Machine struct {
	Name   string                // as in uname(2); "" if unknown
	Order  binary.ByteOrder      // of the recording
	Narrow func(pid uint32) bool // reports whether a process has 32 bits
}

// A Group is a Dump of several files.
type Group interface {
	Paths() []string // of all its files; a path may occur twice
	Bytes() int64    // total size of the files, in bytes
	Mode() uint32    // permissions that all files have
}

// A PartlyTimed is a Dump with functions that may lack a time.
type PartlyTimed interface {
	// HasTimes reports whether any function has a time.
	HasTimes() bool

	// StartAt assigns times by address, to functions without a time or with one before earliest.
	StartAt(earliest uint64, time func(addr uint64) uint64)
}

// An Offset is a PartlyTimed whose times are the recording's, by an offset that it has found.
type Offset interface {
	// Offset returns what was added to the times of the file, in nanoseconds, and how much more that may be.
	Offset() (least, width int64)
}

// Surroundings are inputs for deriving frames that the dump does not have.
type Surroundings struct {
	Interpreter *jitcode.FrameRow // frame that traces run in; nil without traces, or if unknown
	Copies      []Copy            // copies of code in the dump
}

// A Copy states that memory from Lo up to Hi holds the same code as memory from Home on. V8 maps a
// part of its program twice. It calls builtins in one mapping, and the dump lists them in the
// other.
type Copy struct{ Lo, Hi, Home uint64 }

// A FunctionReader reads the functions of a dump one by one.
type FunctionReader interface {
	// Function returns the i-th function, valid until the next call. It fails if the function
	// cannot be read again. Lesser damage becomes a Problem.
	Function(i int) (*jitcode.Function, error)

	// Targets calls f for every direct branch that leaves the i-th function. offset is the branch
	// target, counted from the function's start. Targets reads only the code, and fails if that
	// cannot be read again.
	Targets(i int, f func(offset int64)) error

	// TakeProblems returns the problems with functions since the last call.
	TakeProblems() []Problem
}

// A Tracer is a Dump of a JIT compiler that may run code in an interpreter frame. The jitdump
// format implements it.
type Tracer interface {
	// Interpreter returns the function of the program that has that frame, by its symbol, or "" if no
	// code of the dump runs in one.
	Interpreter() string

	// InterpreterFrame returns the frame of a function. ehFrame is the .eh_frame section of its program,
	// loaded at addr, and pc the function's first address.
	InterpreterFrame(ehFrame []byte, addr, pc uint64) (*jitcode.FrameRow, error)
}

// A Texter is a Dump with embedded sources. The jitdump format implements it.
type Texter interface {
	Sources() []Source
	// Text returns the text of the i-th source.
	Text(i int) (Text, error)
	PlaceSource(i int, name string)
}

// A Text writes a source text, the same text each time. It fails if the text cannot be read again,
// or with w's error.
type Text func(w io.Writer) error

// TextOf returns a text in memory.
func TextOf(text []byte) Text {
	return func(w io.Writer) error {
		_, err := w.Write(text)
		return err
	}
}

// A Listing has the findings about a side file, up to the scanned offset.
type Listing struct {
	Events   []jitcode.Event // in the order of the file
	Problems []Problem
	Dropped  int // number of problems beyond those in Problems

	// Cut is the offset of a record that the end of the file cuts, or -1. A cut is usual: the
	// producer was killed, or still writes.
	Cut int64

	// CutName is the name of the function in the cut record, if the file ends with it. Then the
	// producer wrote the name but not the code. Otherwise it is "".
	CutName string

	// Start is when its process began, by the dump's clock; 0 if it does not say.
	Start uint64

	// Watch, if not nil, is called now and then with the offset that Scan has reached.
	Watch func(offset int64)

	index *EventIndex // nil before the first use
}

// Scanned returns the listing itself.
func (l *Listing) Scanned() *Listing { return l }

// KeepEnds frees the events but the earliest and the latest.
func (l *Listing) KeepEnds() {
	if len(l.Events) <= 2 {
		return
	}
	first, last := &l.Events[0], &l.Events[0]
	for i := range l.Events {
		if e := &l.Events[i]; e.Time < first.Time {
			first = e
		} else if e.Time > last.Time {
			last = e
		}
	}
	l.Events = []jitcode.Event{*first, *last}
}

// Problem adds a problem. Beyond MaxProblems it only counts it.
func (l *Listing) Problem(off int64, format string, args ...any) {
	if len(l.Problems) == MaxProblems {
		l.Dropped++
		return
	}
	l.Problems = append(l.Problems, Problem{off, fmt.Sprintf(format, args...)})
}

// A Lean is a Dump whose functions can be read without its events.
type Lean interface {
	// DropEvents frees the events but the earliest and the latest, unless functions need them.
	DropEvents()
}

// A Splitter is a Dump that can list a part of a function's addresses. Maps can: runtimes give regions a name.
type Splitter interface {
	// Split leaves only parts of a function, in order, disjoint and at least one. Each but the first becomes a
	// further function. Their code is unknown: the rest of the function was replaced.
	Split(function int, parts []jitcode.Range)
}

// A Coder is a Dump with names and code that can be read without the rest of the functions.
type Coder interface {
	// Codes returns a function that returns the name and code of a function, valid until its next call.
	// Only one goroutine may use it.
	Codes() func(function int) (name, code []byte, err error)
}

// A Namer is a Dump of a runtime that spells names in another way in its dumps.
type Namer interface {
	// IsNamed reports whether a function has a name of another source, as far as the two tell.
	IsNamed(function int, name []byte) bool
}

// A Relocator is a Dump that knows code as it was before it was relocated.
type Relocator interface {
	// Unrelocated returns that code of a function, or nil.
	Unrelocated(function int) []byte
}

// A Lined is a Dump that tells which functions may have lines without reading them.
type Lined interface {
	// MayHaveLines reports whether a function may have lines or inlined calls. If not, it has
	// none.
	MayHaveLines(function int) bool

	// Inspect returns a reader for decisions about functions before their objects are made. It
	// counts no fixes, and may leave out unwind tables.
	Inspect() FunctionReader
}
