package show

import (
	"io"
	"strconv"
)

// TextForm writes an item in a line, and rows in lines of their own below it.
//
//	0x00000028    1234.567890123  JIT_CODE_LOAD  size=123 pid=17 ...
//	    0x7f0000001000  /src/a.x:10
type TextForm struct {
	page
	lists int  // that the row is in
	sep   bool // a space is wanted before the next element of an array
	rows  bool // there have been some in the item
	tail  bool // a list with rows has ended
	hexed bool // data is shown, too
}

const typeWidth = 16

func (t *TextForm) Begin(it Item) {
	t.lists, t.rows, t.tail, t.held = 0, false, false, false
	if it.Offset < 0 { // about the whole file
		t.b = append(t.b, it.Type...)
		return
	}
	t.b = append(t.b, '0', 'x')
	t.b = appendHexWide(t.b, uint64(it.Offset), 8)
	if it.Timed {
		at := len(t.b)
		t.b = appendSeconds(t.b, it.Time)
		t.b = padFront(t.b, at, 21)
	} else {
		t.b = append(t.b, "                     "...)
	}
	t.b = append(t.b, ' ', ' ')
	at := len(t.b)
	t.b = append(t.b, it.Type...)
	t.b = padBehind(t.b, at, typeWidth)
	if it.Size >= 0 {
		t.Num("size", uint64(it.Size))
	}
}

func (t *TextForm) End() {
	t.b = append(t.b, '\n')
	t.full()
}

// NewTextForm returns a form that writes text to w, with the bytes of records if hexed.
func NewTextForm(w io.Writer, hexed bool) *TextForm {
	return &TextForm{page: page{w: w}, hexed: hexed}
}

// Raw appends text as it is.
func (t *TextForm) Raw(text string) { t.b = append(t.b, text...) }

// Key begins a field.
func (t *TextForm) Key(name string) {
	t.space()
	t.b = append(t.b, name...)
	t.b = append(t.b, '=')
}

func (t *TextForm) space() {
	if t.tail {
		t.Row()
	}
	if n := len(t.b); n > 0 && t.b[n-1] != ' ' {
		t.b = append(t.b, ' ')
	}
}

func (t *TextForm) Num(name string, v uint64) {
	t.Key(name)
	t.b = strconv.AppendUint(t.b, v, 10)
}

func (t *TextForm) Signed(name string, v int64) {
	t.Key(name)
	t.b = strconv.AppendInt(t.b, v, 10)
}

func (t *TextForm) Hex(name string, v uint64) {
	t.Key(name)
	t.b = appendHex(t.b, v)
}

func (t *TextForm) Str(name string, v []byte) {
	t.Key(name)
	t.b = appendQuoted(t.b, v)
}

func (t *TextForm) Word(name, v string) {
	t.Key(name)
	t.b = appendQuoted(t.b, []byte(v))
}

func (t *TextForm) Named(name string, v uint64, word string) {
	t.Num(name, v)
	if word != "" {
		t.b = append(t.b, '(')
		t.b = append(t.b, word...)
		t.b = append(t.b, ')')
	}
}

func (t *TextForm) Time(name string, ns uint64) {
	t.Key(name)
	t.b = appendSeconds(t.b, ns)
}

func (t *TextForm) Words(name string, v []string) {
	t.Key(name)
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

func (t *TextForm) ID(name string, v []byte) {
	t.Key(name)
	t.b = appendBytes(t.b, v)
}

func (t *TextForm) Place(file []byte, line, column uint64) {
	t.space()
	t.b = appendPlace(t.b, file, line, column)
}

func (t *TextForm) CalledAt(file []byte, line, column uint64) {
	if line != 0 {
		t.space()
		t.b = append(t.b, "called at"...)
		t.Place(file, line, column)
	}
}

func (t *TextForm) Array(name string) {
	t.Key(name)
	t.b = append(t.b, '[')
	t.sep = false
}

func (t *TextForm) next() {
	if t.sep {
		t.b = append(t.b, ' ')
	}
	t.sep = true
	t.full()
}

func (t *TextForm) Elem(v uint64) { t.next(); t.b = appendHex(t.b, v) }

func (t *TextForm) ElemNum(v uint64) { t.next(); t.b = strconv.AppendUint(t.b, v, 10) }

func (t *TextForm) ElemWord(v string) { t.next(); t.b = append(t.b, v...) }

func (t *TextForm) ElemStr(v []byte) { t.next(); t.b = appendQuoted(t.b, v) }

func (t *TextForm) ElemRange(first, end uint64) {
	t.Elem(first)
	t.b = append(t.b, '-')
	t.b = appendHex(t.b, end)
}

func (t *TextForm) EndArray() { t.b = append(t.b, ']') }

func (t *TextForm) List(string) { t.lists++ }

func (t *TextForm) Row() {
	t.full()
	t.rows, t.tail = true, false
	t.b = append(t.b, '\n')
	for range max(t.lists, 1) {
		t.b = append(t.b, "    "...)
	}
}

func (t *TextForm) At(_ string, v uint64) {
	t.b = appendHex(t.b, v)
	t.b = append(t.b, ' ', ' ')
}

func (t *TextForm) Offset(v uint64) { t.At("", v) }

func (t *TextForm) Label(_ string, v []byte) {
	t.space()
	t.b = appendQuoted(t.b, v)
}

func (t *TextForm) Depth(v uint64) {
	for range min(v, 255) {
		t.b = append(t.b, ' ', ' ')
	}
}

func (t *TextForm) EndList() {
	t.lists--
	t.tail = t.lists == 0 && t.rows
}

// instructionBytes is how many bytes of an instruction stand in a line.
const instructionBytes = 8

func (t *TextForm) Code(addr uint64, bytes []byte, text string) {
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

// Comment begins a remark on the instructions that follow.
func (t *TextForm) Comment(what string) {
	t.b = append(t.b, "  ; "...)
	t.b = append(t.b, what...)
}

func (t *TextForm) Source(text []byte) {
	t.b = append(t.b, ' ', ' ', ' ')
	t.b = appendClean(t.b, text)
}

func (t *TextForm) Data(_ string, b []byte, at int64) {
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
