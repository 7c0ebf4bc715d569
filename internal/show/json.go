package show

import (
	"strconv"
)

// jsonForm writes an item as an object in a line. Numbers that can be large and are
// no counts (addresses, ids, bits) are strings in hexadecimal, and times strings in
// seconds: readers that have nothing but floating point lose nothing.
type jsonForm struct {
	page
	hexed bool
	comma bool   // something stands in the object or array already
	rows  []bool // of each list: whether it has a row
}

func (j *jsonForm) Begin(it Item) {
	j.b = append(j.b, '{')
	j.comma, j.rows, j.held = false, j.rows[:0], false
	if it.Offset >= 0 {
		j.Num("offset", uint64(it.Offset))
	}
	j.Word("type", it.Type)
	if it.Size >= 0 {
		j.Num("size", uint64(it.Size))
	}
	if it.Timed {
		j.Time("time", it.Time)
	}
}

func (j *jsonForm) End() {
	j.b = append(j.b, '}', '\n')
	j.full()
}

func (j *jsonForm) separate() {
	if j.comma {
		j.b = append(j.b, ',')
	}
	j.comma = true
}

func (j *jsonForm) key(name string) {
	j.separate()
	j.b = append(j.b, '"')
	j.b = append(j.b, name...)
	j.b = append(j.b, '"', ':')
}

func (j *jsonForm) Num(name string, v uint64) {
	j.key(name)
	j.b = strconv.AppendUint(j.b, v, 10)
}

func (j *jsonForm) Signed(name string, v int64) {
	j.key(name)
	j.b = strconv.AppendInt(j.b, v, 10)
}

func (j *jsonForm) Hex(name string, v uint64) {
	j.key(name)
	j.quotedHex(v)
}

func (j *jsonForm) quotedHex(v uint64) {
	j.b = append(j.b, '"')
	j.b = appendHex(j.b, v)
	j.b = append(j.b, '"')
}

func (j *jsonForm) Str(name string, v []byte) {
	j.key(name)
	j.b = appendJSON(j.b, v)
}

func (j *jsonForm) Word(name, v string) { j.Str(name, []byte(v)) }

func (j *jsonForm) Named(name string, v uint64, word string) {
	j.Num(name, v)
	if word != "" {
		j.Word(name+"_name", word)
	}
}

func (j *jsonForm) Time(name string, ns uint64) {
	j.key(name)
	j.b = append(j.b, '"')
	j.b = appendSeconds(j.b, ns)
	j.b = append(j.b, '"')
}

func (j *jsonForm) Words(name string, v []string) {
	j.Array(name)
	for _, w := range v {
		j.ElemWord(w)
	}
	j.EndArray()
}

func (j *jsonForm) ID(name string, v []byte) {
	j.key(name)
	j.b = append(j.b, '"')
	j.b = appendBytes(j.b, v)
	j.b = append(j.b, '"')
}

func (j *jsonForm) Place(file []byte, line, column uint64) {
	j.Str("file", file)
	if line != 0 {
		j.Num("line", line)
		if column != 0 {
			j.Num("column", column)
		}
	}
}

func (j *jsonForm) CalledAt(file []byte, line, column uint64) {
	if line == 0 {
		return
	}
	j.Str("call_file", file)
	j.Num("call_line", line)
	if column != 0 {
		j.Num("call_column", column)
	}
}

func (j *jsonForm) Array(name string) {
	j.key(name)
	j.b = append(j.b, '[')
	j.comma = false
}

func (j *jsonForm) Elem(v uint64) { j.full(); j.separate(); j.quotedHex(v) }

func (j *jsonForm) ElemNum(v uint64) { j.full(); j.separate(); j.b = strconv.AppendUint(j.b, v, 10) }

func (j *jsonForm) ElemWord(v string) { j.ElemStr([]byte(v)) }

func (j *jsonForm) ElemStr(v []byte) { j.full(); j.separate(); j.b = appendJSON(j.b, v) }

// ElemRange is an array of two.
func (j *jsonForm) ElemRange(first, end uint64) {
	j.full()
	j.separate()
	j.b = append(j.b, '[')
	j.quotedHex(first)
	j.b = append(j.b, ',')
	j.quotedHex(end)
	j.b = append(j.b, ']')
}

func (j *jsonForm) EndArray() { j.b = append(j.b, ']'); j.comma = true }

func (j *jsonForm) List(name string) {
	j.Array(name)
	j.rows = append(j.rows, false)
}

func (j *jsonForm) Row() {
	j.full()
	if last := len(j.rows) - 1; j.rows[last] {
		j.b = append(j.b, '}', ',')
	} else {
		j.rows[last] = true
	}
	j.b = append(j.b, '{')
	j.comma = false
}

func (j *jsonForm) At(name string, v uint64) { j.Hex(name, v) }

func (j *jsonForm) Offset(v uint64) { j.Num("offset", v) }

func (j *jsonForm) Label(name string, v []byte) { j.Str(name, v) }

func (j *jsonForm) Depth(v uint64) { j.Num("depth", v) }

func (j *jsonForm) EndList() {
	last := len(j.rows) - 1
	if j.rows[last] {
		j.b = append(j.b, '}')
	}
	j.rows = j.rows[:last]
	j.EndArray()
}

func (j *jsonForm) Code(addr uint64, bytes []byte, text string) {
	j.Hex("addr", addr)
	if j.hexed {
		j.ID("bytes", bytes)
	}
	j.Word("text", text)
}

func (j *jsonForm) Source(text []byte) { j.Str("source", text) }

func (j *jsonForm) Data(name string, b []byte, _ int64) {
	if !j.hexed {
		return
	}
	j.key(name)
	j.b = append(j.b, '"')
	for len(b) > 0 {
		n := min(len(b), pageSize)
		j.b = appendBytes(j.b, b[:n])
		j.full()
		b = b[n:]
	}
	j.b = append(j.b, '"')
}
