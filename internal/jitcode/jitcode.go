package jitcode

import (
	"encoding/binary"
	"slices"
)

// A Kind says what an Event is about.
type Kind uint8

// Load: code is in memory from now on. Move: code that was loaded before is
// somewhere else from now on, and no longer where it was.
const (
	Load Kind = iota
	Move
)

// An Event is one change to the code of a process.
type Event struct {
	Kind     Kind
	Function int    // which of its source's functions; several events may share one
	Time     uint64 // in the source's clock: CLOCK_MONOTONIC nanoseconds for jitdump
	PID, TID uint32 // as the source has them: in the producer's own pid namespace
	Index    uint64 // the producer's number for the function, not always unique
	Addr     uint64 // of the code from now on
	Size     uint64 // in bytes
	Tables   uint64 // bytes of unwind tables that are in memory behind the code
	OldAddr  uint64 // Move: where the code was
}

// A Function is one piece of jitted code, ready to be written as an object. It
// belongs to the reader it came from, and so do its slices.
type Function struct {
	Name    []byte   // as the producer wrote it, possibly mangled; no NUL
	Addr    uint64   // where it was loaded first
	Size    uint64   // of its code, in bytes
	Code    []byte   // Size bytes, or none where nobody knows them; see HasCode
	Thumb   bool     // ARM: the code is in the T32 instruction set
	Files   []string // that Lines and Origins refer to
	Sources []string // what Files hold, by the same index; shorter or empty where that is not known, or long
	Lines   []Line

	// What was inlined. The first of Origins, if there is any, is the function itself.
	Origins []Origin
	Inlines []Inline // each one behind the one it is in
	Ranges  []Range  // that Inlines refer to

	Unwind Unwind
}

// HasCode reports whether the bytes of the function's code are known. Some sources
// have only the place of a function, and its bytes where a Memory gives them.
func (f *Function) HasCode() bool { return uint64(len(f.Code)) == f.Size }

// A Memory gives the bytes that were at an address of a process, as a core dump or a
// file that was mapped there has them.
type Memory interface {
	// ReadCode fills p with the bytes at addr. An error says what of them is not
	// known; then what p holds does not count. It is safe for use by several goroutines.
	ReadCode(addr uint64, p []byte) error
}

// An Unwind says how an unwinder gets from a function to its caller: as the producer
// of the code says it, or else as the code shows it.
type Unwind struct {
	Sent FrameTable // has FDEs, or else the rest counts

	CIE     FrameCIE // what Rows have in common; its Instructions are Initial
	Initial FrameRow // what holds where a function begins
	Rows    []FrameRow
}

// Empty reports whether nothing is known.
func (u *Unwind) Empty() bool {
	return len(u.Sent.FDEs) == 0 && !slices.ContainsFunc(u.Rows, func(r FrameRow) bool { return r.Known })
}

// A Line is one row of a line table: from Offset on, up to the next row or the
// end of the function, code comes from this place of the source. Rows have
// strictly growing offsets inside the function.
type Line struct {
	Offset uint64 // from the start of the function, in bytes
	File   int    // index into Files
	Line   uint32 // from 1; 0 for code that comes from no line
	Column uint32 // from 1; 0 for unknown
}

// MaxText is the longest text of a source file that a Function has, in bytes: it goes
// into the object of each function of the file.
const MaxText = 64 << 10

// An Origin is a function of the source, of which code was made at one place or at
// several.
type Origin struct {
	Name   []byte // possibly mangled; no NUL
	File   int    // index into Files that it is declared in, or -1
	Line   uint32 // where it starts, from 1; 0 for unknown
	Column uint32 // from 1; 0 for unknown
}

// An Inline is a call whose code is that of the function it calls.
type Inline struct {
	Parent int    // index of the call around it, or -1 for one by the function itself
	Origin int    // index of what is called
	Line   uint32 // of the call, in the file of the caller's origin; from 1, 0 for unknown
	Column uint32 // from 1; 0 for unknown

	// Its code is Ranges[First:Last], at least one, with growing offsets. Each lies
	// in a range of the parent, and calls of one parent have no code in common.
	First, Last int
}

// A Range is a run of code bytes, at least one.
type Range struct {
	Offset uint64 // from the start of the function
	Size   uint64
}

// A Target is what code is made for.
type Target struct {
	Machine     uint32 // ELF e_machine
	Order       binary.ByteOrder
	HighAddress uint64 // the end of the code that ends last
}
