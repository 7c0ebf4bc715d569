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

func (j *jsonForm) begin(it item) {
	j.b = append(j.b, '{')
	j.comma, j.rows, j.held = false, j.rows[:0], false
	if it.offset >= 0 {
		j.num("offset", uint64(it.offset))
	}
	j.word("type", it.typ)
	if it.size >= 0 {
		j.num("size", uint64(it.size))
	}
	if it.timed {
		j.time("time", it.time)
	}
}

func (j *jsonForm) end() {
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

func (j *jsonForm) num(name string, v uint64) {
	j.key(name)
	j.b = strconv.AppendUint(j.b, v, 10)
}

func (j *jsonForm) signed(name string, v int64) {
	j.key(name)
	j.b = strconv.AppendInt(j.b, v, 10)
}

func (j *jsonForm) float(name string, v float64) {
	j.key(name)
	j.b = strconv.AppendFloat(j.b, v, 'f', 3, 64)
}

func (j *jsonForm) hex(name string, v uint64) {
	j.key(name)
	j.quotedHex(v)
}

func (j *jsonForm) quotedHex(v uint64) {
	j.b = append(j.b, '"')
	j.b = appendHex(j.b, v)
	j.b = append(j.b, '"')
}

func (j *jsonForm) str(name string, v []byte) {
	j.key(name)
	j.b = appendJSON(j.b, v)
}

func (j *jsonForm) word(name, v string) { j.str(name, []byte(v)) }

func (j *jsonForm) named(name string, v uint64, word string) {
	j.num(name, v)
	if word != "" {
		j.word(name+"_name", word)
	}
}

func (j *jsonForm) time(name string, ns uint64) {
	j.key(name)
	j.b = append(j.b, '"')
	j.b = appendSeconds(j.b, ns)
	j.b = append(j.b, '"')
}

func (j *jsonForm) words(name string, v []string) {
	j.array(name)
	for _, w := range v {
		j.elemWord(w)
	}
	j.endArray()
}

func (j *jsonForm) id(name string, v []byte) {
	j.key(name)
	j.b = append(j.b, '"')
	j.b = appendBytes(j.b, v)
	j.b = append(j.b, '"')
}

func (j *jsonForm) place(file []byte, line, column uint64) {
	j.str("file", file)
	if line != 0 {
		j.num("line", line)
		if column != 0 {
			j.num("column", column)
		}
	}
}

func (j *jsonForm) calledAt(file []byte, line, column uint64) {
	if line == 0 {
		return
	}
	j.str("call_file", file)
	j.num("call_line", line)
	if column != 0 {
		j.num("call_column", column)
	}
}

func (j *jsonForm) array(name string) {
	j.key(name)
	j.b = append(j.b, '[')
	j.comma = false
}

func (j *jsonForm) elem(v uint64)     { j.full(); j.separate(); j.quotedHex(v) }
func (j *jsonForm) elemNum(v uint64)  { j.full(); j.separate(); j.b = strconv.AppendUint(j.b, v, 10) }
func (j *jsonForm) elemWord(v string) { j.elemStr([]byte(v)) }
func (j *jsonForm) elemStr(v []byte)  { j.full(); j.separate(); j.b = appendJSON(j.b, v) }

// elemRange is an array of two.
func (j *jsonForm) elemRange(first, end uint64) {
	j.full()
	j.separate()
	j.b = append(j.b, '[')
	j.quotedHex(first)
	j.b = append(j.b, ',')
	j.quotedHex(end)
	j.b = append(j.b, ']')
}

func (j *jsonForm) endArray() { j.b = append(j.b, ']'); j.comma = true }

func (j *jsonForm) list(name string) {
	j.array(name)
	j.rows = append(j.rows, false)
}

func (j *jsonForm) row() {
	j.full()
	if last := len(j.rows) - 1; j.rows[last] {
		j.b = append(j.b, '}', ',')
	} else {
		j.rows[last] = true
	}
	j.b = append(j.b, '{')
	j.comma = false
}

func (j *jsonForm) at(name string, v uint64)    { j.hex(name, v) }
func (j *jsonForm) offset(v uint64)             { j.num("offset", v) }
func (j *jsonForm) title(name, v string)        { j.word(name, v) }
func (j *jsonForm) label(name string, v []byte) { j.str(name, v) }

func (j *jsonForm) depth(v uint64) { j.num("depth", v) }

func (j *jsonForm) endList() {
	last := len(j.rows) - 1
	if j.rows[last] {
		j.b = append(j.b, '}')
	}
	j.rows = j.rows[:last]
	j.endArray()
}

func (j *jsonForm) code(addr uint64, bytes []byte, text string) {
	j.hex("addr", addr)
	if j.hexed {
		j.id("bytes", bytes)
	}
	j.word("text", text)
}

func (j *jsonForm) source(text []byte) { j.str("source", text) }

func (j *jsonForm) data(name string, b []byte, _ int64) {
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
