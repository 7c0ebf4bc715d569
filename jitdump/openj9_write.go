package jitdump

import (
	"bytes"
	"fmt"
	"math"

	"github.com/jitinject/jitinject/internal/wire"
)

// Writing OpenJ9Metadata, and the rules of its tables.

func (m *OpenJ9Metadata) id() RecordID { return IDOpenJ9 }

func (m *OpenJ9Metadata) size() int {
	area, _ := m.area()
	return openJ9Head + javaMethodSize*len(m.Methods) + javaLineSize*m.lines() + (len(m.Metadata)+7)&^7 + len(area) + len(m.Extra)
}

func (m *OpenJ9Metadata) append(b *wire.Buffer) {
	area, at := m.area()
	b.U32(openJ9Magic)
	b.U32(openJ9Version)
	b.U64(m.CodeAddr)
	b.U64(m.Base)
	b.U32(uint32(len(m.Metadata)))
	b.U16(m.PointerSize)
	b.U16(m.HeaderSize)
	b.U32(uint32(len(m.Methods)))
	b.U32(uint32(m.lines()))
	b.U32(uint32(len(area)))
	b.U32(0)
	for i := range m.Methods {
		j := &m.Methods[i]
		b.U64(j.Method)
		for _, at := range at[i] {
			b.U32(at)
		}
		b.U32(uint32(j.Flags))
		b.U32(uint32(len(j.Lines)))
	}
	for i := range m.Methods {
		for _, l := range m.Methods[i].Lines {
			b.U32(l.ByteCodeIndex)
			b.U32(l.Line)
		}
	}
	b.Bytes(m.Metadata)
	b.Zeros(-len(m.Metadata) & 7)
	b.Bytes(area)
	b.Bytes(m.Extra)
}

// lines returns the total number of lines of all methods.
func (m *OpenJ9Metadata) lines() int {
	n := 0
	for i := range m.Methods {
		n += len(m.Methods[i].Lines)
	}
	return n
}

// area returns the strings of the record, and the offsets of each method's. It returns the decoded
// strings if they still match the methods. Otherwise it returns each string once, in the order of
// methods, padded so that the record is a multiple of 8 bytes.
func (m *OpenJ9Metadata) area() (area []byte, at [][4]uint32) {
	at = make([][4]uint32, len(m.Methods))
	if m.decodedNames(at) {
		return m.strings, at
	}
	area = []byte{0}
	known := map[string]uint32{"": 0}
	for i := range m.Methods {
		for k, s := range m.Methods[i].names() {
			off, ok := known[string(*s)]
			if !ok {
				off = uint32(len(area))
				known[string(*s)] = off
				area = append(append(area, *s...), 0)
			}
			at[i][k] = off
		}
	}
	return append(area, make([]byte, -len(area)&7)...), at
}

// decodedNames sets at to the offsets of the methods' strings in the decoded ones. It returns false
// if they do not match.
func (m *OpenJ9Metadata) decodedNames(at [][4]uint32) bool {
	if m.strings == nil {
		return false
	}
	for i := range m.Methods {
		j := &m.Methods[i]
		at[i] = j.at
		for k, s := range j.names() {
			off := uint64(j.at[k])
			end := off + uint64(len(*s))
			if end >= uint64(len(m.strings)) || !bytes.Equal(m.strings[off:end], *s) || m.strings[end] != 0 {
				return false
			}
		}
	}
	return true
}

// writable returns an error if m could not be read again.
func (m *OpenJ9Metadata) writable() error {
	switch {
	case m.PointerSize != 4 && m.PointerSize != 8:
		return fmt.Errorf("pointers of %d bytes; they have 4 or 8", m.PointerSize)
	case len(m.Methods) > maxJavaMethods:
		return fmt.Errorf("%d methods; readers accept %d", len(m.Methods), maxJavaMethods)
	case uint64(len(m.Metadata)) > math.MaxUint32-openJ9Head:
		return fmt.Errorf("%d bytes of metadata; a record holds at most 4 GiB", len(m.Metadata))
	}
	for i := range m.Methods {
		for _, s := range m.Methods[i].names() {
			if bytes.IndexByte(*s, 0) >= 0 {
				return fmt.Errorf("the name %q has a NUL in it", *s)
			}
			if len(*s) > maxJavaName {
				return fmt.Errorf("a name of %d bytes; those of class files have up to %d", len(*s), maxJavaName)
			}
		}
	}
	return nil
}

// CheckTables returns the first violation of the rules of methods and lines, as an *Error. No
// method may occur twice. Each needs a class and a name. Flags must be defined, and indexes of
// lines must increase.
func (m *OpenJ9Metadata) CheckTables() error {
	seen := make(map[uint64]int, len(m.Methods))
	line := int64(0)
	for i := range m.Methods {
		j := &m.Methods[i]
		at := m.at.methods + int64(i)*javaMethodSize
		first, twice := seen[j.Method]
		switch {
		case j.Method == 0:
			return m.fault("method", at, "is 0")
		case twice:
			return m.fault("method", at, "is %#x, as that of method %d", j.Method, first)
		case len(j.Class) == 0:
			return m.fault("class", at+8, "is empty")
		case len(j.Name) == 0:
			return m.fault("name", at+12, "is empty")
		case j.Flags&^UserFunction != 0:
			return m.fault("flags", at+24, "are %#x; only bit 0 is defined", uint32(j.Flags))
		}
		seen[j.Method] = i
		for k, l := range j.Lines {
			if k > 0 && l.ByteCodeIndex <= j.Lines[k-1].ByteCodeIndex {
				return m.fault("bytecode_index", m.at.lines+(line+int64(k))*javaLineSize, "is %d after %d in the lines of method %d; they grow", l.ByteCodeIndex, j.Lines[k-1].ByteCodeIndex, i)
			}
		}
		line += int64(len(j.Lines))
	}
	return nil
}

func (m *OpenJ9Metadata) fault(field string, at int64, format string, args ...any) error {
	return &Error{Format: FormatName, Record: IDOpenJ9.String(), Field: field, Offset: at, Text: fmt.Sprintf(format, args...)}
}
