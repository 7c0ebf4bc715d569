package xrayfdr

import "fmt"

// A Fix is a way in which files of real runtimes differ from the document,
// or files from whole ones, and which the reader sets right.
type Fix uint8

const (
	// CarriedTSC: a block without NewCPUId (LLVM 5) goes on from the last TSC of
	// its thread's block before.
	CarriedTSC Fix = iota
	// LostTSC: a block without NewCPUId, and without a block before it. Its TSC
	// counts from 0.
	LostTSC
	// PlainArguments: CallArgument after Enter instead of EnterArgs. Counted once
	// for each argument.
	PlainArguments
	// WideThreadID: a thread id that needs more than the two bytes of the document.
	WideThreadID
	// ReservedBytes: a record with garbage in bytes that mean nothing.
	ReservedBytes
	// NoEndOfBuffer: a block of version 1 that ends without EndOfBuffer.
	NoEndOfBuffer
	// LateEndOfBuffer: EndOfBuffer in a version that has none.
	LateEndOfBuffer
	// NoPID: a block of version 3 or later without PidEntry.
	NoPID
	// CutRecord: a block with an incomplete last record, as its extents are too
	// small.
	CutRecord
	// TypedExtents: a block with extents that do not count the markers of its typed
	// events (LLVM 14), so that its last 16 bytes for each are not in the file. It
	// is noticed where that cuts a record, and believed of all later blocks with
	// typed events. See Reader.Missing.
	TypedExtents
	// CutFile: the file ends inside a block.
	CutFile
	// WrongExtents: a block that ends before its extents say so, as the next one
	// begins there.
	WrongExtents
	// Searched: a block was found by searching, as it did not begin where the one
	// before it ends.
	Searched

	numFixes
)

var fixNames = [numFixes]string{
	"buffer without NewCPUId", "buffer without NewCPUId and nothing before", "arguments after a plain entry",
	"thread id of four bytes", "garbage in reserved bytes", "no EndOfBuffer", "EndOfBuffer in a later version", "no PidEntry",
	"record cut by the buffer's end",
	"buffer extents without the markers of typed events", "file ends inside a buffer", "wrong buffer extents", "buffer found by searching",
}

// String returns a short name in plain words.
func (r Fix) String() string {
	if int(r) < len(fixNames) {
		return fixNames[r]
	}
	return fmt.Sprintf("Repair(%d)", uint8(r))
}

// Fixes counts repairs, indexed by Fix.
type Fixes [numFixes]uint64

// Add adds the counts of other.
func (r *Fixes) Add(other *Fixes) {
	for i, n := range other {
		r[i] += n
	}
}

// Any says whether there was anything to repair. Garbage in reserved bytes and
// wide thread ids do not count: they are harmless, and the rule.
func (r *Fixes) Any() bool {
	for i, n := range r {
		if n != 0 && Fix(i) != ReservedBytes && Fix(i) != WideThreadID {
			return true
		}
	}
	return false
}
