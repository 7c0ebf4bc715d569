package show

import (
	"bytes"
	"fmt"
	"io"
	"reflect"
	"strings"
)

// One walk prints records: as text, as JSON, and to compare them with the filter.

// Record shows a record, a pointer to a struct, if the filter lets it through: by the tags of its
// fields, or by a table. It reports whether it did. What Viewer.Add adds stands after the fields of the
// record, and after those of each row.
func (v *Viewer) Record(it Item, rec any, table *Fields) bool {
	if it.Offset-v.flushed > FlushEvery {
		v.Out.Flush()
		v.flushed = it.Offset
	}
	if f := &v.Opts.Filter; !f.MatchesType(it.Type) || !f.MatchesTime(it.Time, it.Timed) || !v.mentions(rec, table) {
		return false
	}
	v.Out.Begin(it)
	v.Fields(v.Out, rec, table)
	v.RawBytes(it.Offset, it.Size)
	v.Out.End()
	return true
}

// Summary shows what a file is or has as a whole. A filter for anything but types leaves it out.
func (v *Viewer) Summary(it Item, rec any) {
	if !v.Opts.Filter.IsPicky() {
		v.Record(it, rec, nil)
	}
}

// RawBytes shows bytes of the file, if that is asked for.
func (v *Viewer) RawBytes(offset, size int64) {
	if !v.Opts.Hex || offset < 0 || size < 0 {
		return
	}
	src := v.Raw
	if src == nil {
		src = v.File
	}
	b := make([]byte, min(size, maxRawBytes))
	n, _ := src.ReadAt(b, offset) // a part that is gone since the first read is not shown
	v.Out.Data("hex", b[:n], offset)
}

// maxRawBytes bounds the bytes of a record that are shown.
const maxRawBytes = 16 << 20

// OfProcess says which process all of the file is about, and reports whether that one is wanted.
func (v *Viewer) OfProcess(pid uint32) bool {
	v.oneProcess = true
	return v.Opts.Filter.MatchesPID(pid)
}

// mentions reports whether a record has the process, the name and the address that are looked for.
func (v *Viewer) mentions(rec any, table *Fields) bool {
	f := &v.Opts.Filter
	if len(f.PIDs) == 0 && len(f.Names) == 0 && !f.Address.Set {
		return true
	}
	if v.matcher == nil {
		v.matcher = v.newMatcher()
	}
	m := v.matcher
	m.reset(v)
	v.Fields(&m.Form, rec, table)
	return m.found()
}

// Wants reports whether the filter looks for a record, whatever its type and time.
func (v *Viewer) Wants(rec any) bool { return v.mentions(rec, nil) }

func (v *Viewer) newMatcher() *matcher {
	m := &matcher{Form: Form{w: io.Discard, json: true}, shared: make(map[uintptr]sharedName)}
	m.match = m
	m.reset(v)
	return m
}

// reset makes a matcher look for what the filter says in another record.
func (m *matcher) reset(v *Viewer) {
	f := &v.Opts.Filter
	m.filter, m.b, m.begun = f, m.b[:0], m.begun[:0]
	m.pid, m.name, m.address = len(f.PIDs) == 0 || v.oneProcess, len(f.Names) == 0, !f.Address.Set
}

// A matcher is a form that writes nothing, and finds what the filter looks for.
type matcher struct {
	Form
	filter             *Filter
	pid, name, address bool

	shared map[uintptr]sharedName // long names by the address of their first byte
	held   int                    // bytes of these
}

// maxHeld bounds the long names that are kept, in bytes.
const maxHeld = 16 << 20

// A sharedName is a long name that records share. It stays, so no other name gets its address.
type sharedName struct {
	name   string
	wanted bool // by the filter
}

func (m *matcher) found() bool { return m.pid && m.name && m.address }

// Match says that the filter looks for the record whose fields are written to o.
func Match(o *Form) {
	if m := o.match; m != nil {
		m.name, m.address = true, true
	}
}

// Mention says that the record whose fields are written to o is about an address, too.
func Mention(o *Form, addr, size uint64) {
	if m := o.match; m != nil && addr != 0 {
		m.address = m.address || m.filter.Address.Meets(addr, size)
	}
}

// MentionName says that the record whose fields are written to o is about a name, too.
func MentionName(o *Form, name []byte) {
	if m := o.match; m != nil && len(name) > 0 {
		m.name = m.name || m.filter.MatchesName(name)
	}
}

// MentionShared is MentionName for a name that any number of records may share, and that never changes:
// it is compared once.
func MentionShared(o *Form, name string) {
	m := o.match
	if m == nil {
		return
	}
	if len(name) <= longText {
		MentionName(o, []byte(name))
		return
	}
	at := reflect.ValueOf(name).Pointer()
	shared := m.shared[at]
	if len(shared.name) != len(name) {
		if m.held += len(name); m.held > maxHeld {
			clear(m.shared)
			m.held = len(name)
		}
		shared = sharedName{name, m.filter.MatchesName([]byte(name))}
		m.shared[at] = shared
	}
	m.name = m.name || shared.wanted
}

// Matching reports whether o only looks for what the filter says: nothing needs to be computed for it
// that has no names and addresses.
func Matching(o *Form) bool { return o.match != nil }

// Fields writes the fields of a record, a pointer to a struct.
func (v *Viewer) Fields(o *Form, rec any, table *Fields) {
	v.fields(o, reflect.ValueOf(rec).Elem(), table)
}

func (v *Viewer) fields(o *Form, rec reflect.Value, table *Fields) {
	if table == nil {
		table = fieldsOf(rec.Type())
	}
	matching := Matching(o)
	for i := range table.list {
		f := &table.list[i]
		if matching && f.silent {
			continue
		}
		if x := rec.FieldByIndex(f.index); f.wants(x, rec, v.Version) {
			v.field(o, f, x, rec)
		}
	}
	if v.Add != nil {
		v.Add(o, rec.Addr().Interface())
	}
}

func (v *Viewer) field(o *Form, f *field, x, of reflect.Value) {
	switch x.Kind() {
	case reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		v.number(o, f, x, of)
	case reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64, reflect.Int:
		if f.verb == "offset" {
			o.Offset(uint64(x.Int()))
			if f.row != "" {
				o.Num(f.row, uint64(v.Row))
			}
		} else {
			o.Signed(f.key, x.Int())
		}
	case reflect.Bool:
		if x.Bool() {
			o.Word(f.key, "yes")
		}
	case reflect.String:
		v.text(o, f, []byte(x.String()))
	case reflect.Array: // of bytes, which mostly are zero
		o.ID(f.key, x.Slice(0, x.Len()).Bytes())
	case reflect.Pointer:
		if !x.IsNil() {
			v.fields(o, x.Elem(), nil)
		}
	case reflect.Struct:
		v.fields(o, x, nil)
	case reflect.Slice:
		v.slice(o, f, x)
	default:
		panic(fmt.Sprintf("%v: nothing prints %v", of.Type(), x.Kind()))
	}
}

func (v *Viewer) number(o *Form, f *field, x, of reflect.Value) {
	n := x.Uint()
	switch f.verb {
	case "addr":
		size := uint64(1)
		if f.of != nil {
			size = of.FieldByIndex(f.of).Uint()
		}
		Mention(o, n, size)
		o.Hex(f.key, n)
	case "hex":
		o.Hex(f.key, n)
	case "time":
		o.Time(f.key, n)
	case "names":
		o.Named(f.key, n, nameOf(f.names, n))
	case "set":
		var names []string
		if n != 0 {
			names = strings.Split(x.Interface().(fmt.Stringer).String(), "|")
		}
		o.Words(f.key, names)
	case "machine":
		o.Named(f.key, n, MachineName(uint32(n)))
	case "bits":
		o.Words(f.key, BitNames(n, f.names))
	case "flag":
		if n&f.bits != 0 {
			o.Word(f.key, "yes")
		}
	case "at":
		Mention(o, n, 1)
		o.At(f.key, n)
	default:
		if m := o.match; m != nil && f.pid {
			m.pid = m.pid || m.filter.MatchesPID(uint32(n))
		}
		o.Num(f.key, n)
	}
	if f.known {
		if key, name := v.Known(f.key, n); name != "" {
			MentionShared(o, name)
			o.Word(key, name)
		}
	}
}

func (v *Viewer) text(o *Form, f *field, text []byte) {
	if f.isName {
		MentionName(o, text)
	}
	if f.verb == "id" {
		o.ID(f.key, text)
	} else {
		o.Str(f.key, text)
	}
}

// slice writes bytes, a list of rows, or an array of plain values.
func (v *Viewer) slice(o *Form, f *field, x reflect.Value) {
	switch kind := x.Type().Elem().Kind(); {
	case f.verb == "len":
		o.Num(f.key, uint64(x.Len()))
		return
	case f.verb == "extra":
		if b := x.Bytes(); len(b) > 7 || len(bytes.Trim(b, "\x00")) > 0 {
			o.Num(f.key, uint64(len(b)))
		}
		return
	case kind == reflect.String: // words of ours
		o.Words(f.key, x.Interface().([]string))
		return
	case kind == reflect.Uint8:
		v.text(o, f, x.Bytes())
		return
	case kind == reflect.Struct:
		v.rows(o, f, x)
		return
	}
	o.Array(f.key)
	for i := range x.Len() {
		switch e := x.Index(i); {
		case e.Kind() == reflect.Slice:
			if f.isName {
				MentionName(o, e.Bytes())
			}
			o.ElemStr(e.Bytes())
		case f.verb == "":
			o.ElemNum(e.Uint())
		default:
			if f.verb == "addr" {
				Mention(o, e.Uint(), 1)
			}
			o.Elem(e.Uint())
		}
	}
	o.EndArray()
}

func (v *Viewer) rows(o *Form, f *field, x reflect.Value) {
	filter := &v.Opts.Filter
	picks := f.picked && (len(filter.Names) > 0 || filter.Address.Set)
	o.List(f.key)
	outer := v.Row
	var m *matcher
	if picks {
		m = v.newMatcher()
	}
	for v.Row = 0; v.Row < x.Len() && !v.Lost(); v.Row++ {
		row := x.Index(v.Row)
		if picks {
			m.reset(v)
			if v.fields(&m.Form, row, nil); !m.found() {
				continue
			}
			Match(o)
		}
		o.Row()
		v.fields(o, row, nil)
	}
	v.Row = outer
	o.EndList()
}
