package jitelf

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"strings"
	"sync"

	"github.com/jitinject/jitinject/internal/jitcode"
)

// FormatName is the name of the format in messages.
const FormatName = "ELF object"

// An Object is an ELF object that a program registered for debuggers. Any number of goroutines may
// use it at once.
type Object struct {
	image    []byte
	order    binary.ByteOrder
	class    elf.Class
	addrSize int // 4 or 8
	kind     elf.Type
	machine  elf.Machine
	sections []section
	nowhere  uint64 // stands for addresses that the object does not have

	symbols   symbolTable
	functions []Symbol
	problems  []error
	dropped   int // problems that are not kept

	once  sync.Once
	index index // see load
}

// Open reads the headers and symbols of an object. image is the whole symfile. The object aliases
// it, so it must not change. Open fails if the headers are unreadable. Lesser damage is a problem;
// see [Object.Problems].
func Open(image []byte) (*Object, error) {
	o := &Object{image: image}
	if err := o.header(); err != nil {
		return nil, err
	}
	o.readSymbols()
	return o, nil
}

// Target returns the machine and byte order of the code, and the highest end of a function.
func (o *Object) Target() jitcode.Target {
	t := jitcode.Target{Machine: uint32(o.machine), Order: o.order}
	for i := range o.functions {
		t.HighAddress = max(t.HighAddress, o.functions[i].Addr+o.functions[i].Size)
	}
	return t
}

// AddrSize returns the size of addresses in bytes: 4 or 8.
func (o *Object) AddrSize() int { return o.addrSize }

// Functions returns the functions, sorted by address. They do not overlap. The slice belongs to the
// object.
func (o *Object) Functions() []Symbol { return o.functions }

// Problems returns the damage that concerns the object as a whole: at most maxProblems errors, and
// the number of others. It reads all debugging information. The slice belongs to the object.
func (o *Object) Problems() []error {
	o.once.Do(o.load)
	return o.problems
}

// maxProblems bounds the problems of an object that are kept.
const maxProblems = 20

// problem records damage.
func (o *Object) problem(err error) {
	if len(o.problems) == maxProblems {
		o.dropped++
		return
	}
	o.problems = append(o.problems, err)
}

// cString returns the string at an offset of a string table, without its NUL, and maxName bytes at
// most. It aliases the table. It is empty if the table has no such string.
func cString(table []byte, at uint64) []byte {
	if at >= uint64(len(table)) {
		return nil
	}
	s := table[at:]
	s = s[:min(len(s), maxName)]
	n := bytes.IndexByte(s, 0)
	if n < 0 && len(s) == maxName {
		n = maxName
	}
	if n < 0 {
		return nil
	}
	return s[:n:n]
}

// printable returns a name for messages: quoted if it has unusual characters.
func printable(name string) string {
	s := name[:min(len(name), 64)]
	if q := fmt.Sprintf("%+q", s); strings.Trim(q, `"`) != s {
		return q
	}
	return s
}
