package show

import (
	"io"
)

// A Form is how items are written: as text or as JSON. An item has an offset in the
// file, a type, a size, maybe a time, and fields in a fixed order. A field may be a
// list of rows, which have fields again.
//
// A form keeps nothing of what it is given. After an error of writing, it writes nothing
// more, and Lost returns the error.
type Form interface {
	Begin(it Item)
	End()

	Num(name string, v uint64)                 // a count, a size, a number that people read
	Signed(name string, v int64)               //
	Hex(name string, v uint64)                 // an address, an id, bits
	Str(name string, v []byte)                 // from the file: is escaped
	Word(name, v string)                       // of ours
	Named(name string, v uint64, word string)  // a number that has a name, which may be ""
	Time(name string, ns uint64)               // seconds with nine decimals
	Words(name string, v []string)             // of ours
	ID(name string, v []byte)                  // bytes that people compare: a build id
	Place(file []byte, line, column uint64)    // in source code; 0 is unknown
	CalledAt(file []byte, line, column uint64) // where an inlined call stands in its caller

	// An array holds plain values, all in a line.
	Array(name string)
	Elem(v uint64)    // an address
	ElemNum(v uint64) // a number that people read
	ElemWord(v string)
	ElemStr(v []byte)
	ElemRange(first, end uint64)
	EndArray()

	// A list holds rows, each of them with fields; lists in rows are indented more.
	List(name string)
	Row()
	At(name string, v uint64)    // the address that a row is about
	Offset(v uint64)             // where in the file, or in what is inside it, a row is
	Label(name string, v []byte) // the name that a row is about, from the file
	Depth(v uint64)              // of a row in a tree
	EndList()

	// Code is an instruction; Source, a line of the program's text before it.
	Code(addr uint64, bytes []byte, text string)
	Source(text []byte)

	// Data is bytes at an offset of the file, if bytes are wanted.
	Data(name string, b []byte, at int64)

	hold() // the item that was begun, until the next
	holds() bool
	Flush() // what is pending
	Lost() error
}

// An Item is the head of what is shown at once.
type Item struct {
	Offset int64
	Type   string
	Size   int64 // in the file; -1 for what has none
	Time   uint64
	Timed  bool
}

// A page collects output for few large writes.
type page struct {
	w    io.Writer
	b    []byte
	held bool // nothing is written before the next item
	err  error
}

// pageSize is how much is collected. What a terminal shows first is less.
const pageSize = 32 << 10

// hold keeps the item that was begun until there is another; without one, it is not
// written at all.
func (p *page) hold() { p.held = true }

// holds reports whether that is so.
func (p *page) holds() bool { return p.held }

func (p *page) Flush() {
	if p.held {
		return
	}
	if p.err == nil && len(p.b) > 0 {
		_, p.err = p.w.Write(p.b)
	}
	p.b = p.b[:0]
}

// full writes what there is if it is much.
func (p *page) full() {
	if len(p.b) >= pageSize {
		p.Flush()
	}
}

func (p *page) Lost() error { return p.err }

// FlushEvery is after how much of a file something of the output is to be seen.
const FlushEvery = 4 << 20
