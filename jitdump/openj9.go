package jitdump

import (
	"bytes"

	"github.com/jitinject/jitinject/internal/wire"
)

// An OpenJ9Metadata is a JITINJECT_OPENJ9_METADATA. It has Eclipse OpenJ9's metadata of a compiled
// body, as in the memory of the process, and the Java methods that the metadata refers to. It
// describes the next Load of CodeAddr. See docs/formats/jitdump-extensions.md for the layout and
// its rules.
//
// Decoding only separates the parts. [OpenJ9Metadata.CheckTables] checks the tables, and package
// j9meta decodes the metadata itself.
type OpenJ9Metadata struct {
	CodeAddr    uint64       `show:"code_addr,addr"`    // of the load: start of the body's warm or cold code
	Base        uint64       `show:"base,hex"`          // address of Metadata in the process
	Metadata    []byte       `show:"metadata_size,len"` // in the byte order of the file
	PointerSize uint16       `show:"pointer_size"`      // of the process: 4 or 8
	HeaderSize  uint16       `show:"header_size"`       // of struct J9JITExceptionTable in bytes; 0 if the producer does not know it
	Methods     []JavaMethod `show:"methods"`
	Extra       []byte       `show:"extra,extra"` // padding after the strings

	strings []byte // decoded strings; written again if they still match the names
	at      openJ9Offsets
}

// A JavaMethod is a method that metadata refers to, by its address in the process.
type JavaMethod struct {
	Method    uint64        `show:"method,at"` // the J9Method*
	Class     []byte        `show:"class"`     // as in class files: java/lang/String
	Name      []byte        `show:"name"`
	Signature []byte        `show:"signature"` // (I)V; may be empty
	File      []byte        `show:"file"`      // with the directory of the package: java/lang/String.java; empty if unknown
	Flags     FunctionFlags `show:"flags,bits:user"`
	Lines     []JavaLine    `show:"lines"` // sorted by index; empty if unknown

	at [4]uint32 // offsets of class, name, signature and file in the decoded strings
}

// A JavaLine is the line of bytecodes from an index on, up to the index of the next JavaLine.
type JavaLine struct {
	ByteCodeIndex uint32 `show:"bytecode_index"`
	Line          uint32 `show:"line"` // from 1
}

// openJ9Offsets are the file offsets of a record's parts.
type openJ9Offsets struct{ methods, lines, metadata int64 }

// Sizes in bytes, and the start of the record, which distinguishes it from other producers'.
const (
	openJ9Head     = 48
	javaMethodSize = 8 + 6*4
	javaLineSize   = 2 * 4
	openJ9Magic    = 0x4A394D44 // "J9MD"
	openJ9Version  = 1
)

// Limits for a record. A body has at most some thousand inlined calls, and names of class files
// have up to 65535 bytes.
const (
	maxJavaMethods = 1 << 16
	maxJavaName    = 1<<16 - 1
)

// IsOpenJ9Metadata reports whether the record is a JITINJECT_OPENJ9_METADATA, and not another
// producer's record with the same id.
func (r *Raw) IsOpenJ9Metadata() bool {
	return r.ID == IDOpenJ9 && len(r.Body) >= 4 && r.Order.Uint32(r.Body) == openJ9Magic
}

// OpenJ9Metadata decodes a JITINJECT_OPENJ9_METADATA body.
func (r *Raw) OpenJ9Metadata() (OpenJ9Metadata, error) {
	c := r.cursor()
	var m OpenJ9Metadata
	if magic := c.U32("magic"); magic != openJ9Magic {
		c.Bad("magic", "is %#x; it is %#x in records of this kind", magic, openJ9Magic)
	}
	if v := c.U32("version"); v != openJ9Version {
		c.Bad("version", "is %d; only %d is known", v, openJ9Version)
	}
	m.CodeAddr, m.Base = c.U64("code_addr"), c.U64("base")
	size := c.U32("metadata_size")
	if m.PointerSize = c.U16("pointer_size"); m.PointerSize != 4 && m.PointerSize != 8 {
		c.Bad("pointer_size", "is %d; pointers have 4 or 8 bytes", m.PointerSize)
	}
	m.HeaderSize = c.U16("header_size")
	methods := c.U32("method_count")
	if methods > maxJavaMethods {
		c.Bad("method_count", "is %d; more than %d are implausible", methods, maxJavaMethods)
	}
	lines := c.U32("line_count")
	strings := c.U32("strings_size")
	if strings%4 != 0 {
		c.Bad("strings_size", "is %d, which is no multiple of 4", strings)
	}
	if reserved := c.U32("reserved"); reserved != 0 {
		c.Bad("reserved", "is %#x; it is 0 in version %d", reserved, openJ9Version)
	}
	m.tables(&c, methods, lines)
	m.at.metadata = c.Offset()
	m.Metadata = c.Bytes("metadata", uint64(size))
	if pad := c.Bytes("metadata", uint64(-size&7)); !allZero(pad) {
		c.Bad("metadata", "of %d bytes is followed by others than zero; zeros pad it to a multiple of 8", size)
	}
	area := c
	m.strings = c.Bytes("strings", uint64(strings))
	m.Extra = c.Rest()
	if c.Err() == nil {
		m.names(&area)
		return m, area.Err()
	}
	return m, c.Err()
}

// tables reads methods, without their names, and their lines.
func (m *OpenJ9Metadata) tables(c *wire.Cursor, methods, lines uint32) {
	m.at.methods = c.Offset()
	n := counted(c, "methods", methods, javaMethodSize)
	counts := make([]uint32, 0, n)
	sum := uint64(0)
	m.Methods = make([]JavaMethod, 0, n)
	for range n {
		j := JavaMethod{Method: c.U64("method")}
		for i := range j.at {
			j.at[i] = c.U32([...]string{"class", "name", "signature", "file"}[i])
		}
		j.Flags = FunctionFlags(c.U32("flags"))
		count := c.U32("line_count")
		if sum += uint64(count); sum > uint64(lines) {
			c.Bad("line_count", "makes %d for the methods so far; all have %d together", sum, lines)
		}
		m.Methods, counts = append(m.Methods, j), append(counts, count)
	}
	if sum < uint64(lines) {
		c.Fail("lines", "are %d, but methods have %d", lines, sum)
	}
	m.at.lines = c.Offset()
	all := make([]JavaLine, 0, counted(c, "lines", lines, javaLineSize))
	for range cap(all) {
		all = append(all, JavaLine{ByteCodeIndex: c.U32("bytecode_index"), Line: c.U32("line")})
	}
	if c.Err() != nil {
		return
	}
	for i, n := range counts {
		if n > 0 {
			m.Methods[i].Lines, all = all[:n:n], all[n:]
		}
	}
}

// names sets the strings of methods. It reads each string once, for any number of methods. c is at
// the start of the strings, and gets the error.
func (m *OpenJ9Metadata) names(c *wire.Cursor) {
	if n := len(m.strings); n > 0 && (m.strings[0] != 0 || m.strings[n-1] != 0) {
		c.Fail("strings", "do not begin with an empty one and end with a NUL")
		return
	}
	known := make(map[uint32][]byte)
	for i := range m.Methods {
		j := &m.Methods[i]
		for k, field := range j.names() {
			at := j.at[k]
			s, ok := known[at]
			if !ok {
				switch {
				case uint64(at) >= uint64(len(m.strings)):
					c.Fail("strings", "of %d bytes have none at %#x, where method %d has one", len(m.strings), at, i)
					return
				case at > 0 && m.strings[at-1] != 0:
					c.Fail("strings", "have none that begins at %#x, where method %d has one", at, i)
					return
				}
				s = m.strings[at:]
				n := bytes.IndexByte(s, 0)
				s = s[:n:n]
				if len(s) > maxJavaName {
					c.Fail("strings", "have one of %d bytes at %#x; names of class files have up to %d", len(s), at, maxJavaName)
					return
				}
				known[at] = s
			}
			*field = s
		}
	}
}

// names returns pointers to the method's strings, in the order of the record.
func (j *JavaMethod) names() [4]*[]byte {
	return [...]*[]byte{&j.Class, &j.Name, &j.Signature, &j.File}
}

// MetadataOffset returns the file offset of Metadata in a decoded record.
func (m *OpenJ9Metadata) MetadataOffset() int64 { return m.at.metadata }
