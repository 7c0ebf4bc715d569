package jitcode

import (
	"encoding/binary"
	"slices"
)

// A Kind is the kind of an Event.
type Kind uint8

// Load: code is in memory from now on. Move: loaded code has a new address from now on, and is no
// longer at the old one. Gone: from now on, it is not known what is at the code's address; Size is 0.
const (
	Load Kind = iota
	Move
	Gone
)

// An Event is one change to the code of a process. (There may be millions.)
type Event struct {
	Time     uint64 // in the source's clock: CLOCK_MONOTONIC nanoseconds for jitdump
	Index    uint64 // the producer's number for the function, not always unique
	Addr     uint64 // of the code from now on
	Size     uint64 // in bytes
	More     uint64 // Load: bytes of unwind tables in memory after the code. Move: old address of the code
	PID, TID uint32 // from the source: in the producer's own pid namespace
	Function int32  // number of the function in its source; several events may share one
	Kind     Kind
}

// A Function is one piece of JIT code, ready to be written as an object. It and its slices belong
// to the reader it came from.
type Function struct {
	Name    []byte   // from the producer, possibly mangled; no NUL
	Addr    uint64   // where it was loaded first
	Size    uint64   // of its code, in bytes
	Code    []byte   // Size bytes, or none if unknown; see HasCode
	Thumb   bool     // ARM: the code is in the T32 instruction set
	Files   []string // that Lines and Origins refer to
	Sources []string // texts of Files, by the same index; shorter, or "", for unknown or long texts
	Lines   []Line

	// Origins are the functions in Inlines. The first, if any, is the function itself.
	Origins []Origin
	Inlines []Inline // outer calls precede inner ones
	Ranges  []Range  // that Inlines refer to

	Unwind Unwind
}

// HasCode reports whether the bytes of the function's code are known. Some sources have only the
// address of a function; its bytes come from a Memory.
func (f *Function) HasCode() bool { return uint64(len(f.Code)) == f.Size }

// A Memory has the bytes at addresses of a process, from a core dump or a mapped file.
type Memory interface {
	// ReadCode fills p with the bytes at addr. On error, the content of p is undefined. Several
	// goroutines may call it at once.
	ReadCode(addr uint64, p []byte) error
}

// An Unwind has the rules for unwinding a function: from the producer, or else derived from the
// code.
type Unwind struct {
	Sent FrameTable // the other fields have the rules of code that its FDEs do not cover

	CIE     FrameCIE // common part of Rows; its Instructions are in Initial
	Initial FrameRow // row at the start of a function
	Rows    []FrameRow
}

// Empty reports whether no rule is known.
func (u *Unwind) Empty() bool {
	return len(u.Sent.FDEs) == 0 && !slices.ContainsFunc(u.Rows, func(r FrameRow) bool { return r.Known })
}

// A Line is one row of a line table. It gives the source position of the code from Offset up to the
// next row or the end of the function. Rows have strictly increasing offsets inside the function.
type Line struct {
	Offset uint64 // from the start of the function, in bytes
	File   int    // index into Files
	Line   uint32 // from 1; 0 for code without a line
	Column uint32 // from 1; 0 if unknown
}

// MaxText is the size of the longest source text in a Function, in bytes. The text is stored in the
// object of each function of the file.
const MaxText = 64 << 10

// An Origin is a source function with code at one place or several.
type Origin struct {
	Name   []byte // possibly mangled; no NUL
	File   int    // index into Files, of its declaration; -1 if unknown
	Line   uint32 // of its start, from 1; 0 if unknown
	Column uint32 // from 1; 0 if unknown
}

// An Inline is an inlined call.
type Inline struct {
	Parent int    // index of the enclosing call; -1 for a call by the function itself
	Origin int    // index of the called function
	Line   uint32 // of the call, in the file of the caller's origin; from 1, 0 if unknown
	Column uint32 // from 1; 0 if unknown

	Elsewhere bool // the call is in File, not in that of the caller's origin
	File      int  // index into Files

	// First and Last bound its code, Ranges[First:Last]: at least one range, sorted by offset. Each
	// range is inside a range of the parent. Calls with the same parent do not overlap.
	First, Last int
}

// A Range is a run of code bytes, at least one.
type Range struct {
	Offset uint64 // from the start of the function, in bytes
	Size   uint64
}

// A Target describes the machine that code is made for.
type Target struct {
	Machine     uint32 // ELF e_machine
	Order       binary.ByteOrder
	HighAddress uint64 // highest end address of code
}
