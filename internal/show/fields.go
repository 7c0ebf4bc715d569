package show

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"sync"
)

// Fields say how the fields of a struct are printed. Codecs write them down, in tags of their structs,
// or in tables where one struct stands for records of many kinds:
//
//	CodeAddr uint64 `show:"code_addr,addr:CodeSize"`
//	KindJIT: {"method=Method,addr,known", "code_addr=Code,addr:Size", "code_size=Size", "name=Name,name"},
//
// First is the key. Numbers are decimal, and bytes are text, without one of these options:
//
//	hex            bits or an id, in hexadecimal
//	addr, addr:F   an address, in hexadecimal, that --address means; the number of bytes there is in field F
//	time           nanoseconds, in seconds
//	names:A|B      the names of the values from 0 on
//	bits:A|B       the names of the bits from 0 on
//	flag:N         bits of a number: "yes" if one of them is set
//	set            what the type's String returns, as names between |
//	machine        an ELF machine
//	id             bytes that people compare
//	len            the number of elements
//	extra          the number of bytes that no other field accounts for, unless they are padding
//	name           text that --name means
//	pid            a process, which --pid means
//	at, offset     the address, or the offset in the file, that a row begins with
//
// These say when a field is printed, and what follows it:
//
//	opt            unless it is zero or empty
//	unless:F       unless it is the same as field F
//	since:N        in versions of the format from N on
//	until:N        in versions of the format up to N
//	row:KEY        with the number of the row in its list
//	picked         of a list, only the rows that the filter is about; such a record needs one
//	known          with what [Viewer.Known] returns for it
//
// A slice of structs is a list of rows. A struct, or a pointer to one, stands for its fields.
type Fields struct{ list []field }

type field struct {
	key         string
	index       []int
	verb        string // one of the options that say how
	names       []string
	bits        uint64
	of          []int // the field of the option's argument: the size
	unless      []int
	since       int
	until       int
	row         string
	opt, known  bool
	isName, pid bool
	picked      bool
	silent      bool // no filter looks for it
}

// Table returns how the fields of a struct are printed by a table of a codec. It panics if the table
// does not fit the struct.
func Table(rec any, specs []string) *Fields {
	t := reflect.TypeOf(rec)
	fields := new(Fields)
	for _, spec := range specs {
		key, options, _ := strings.Cut(spec, ",")
		key, name, _ := strings.Cut(key, "=")
		fields.list = append(fields.list, newField(t, key, indexOf(t, name), options))
	}
	return fields
}

// tagged has the fields of types with tags.
var tagged sync.Map // of *Fields, by reflect.Type

func fieldsOf(t reflect.Type) *Fields {
	if known, ok := tagged.Load(t); ok {
		return known.(*Fields)
	}
	fields := new(Fields)
	for _, f := range reflect.VisibleFields(t) {
		if tag, ok := f.Tag.Lookup("show"); ok {
			key, options, _ := strings.Cut(tag, ",")
			fields.list = append(fields.list, newField(t, key, f.Index, options))
		}
	}
	tagged.Store(t, fields)
	return fields
}

func indexOf(t reflect.Type, name string) []int {
	f, ok := t.FieldByName(name)
	if !ok {
		panic(fmt.Sprintf("%v has no field %q", t, name))
	}
	return f.Index
}

func newField(t reflect.Type, key string, index []int, options string) field {
	f := field{key: key, index: index}
	for options != "" {
		option := ""
		option, options, _ = strings.Cut(options, ",")
		option, arg, _ := strings.Cut(option, ":")
		switch option {
		case "hex", "time", "set", "machine", "id", "len", "extra", "at", "offset":
			f.verb = option
		case "addr":
			f.verb = option
			if arg != "" {
				f.of = indexOf(t, arg)
			}
		case "names", "bits":
			f.verb, f.names = option, strings.Split(arg, "|")
		case "flag":
			f.verb, f.bits = option, uint64(number(arg))
		case "unless":
			f.unless = indexOf(t, arg)
		case "since":
			f.since = number(arg)
		case "until":
			f.until = number(arg)
		case "row":
			f.row = arg
		case "picked":
			f.picked = true
		case "opt":
			f.opt = true
		case "known":
			f.known = true
		case "name":
			f.isName = true
		case "pid":
			f.pid = true
		default:
			panic(fmt.Sprintf("%v: field %s has the option %q", t, key, option))
		}
	}
	switch kind := t.FieldByIndex(index).Type.Kind(); kind {
	case reflect.Slice, reflect.Struct, reflect.Pointer:
	default:
		f.silent = f.verb != "addr" && f.verb != "at" && !f.isName && !f.pid && !f.known
	}
	return f
}

func number(s string) int {
	n, err := strconv.ParseInt(s, 0, 32)
	if err != nil {
		panic(err)
	}
	return int(n)
}

// wants reports whether the field of a struct is printed, of some version of the format.
func (f *field) wants(x, of reflect.Value, version int) bool {
	switch {
	case f.since > version, f.until > 0 && version > f.until:
		return false
	case f.opt && (x.IsZero() || x.Kind() == reflect.Slice && x.Len() == 0):
		return false
	case f.unless != nil:
		return !x.Equal(of.FieldByIndex(f.unless))
	}
	return true
}
