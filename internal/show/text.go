package show

import (
	"io"
	"strconv"
	"unicode/utf8"
)

// textForm writes an item in a line, and rows in lines of their own below it.
//
//	0x00000028    1234.567890123  JIT_CODE_LOAD  size=123 pid=17 ...
//	    0x7f0000001000  /src/a.x:10
type textForm struct {
	page
	lists int  // that the row is in
	sep   bool // a space is wanted before the next element of an array
	rows  bool // there have been some in the item
	tail  bool // a list with rows has ended
	hexed bool // data is shown, too
}

const typeWidth = 16

func (t *textForm) begin(it item) {
	t.lists, t.rows, t.tail, t.held = 0, false, false, false
	if it.offset < 0 { // about the whole file
		t.b = append(t.b, it.typ...)
		return
	}
	t.b = append(t.b, '0', 'x')
	t.b = appendHexWide(t.b, uint64(it.offset), 8)
	if it.timed {
		at := len(t.b)
		t.b = appendSeconds(t.b, it.time)
		t.b = padFront(t.b, at, 21)
	} else {
		t.b = append(t.b, "                     "...)
	}
	t.b = append(t.b, ' ', ' ')
	at := len(t.b)
	t.b = append(t.b, it.typ...)
	t.b = padBehind(t.b, at, typeWidth)
	if it.size >= 0 {
		t.num("size", uint64(it.size))
	}
}

func (t *textForm) end() {
	t.b = append(t.b, '\n')
	t.full()
}

// newTextForm returns a form that writes text to w, with the bytes of records if hexed.
func newTextForm(w io.Writer, hexed bool) *textForm {
	return &textForm{page: page{w: w}, hexed: hexed}
}

// raw appends text as it is.
func (t *textForm) raw(text string) { t.b = append(t.b, text...) }

// clean appends text without what cannot be printed.
func (t *textForm) clean(text []byte) { t.b = appendClean(t.b, text) }

// quoted appends a text, as a literal of Go where it is not plain.
func (t *textForm) quoted(text []byte) { t.b = appendQuoted(t.b, text) }

// right appends a text at the right of a column of width characters.
func (t *textForm) right(text string, width int) {
	for n := utf8.RuneCountInString(text); n < width; n++ {
		t.b = append(t.b, ' ')
	}
	t.b = append(t.b, text...)
}

// release gives up holding the item that was begun last: it is written.
func (t *textForm) release() { t.held = false }

// key begins a field.
func (t *textForm) key(name string) {
	t.space()
	t.b = append(t.b, name...)
	t.b = append(t.b, '=')
}

func (t *textForm) space() {
	if t.tail {
		t.row()
	}
	if n := len(t.b); n > 0 && t.b[n-1] != ' ' {
		t.b = append(t.b, ' ')
	}
}

func (t *textForm) num(name string, v uint64) {
	t.key(name)
	t.b = strconv.AppendUint(t.b, v, 10)
}

func (t *textForm) signed(name string, v int64) {
	t.key(name)
	t.b = strconv.AppendInt(t.b, v, 10)
}

func (t *textForm) float(name string, v float64) {
	t.key(name)
	t.b = strconv.AppendFloat(t.b, v, 'f', 3, 64)
}

func (t *textForm) hex(name string, v uint64) {
	t.key(name)
	t.b = appendHex(t.b, v)
}

func (t *textForm) str(name string, v []byte) {
	t.key(name)
	t.b = appendQuoted(t.b, v)
}

func (t *textForm) word(name, v string) {
	t.key(name)
	t.b = appendQuoted(t.b, []byte(v))
}

func (t *textForm) named(name string, v uint64, word string) {
	t.num(name, v)
	if word != "" {
		t.b = append(t.b, '(')
		t.b = append(t.b, word...)
		t.b = append(t.b, ')')
	}
}

func (t *textForm) time(name string, ns uint64) {
	t.key(name)
	t.b = appendSeconds(t.b, ns)
}

func (t *textForm) words(name string, v []string) {
	t.key(name)
	for i, w := range v {
		if i > 0 {
			t.b = append(t.b, '|')
		}
		t.b = append(t.b, w...)
	}
	if len(v) == 0 {
		t.b = append(t.b, '0')
	}
}

func (t *textForm) id(name string, v []byte) {
	t.key(name)
	t.b = appendBytes(t.b, v)
}

func (t *textForm) place(file []byte, line, column uint64) {
	t.space()
	t.b = appendPlace(t.b, file, line, column)
}

func (t *textForm) calledAt(file []byte, line, column uint64) {
	if line != 0 {
		t.space()
		t.b = append(t.b, "called at"...)
		t.place(file, line, column)
	}
}

func (t *textForm) array(name string) {
	t.key(name)
	t.b = append(t.b, '[')
	t.sep = false
}

func (t *textForm) next() {
	if t.sep {
		t.b = append(t.b, ' ')
	}
	t.sep = true
	t.full()
}

func (t *textForm) elem(v uint64)     { t.next(); t.b = appendHex(t.b, v) }
func (t *textForm) elemNum(v uint64)  { t.next(); t.b = strconv.AppendUint(t.b, v, 10) }
func (t *textForm) elemWord(v string) { t.next(); t.b = append(t.b, v...) }
func (t *textForm) elemStr(v []byte)  { t.next(); t.b = appendQuoted(t.b, v) }
func (t *textForm) elemRange(first, end uint64) {
	t.elem(first)
	t.b = append(t.b, '-')
	t.b = appendHex(t.b, end)
}

func (t *textForm) endArray() { t.b = append(t.b, ']') }

func (t *textForm) list(string) { t.lists++ }

func (t *textForm) row() {
	t.full()
	t.rows, t.tail = true, false
	t.b = append(t.b, '\n')
	for range max(t.lists, 1) {
		t.b = append(t.b, "    "...)
	}
}

func (t *textForm) at(_ string, v uint64) {
	t.b = appendHex(t.b, v)
	t.b = append(t.b, ' ', ' ')
}

func (t *textForm) offset(v uint64) { t.at("", v) }

func (t *textForm) title(_, v string) {
	t.space()
	t.b = append(t.b, v...)
}

func (t *textForm) label(_ string, v []byte) {
	t.space()
	t.b = appendQuoted(t.b, v)
}

func (t *textForm) depth(v uint64) {
	for range min(v, 255) {
		t.b = append(t.b, ' ', ' ')
	}
}

func (t *textForm) endList() {
	t.lists--
	t.tail = t.lists == 0 && t.rows
}

// instructionBytes is how many bytes of an instruction stand in a line.
const instructionBytes = 8

func (t *textForm) code(addr uint64, bytes []byte, text string) {
	t.b = append(t.b, "    "...)
	at := len(t.b)
	t.b = strconv.AppendUint(t.b, addr, 16)
	t.b = padFront(t.b, at, 12)
	t.b = append(t.b, ':', ' ', ' ')
	at = len(t.b)
	for i, c := range bytes {
		if i == instructionBytes {
			break
		}
		t.b = append(t.b, hexDigits[c>>4], hexDigits[c&15], ' ')
	}
	t.b = padBehind(t.b, at, 3*instructionBytes)
	t.b = append(t.b, ' ')
	t.b = append(t.b, text...)
}

// comment begins a remark on the instructions that follow.
func (t *textForm) comment(what string) {
	t.b = append(t.b, "  ; "...)
	t.b = append(t.b, what...)
}

func (t *textForm) source(text []byte) {
	t.b = append(t.b, ' ', ' ', ' ')
	t.b = appendClean(t.b, text)
}

func (t *textForm) data(_ string, b []byte, at int64) {
	if !t.hexed {
		return
	}
	for len(b) > 0 {
		line := b[:min(16, len(b))]
		t.full()
		t.b = append(t.b, "\n    "...)
		t.b = appendHexWide(t.b, uint64(at), 8)
		t.b = append(t.b, ':', ' ')
		from := len(t.b)
		for i, c := range line {
			if i == 8 {
				t.b = append(t.b, ' ')
			}
			t.b = append(t.b, ' ', hexDigits[c>>4], hexDigits[c&15])
		}
		t.b = padBehind(t.b, from, 16*3+1)
		t.b = append(t.b, "  |"...)
		for _, c := range line {
			if c < ' ' || c > '~' {
				c = '.'
			}
			t.b = append(t.b, c)
		}
		t.b = append(t.b, '|')
		b, at = b[len(line):], at+int64(len(line))
	}
}
