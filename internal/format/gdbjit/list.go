package gdbjit

import (
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
)

// FormatName is how errors call the format.
const FormatName = "GDB JIT interface"

// Symbol is the name of the descriptor.
const Symbol = "__jit_debug_descriptor"

// Version is the only version of the interface.
const Version = 1

// Actions of a descriptor.
const (
	noAction   = 0
	Register   = 1
	Unregister = 2
)

const (
	// MaxEntries bounds the entries of a list that are read.
	MaxEntries = 1 << 18

	// MaxSymfile is the size of the largest symfile, in bytes.
	MaxSymfile = 256 << 20

	// maxProblems bounds the problems of a list that are kept.
	maxProblems = 20
)

// A Memory has the bytes at addresses of a process.
type Memory interface {
	// ReadCode fills p with the bytes at addr. On error, the content of p is undefined.
	ReadCode(addr uint64, p []byte) error
}

// ErrCycle says that a list leads back to one of its entries. Programs that follow it never end.
var ErrCycle = errors.New("it is a circle")

// An Error is a fault of the list, with its place.
type Error struct {
	Record string // descriptor or entry
	Field  string // name in GDB's manual; "" for the whole record
	Addr   uint64 // of the record in memory
	Text   string // the fault
	Err    error  // of reading the memory, ErrCycle, or nil
}

// Error returns the fault with its place.
func (e *Error) Error() string {
	s := fmt.Sprintf("%s: %s at %#x: ", FormatName, e.Record, e.Addr)
	if e.Field != "" {
		s += e.Field + ": "
	}
	return s + e.Text
}

// Unwrap returns the error of reading the memory, ErrCycle, or nil.
func (e *Error) Unwrap() error { return e.Err }

// A Layout is how a machine stores the structures.
type Layout struct {
	Order   binary.ByteOrder
	Pointer int // size of a pointer in bytes, 4 or 8
	Align   int // alignment of a number of 64 bits, in bytes
}

// LayoutOf returns the layout for programs of an ELF class, byte order and machine.
func LayoutOf(class elf.Class, order binary.ByteOrder, machine elf.Machine) Layout {
	l := Layout{Order: order, Pointer: 8, Align: 8}
	if class == elf.ELFCLASS32 {
		l.Pointer = 4
	}
	if machine == elf.EM_386 {
		l.Align = 4
	}
	return l
}

// DescriptorSize returns the size of a descriptor in bytes.
func (l Layout) DescriptorSize() int { return 8 + 2*l.Pointer }

// EntrySize returns the size of an entry in bytes, without padding after the last field.
func (l Layout) EntrySize() int { return l.sizeAt() + 8 }

// sizeAt returns the offset of symfile_size.
func (l Layout) sizeAt() int { return (3*l.Pointer + l.Align - 1) &^ (l.Align - 1) }

// pointer returns the pointer at the start of b.
func (l Layout) pointer(b []byte) uint64 {
	if l.Pointer == 4 {
		return uint64(l.Order.Uint32(b))
	}
	return l.Order.Uint64(b)
}

// A Descriptor is the variable that begins a list.
type Descriptor struct {
	Addr     uint64 `show:"addr,addr"` // of the descriptor itself
	Version  uint32 `show:"version"`
	Action   uint32 `show:"action_flag,names:none|register|unregister"`
	Relevant uint64 `show:"relevant_entry,hex"` // address of an entry, or 0
	First    uint64 `show:"first_entry,hex"`    // address of an entry, or 0
}

// Descriptor decodes a descriptor at an address. b has DescriptorSize bytes.
func (l Layout) Descriptor(addr uint64, b []byte) Descriptor {
	return Descriptor{addr, l.Order.Uint32(b), l.Order.Uint32(b[4:]), l.pointer(b[8:]), l.pointer(b[8+l.Pointer:])}
}

// Check returns the fault of a descriptor, or nil.
func (d *Descriptor) Check() error {
	switch {
	case d.Version != Version:
		return &Error{Record: "descriptor", Field: "version", Addr: d.Addr, Text: fmt.Sprintf("%d; only %d is known", d.Version, Version)}
	case d.Action > Unregister:
		return &Error{Record: "descriptor", Field: "action_flag", Addr: d.Addr, Text: fmt.Sprintf("%d; the highest is %d", d.Action, Unregister)}
	}
	return nil
}

// An Entry is an object in the list.
type Entry struct {
	Addr    uint64 `show:"addr,addr"`              // of the entry itself
	Next    uint64 `show:"next_entry,hex"`         // address of an entry, or 0
	Prev    uint64 `show:"prev_entry,hex"`         // address of an entry, or 0
	Symfile uint64 `show:"symfile_addr,addr:Size"` // address of the ELF object
	Size    uint64 `show:"symfile_size"`           // of the ELF object, in bytes
}

// Entry decodes an entry at an address. b has EntrySize bytes.
func (l Layout) Entry(addr uint64, b []byte) Entry {
	p := l.Pointer
	return Entry{addr, l.pointer(b), l.pointer(b[p:]), l.pointer(b[2*p:]), l.Order.Uint64(b[l.sizeAt():])}
}

// A List is a descriptor with its entries.
type List struct {
	Descriptor
	Entries []Entry // in the order of the list, the latest one first as a rule

	// Problems are the faults of the list. Entries are those that could be reached.
	Problems []error
	Dropped  int // number of problems beyond those in Problems
}

func (list *List) problem(err error) {
	if len(list.Problems) == maxProblems {
		list.Dropped++
		return
	}
	list.Problems = append(list.Problems, err)
}

// ReadList reads the list of the descriptor at an address: at most most entries, and MaxEntries. It fails if
// there is no descriptor. Damage of the list becomes a problem.
func ReadList(mem Memory, l Layout, addr uint64, most int) (*List, error) {
	b := make([]byte, l.DescriptorSize())
	if err := mem.ReadCode(addr, b); err != nil {
		return nil, &Error{Record: "descriptor", Addr: addr, Text: err.Error(), Err: err}
	}
	list := &List{Descriptor: l.Descriptor(addr, b)}
	if err := list.Check(); err != nil {
		return nil, err
	}
	list.read(mem, l, min(most, MaxEntries))
	return list, nil
}

// read follows the pointers from the first entry on.
func (list *List) read(mem Memory, l Layout, most int) {
	seen := make(map[uint64]bool)
	b := make([]byte, l.EntrySize())
	prev := uint64(0)
	for at := list.First; at != 0; {
		switch {
		case seen[at]:
			list.problem(&Error{Record: "entry", Field: "next_entry", Addr: prev, Text: fmt.Sprintf("%#x was in the list already: %v", at, ErrCycle), Err: ErrCycle})
			return
		case len(list.Entries) == most:
			list.problem(&Error{Record: "entry", Addr: at, Text: fmt.Sprintf("the list has more than %d entries; the others are not read", most)})
			return
		}
		seen[at] = true
		if err := mem.ReadCode(at, b); err != nil {
			list.problem(&Error{Record: "entry", Addr: at, Text: err.Error(), Err: err})
			return
		}
		e := l.Entry(at, b)
		if e.Prev != prev {
			// The list is being changed. Entries that next_entry reaches are whole.
			list.problem(&Error{Record: "entry", Field: "prev_entry", Addr: at, Text: fmt.Sprintf("%#x; the entry before it is at %#x", e.Prev, prev)})
		}
		list.Entries = append(list.Entries, e)
		prev, at = at, e.Next
	}
}

// ReadSymfile reads the object of an entry. It fails if the object is no ELF file, if its size is
// absurd, or if the memory lacks a part of it.
func ReadSymfile(mem Memory, e *Entry) ([]byte, error) {
	fail := func(field string, err error, format string, args ...any) ([]byte, error) {
		return nil, &Error{Record: "entry", Field: field, Addr: e.Addr, Text: fmt.Sprintf(format, args...), Err: err}
	}
	if e.Size < elf.EI_NIDENT || e.Size > MaxSymfile || e.Symfile+e.Size < e.Symfile {
		return fail("symfile_size", nil, "%d bytes at %#x; an ELF object has %d to %d", e.Size, e.Symfile, elf.EI_NIDENT, MaxSymfile)
	}
	var magic [len(elf.ELFMAG)]byte
	if err := mem.ReadCode(e.Symfile, magic[:]); err != nil {
		return fail("symfile_addr", err, "%v", err)
	}
	if string(magic[:]) != elf.ELFMAG {
		return fail("symfile_addr", nil, "% x at %#x does not begin an ELF object", magic, e.Symfile)
	}
	// Probe the end before the allocation: the size may be false.
	if err := mem.ReadCode(e.Symfile+e.Size-1, magic[:1]); err != nil {
		return fail("symfile_size", err, "%v", err)
	}
	image := make([]byte, e.Size)
	if err := mem.ReadCode(e.Symfile, image); err != nil {
		return fail("symfile_addr", err, "%v", err)
	}
	return image, nil
}
