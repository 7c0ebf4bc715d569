package show

import (
	"fmt"
	"io"
	"strconv"
)

// A Form writes items: as text, as JSON, or, for a filter, not at all. An item has an offset in the
// file, a type, a size, maybe a time, and fields in a fixed order. A field may be a
// list of rows, which have fields again.
//
// As text, an item is a line, and rows are lines of their own below it:
//
//	0x00000028    1234.567890123  JIT_CODE_LOAD  size=123 pid=17 ...
//	    0x7f0000001000  /src/a.x:10
//
// As JSON, it is an object in a line. Numbers that can be large and are
// no counts (addresses, ids, bits) are strings in hexadecimal, and times strings in
// seconds: readers that have nothing but floating point lose nothing.
//
// A form keeps nothing of what it is given. It collects output for few large writes. After an error of writing,
// it writes nothing more, and Lost returns the error.
type Form struct {
	w     io.Writer
	b     []byte // what is not written yet
	held  bool   // the item that was begun waits for the next one, without which it is not written
	err   error
	json  bool
	hexed bool     // bytes of records are shown, too
	match *matcher // of a filter; nil for output

	long, most int // bytes of long texts so far, and how many there may be; most is 0 for any number

	begun []bool // for each list around: whether it has a row
	comma bool   // something stands in the object or array already
	rows  bool   // there have been some in the item
	tail  bool   // a list with rows has ended
}

// NewForm returns a form that writes to w, as text or as JSON, with the bytes of records if hexed.
func NewForm(w io.Writer, json, hexed bool) *Form { return &Form{w: w, json: json, hexed: hexed} }

// An Item is the head of what is shown at once.
type Item struct {
	Offset int64
	Type   string
	Size   int64 // in the file; -1 for what has none
	Time   uint64
	Timed  bool
}

// pageSize is how much is collected. What a terminal shows first is less.
const pageSize = 32 << 10

// FlushEvery is after how much of a file something of the output is to be seen.
const FlushEvery = 4 << 20

// IsText reports whether items are lines for people.
func (f *Form) IsText() bool { return !f.json }

// Flush writes what is pending.
func (f *Form) Flush() {
	if f.held {
		return
	}
	if f.err == nil && len(f.b) > 0 {
		_, f.err = f.w.Write(f.b)
	}
	f.b = f.b[:0]
}

// full writes what there is if it is much.
func (f *Form) full() {
	if len(f.b) >= pageSize {
		f.Flush()
	}
}

// Lost returns the error of writing.
func (f *Form) Lost() error { return f.err }

const typeWidth = 16

// Begin begins an item.
func (f *Form) Begin(it Item) {
	f.begun, f.comma, f.rows, f.tail, f.held = f.begun[:0], false, false, false, false
	if f.json {
		f.b = append(f.b, '{')
		if it.Offset >= 0 {
			f.Num("offset", uint64(it.Offset))
		}
		f.Word("type", it.Type)
	} else if it.Offset < 0 { // about the whole file
		f.b = append(f.b, it.Type...)
		return
	} else {
		time := ""
		if it.Timed {
			time = fmt.Sprintf("%d.%09d", it.Time/1e9, it.Time%1e9)
		}
		f.b = fmt.Appendf(f.b, "0x%08x%21s  %-*s", it.Offset, time, typeWidth, it.Type)
	}
	if it.Size >= 0 {
		f.Num("size", uint64(it.Size))
	}
	if it.Timed && f.json {
		f.Time("time", it.Time)
	}
}

// End ends an item.
func (f *Form) End() {
	if f.json {
		f.b = append(f.b, '}')
	}
	f.b = append(f.b, '\n')
	f.full()
}

// key begins a field.
func (f *Form) key(name string) {
	if f.json {
		f.separate()
		f.b = append(append(append(f.b, '"'), name...), '"', ':')
	} else {
		f.space()
		f.b = append(append(f.b, name...), '=')
	}
}

// separate writes what stands before a member or an element but the first.
func (f *Form) separate() {
	if f.comma && f.json {
		f.b = append(f.b, ',')
	} else if f.comma {
		f.b = append(f.b, ' ')
	}
	f.comma = true
}

// space writes the space before a field of text.
func (f *Form) space() {
	if f.tail {
		f.Row()
	}
	if n := len(f.b); n > 0 && f.b[n-1] != ' ' {
		f.b = append(f.b, ' ')
	}
}

// mark writes the quote around a number that is a string in JSON.
func (f *Form) mark() {
	if f.json {
		f.b = append(f.b, '"')
	}
}

// short returns a text. It cuts long ones when the output has many times the bytes of the file, because any
// number of fields may share a text.
func (f *Form) short(v []byte) []byte {
	if f.isShort(len(v)) {
		return v
	}
	return append(v[:longText:longText], "..."...)
}

const longText = 64

// isShort reports whether a text of n bytes is shown as a whole.
func (f *Form) isShort(n int) bool {
	if n <= longText {
		return true
	}
	f.long += n
	return f.most == 0 || f.long <= f.most
}

// allow bounds the long texts of a file with size bytes.
func (f *Form) allow(size int64) { f.most = 8<<20 + 16*int(size) }

func (f *Form) str(v []byte) {
	f.quoted(f.short(v))
}

func (f *Form) quoted(v []byte) {
	if f.json {
		f.b = appendJSON(f.b, v)
	} else {
		f.b = appendQuoted(f.b, v)
	}
}

func (f *Form) hex(v uint64) {
	f.mark()
	f.b = appendHex(f.b, v)
	f.mark()
}

// Num writes a count, a size, or another number that people read.
func (f *Form) Num(name string, v uint64) {
	f.key(name)
	f.b = strconv.AppendUint(f.b, v, 10)
}

// Signed writes a number with its sign.
func (f *Form) Signed(name string, v int64) {
	f.key(name)
	f.b = strconv.AppendInt(f.b, v, 10)
}

// Hex writes an address, an id or bits.
func (f *Form) Hex(name string, v uint64) {
	f.key(name)
	f.hex(v)
}

// Str writes a text from the file, escaped.
func (f *Form) Str(name string, v []byte) {
	f.key(name)
	f.str(v)
}

// Word writes a text of ours, or a name that any number of records may share: it is cut before it is
// copied.
func (f *Form) Word(name, v string) {
	if !f.isShort(len(v)) {
		v = v[:longText] + "..."
	}
	f.key(name)
	f.quoted([]byte(v))
}

// Named writes a number that has a name, which may be "".
func (f *Form) Named(name string, v uint64, word string) {
	f.Num(name, v)
	if word != "" && f.json {
		f.Word(name+"_name", word)
	} else if word != "" {
		f.b = append(append(append(f.b, '('), word...), ')')
	}
}

// Time writes nanoseconds as seconds with nine decimals.
func (f *Form) Time(name string, ns uint64) {
	f.key(name)
	f.mark()
	f.b = appendSeconds(f.b, ns)
	f.mark()
}

// ID writes bytes that people compare: a build id.
func (f *Form) ID(name string, v []byte) {
	f.key(name)
	f.mark()
	f.b = appendBytes(f.b, v)
	f.mark()
}

// Words writes words of ours.
func (f *Form) Words(name string, v []string) {
	if f.json {
		f.Array(name)
		for _, w := range v {
			f.ElemStr([]byte(w))
		}
		f.EndArray()
		return
	}
	f.key(name)
	for i, w := range v {
		if i > 0 {
			f.b = append(f.b, '|')
		}
		f.b = append(f.b, w...)
	}
	if len(v) == 0 {
		f.b = append(f.b, '0')
	}
}

// Place writes a place in source code. A line or column of 0 is unknown.
func (f *Form) Place(file []byte, line, column uint64) {
	if f.json {
		f.place("", file, line, column)
	} else {
		f.space()
		f.b = appendPlace(f.b, f.short(file), line, column)
	}
}

// CalledAt writes where an inlined call stands in its caller, unless the line is 0.
func (f *Form) CalledAt(file []byte, line, column uint64) {
	switch {
	case line == 0:
	case f.json:
		f.place("call_", file, line, column)
	default:
		f.space()
		f.b = append(f.b, "called at"...)
		f.Place(file, line, column)
	}
}

func (f *Form) place(prefix string, file []byte, line, column uint64) {
	f.Str(prefix+"file", file)
	if line != 0 {
		f.Num(prefix+"line", line)
		if column != 0 {
			f.Num(prefix+"column", column)
		}
	}
}

// Array begins an array of plain values, all in a line.
func (f *Form) Array(name string) {
	f.key(name)
	f.b = append(f.b, '[')
	f.comma = false
}

func (f *Form) next() {
	f.full()
	f.separate()
}

// Elem writes an address.
func (f *Form) Elem(v uint64) { f.next(); f.hex(v) }

// ElemNum writes a number that people read.
func (f *Form) ElemNum(v uint64) { f.next(); f.b = strconv.AppendUint(f.b, v, 10) }

// ElemStr writes a text from the file, escaped.
func (f *Form) ElemStr(v []byte) { f.next(); f.str(v) }

// ElemRange writes a range: in JSON, as an array of two.
func (f *Form) ElemRange(first, end uint64) {
	f.next()
	format := "%#x-%#x"
	if f.json {
		format = `["%#x","%#x"]`
	}
	f.b = fmt.Appendf(f.b, format, first, end)
}

// EndArray ends an array.
func (f *Form) EndArray() { f.b = append(f.b, ']'); f.comma = true }

// List begins a list of rows, each of them with fields. In text, lists in rows are indented more.
func (f *Form) List(name string) {
	if f.json {
		f.Array(name)
	}
	f.begun = append(f.begun, false)
}

// Row begins a row.
func (f *Form) Row() {
	f.full()
	last := len(f.begun) - 1
	if f.json {
		if f.begun[last] {
			f.b = append(f.b, '}', ',')
		}
		f.b = append(f.b, '{')
		f.comma = false
	} else {
		f.rows, f.tail = true, false
		f.b = append(f.b, '\n')
		for range max(last+1, 1) {
			f.b = append(f.b, "    "...)
		}
	}
	if last >= 0 {
		f.begun[last] = true
	}
}

// EndList ends a list.
func (f *Form) EndList() {
	last := len(f.begun) - 1
	if f.json {
		if f.begun[last] {
			f.b = append(f.b, '}')
		}
		f.EndArray()
	}
	f.begun = f.begun[:last]
	f.tail = !f.json && last == 0 && f.rows
}

// At writes the address that a row is about.
func (f *Form) At(name string, v uint64) {
	if f.json {
		f.Hex(name, v)
	} else {
		f.b = append(appendHex(f.b, v), ' ', ' ')
	}
}

// Offset writes where in the file, or in what is inside it, a row is.
func (f *Form) Offset(v uint64) {
	if f.json {
		f.Num("offset", v)
	} else {
		f.At("", v)
	}
}

// Label writes the name that a row is about, from the file.
func (f *Form) Label(name string, v []byte) {
	if f.json {
		f.Str(name, v)
	} else {
		f.space()
		f.str(v)
	}
}

// Depth writes the depth of a row in a tree.
func (f *Form) Depth(v uint64) {
	if f.json {
		f.Num("depth", v)
		return
	}
	for range min(v, 255) {
		f.b = append(f.b, ' ', ' ')
	}
}

// Comment begins, in text, a remark on the instructions that follow.
func (f *Form) Comment(what string) { f.b = append(append(f.b, "  ; "...), what...) }

// Raw appends text as it is.
func (f *Form) Raw(text string) { f.b = append(f.b, text...) }
