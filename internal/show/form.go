package show

import "io"

// A form is how items are written: as text or as JSON. An item has an offset in the
// file, a type, a size, maybe a time, and fields in a fixed order. A field may be a
// list of rows, which have fields again.
//
// What a form is given may be changed afterwards. Errors of writing stick; lost
// tells of them.
type form interface {
	begin(it item)
	end()

	num(name string, v uint64)                 // a count, a size, a number that people read
	signed(name string, v int64)               //
	float(name string, v float64)              // with three decimals
	hex(name string, v uint64)                 // an address, an id, bits
	str(name string, v []byte)                 // from the file: is escaped
	word(name, v string)                       // of ours
	named(name string, v uint64, word string)  // a number that has a name, which may be ""
	time(name string, ns uint64)               // seconds with nine decimals
	words(name string, v []string)             // of ours
	id(name string, v []byte)                  // bytes that people compare: a build id
	place(file []byte, line, column uint64)    // in source code; 0 is unknown
	calledAt(file []byte, line, column uint64) // where an inlined call stands in its caller

	// An array holds plain values, all in a line.
	array(name string)
	elem(v uint64)    // an address
	elemNum(v uint64) // a number that people read
	elemWord(v string)
	elemStr(v []byte)
	elemRange(first, end uint64)
	endArray()

	// A list holds rows, each of them with fields; lists in rows are indented more.
	list(name string)
	row()
	at(name string, v uint64)    // the address that a row is about
	offset(v uint64)             // where in the file, or in what is inside it, a row is
	label(name string, v []byte) // the name that a row is about, from the file
	title(name, v string)        // that, of ours
	depth(v uint64)              // of a row in a tree
	endList()

	// code is an instruction; source, a line of the program's text in front of it.
	code(addr uint64, bytes []byte, text string)
	source(text []byte)

	// data shows bytes that are at an offset of the file.
	data(name string, b []byte, at int64)

	hold() // the item that was begun, until the next
	holds() bool
	flush() // what is pending
	lost() error
}

// An item is the head of what is shown at once.
type item struct {
	offset int64
	typ    string
	size   int64 // in the file; -1 for what has none
	time   uint64
	timed  bool
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

func (p *page) flush() {
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
		p.flush()
	}
}

func (p *page) lost() error { return p.err }
