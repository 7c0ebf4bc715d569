package source

import (
	"context"
	"encoding/binary"
	"fmt"

	"github.com/jitinject/jitinject/internal/jitcode"
)

// A Dump is a side file that tells of jitted code, whatever its format. It is scanned
// by one goroutine; then its functions are read, by as many as like to.
type Dump interface {
	// Scan reads what has been written since it was called last. What is damaged
	// becomes a Problem; the error is ctx's.
	Scan(ctx context.Context) error

	// Scanned returns what has been found so far. It belongs to the dump.
	Scanned() *Listing

	// Traits returns what holds for all dumps of its format.
	Traits() Traits

	// SetMachine says on what machine the recording was made. It comes before the first Scan.
	SetMachine(Machine)

	PID() uint32            // the process it says it is of, in that process's own pid namespace; 0 for unknown
	Clock() (Clock, error)  // of its times
	Target() jitcode.Target // what its code is made for
	NumFunctions() int      // functions' numbers, in events and for a Reader, are smaller

	// Functions returns a new reader of the functions. Each goroutine has its own.
	Functions() FunctionReader

	// DeriveFrames asks for unwind tables that are derived from the functions' code.
	DeriveFrames(Surroundings)

	// Fixes returns which quirks of its producer were repaired so far, in a fixed order.
	Fixes() []Fix
}

// Traits are what holds for all dumps of a format.
type Traits struct {
	Kind        string // the name of the format, in the summary's JSON form
	ClockUnsure bool   // Clock is what a header claims; times may prove it wrong
	Images      bool   // it also lists functions that lie in mapped files
}

// A Machine is what a recording says of the machine and the process of a dump.
type Machine struct {
	Name   string                // as uname(2) has it; "" if unknown
	Order  binary.ByteOrder      // of the recording
	Narrow func(pid uint32) bool // reports whether a process is one of 32 bits
}

// A Group is a Dump of several files.
type Group interface {
	Paths() []string // of all its files, the same one maybe twice
	Bytes() int64    // the size of these
	Mode() uint32    // permissions that all of them give
}

// A PartlyTimed is a Dump that may have functions without a time.
type PartlyTimed interface {
	// HasTimes reports whether any of them has one.
	HasTimes() bool

	// StartAt gives times, by their addresses, to functions that have none, or one before earliest.
	StartAt(earliest uint64, time func(addr uint64) uint64)
}

// Surroundings are inputs for deriving frames that are not in the dump.
type Surroundings struct {
	Interpreter *jitcode.FrameRow // frame that traces run in; nil if there are no traces, or it is unknown
	Copies      []Copy            // of code in the dump
}

// A Copy means that memory from Lo up to Hi holds the same code as memory from Home on. V8
// maps a part of its program twice: it calls builtins in one mapping, and the dump has them
// in the other.
type Copy struct{ Lo, Hi, Home uint64 }

// A FunctionReader reads the functions of a dump, one after the other.
type FunctionReader interface {
	// Function returns the i-th function, valid until the next call. It fails where
	// the function cannot be read again; less damage becomes a Problem.
	Function(i int) (*jitcode.Function, error)

	// Targets calls f for every direct branch in the i-th function that leads out of
	// it, with the offset of its target from where the function begins. Only the code
	// is read; it fails where that cannot be done again.
	Targets(i int, f func(offset int64)) error

	// TakeProblems returns what was wrong with functions since it was called last.
	TakeProblems() []Problem
}

// A Tracer is a Dump of a JIT compiler whose code may run in the frame of an
// interpreter: see Jitdump.
type Tracer interface {
	HasTraces() bool
	InterpreterFrame(ehFrame []byte, addr, pc uint64) (*jitcode.FrameRow, error)
}

// A Texter is a Dump that brings source files along: see Jitdump.
type Texter interface {
	Sources() []Source
	SourceText(i int) ([]byte, error)
	PlaceSource(i int, name string)
}

// A Listing is what has been found in a side file, as far as it was scanned.
type Listing struct {
	Events   []jitcode.Event // in the order of the file
	Problems []Problem
	Dropped  int // problems beyond those in Problems

	// Cut is the offset of a record that the end of the file cuts, or -1. That is
	// usual: the producer was killed, or still writes.
	Cut int64

	// CutName is the name of the function in that record, if the file ends with it: the
	// producer could write the name and not the code. Else it is "".
	CutName string

	// Watch, if it is not nil, is told now and then how far in the file Scan is.
	Watch func(offset int64)
}

// Scanned returns the listing itself.
func (l *Listing) Scanned() *Listing { return l }

// Problem adds a problem, unless there are many.
func (l *Listing) Problem(off int64, format string, args ...any) {
	if len(l.Problems) == MaxProblems {
		l.Dropped++
		return
	}
	l.Problems = append(l.Problems, Problem{off, fmt.Sprintf(format, args...)})
}
