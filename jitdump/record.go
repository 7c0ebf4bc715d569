package jitdump

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"iter"
	"unicode"
	"unicode/utf8"

	"github.com/jitinject/jitinject/internal/wire"
)

// A RecordID is the type of a record.
type RecordID uint32

// The records of the specification, version 2.
const (
	IDLoad      RecordID = 0
	IDMove      RecordID = 1
	IDDebugInfo RecordID = 2
	IDClose     RecordID = 3
	IDUnwinding RecordID = 4
)

// Records beyond the specification; see docs/formats/jitdump-extensions.txt.
const (
	IDDebugInfo2     RecordID = 827346259
	IDTier           RecordID = 827346260
	IDEmbeddedSource RecordID = 827346261
	IDOpenJ9         RecordID = 827346262
)

var specified = [...]string{
	IDLoad:      "JIT_CODE_LOAD",
	IDMove:      "JIT_CODE_MOVE",
	IDDebugInfo: "JIT_CODE_DEBUG_INFO",
	IDClose:     "JIT_CODE_CLOSE",
	IDUnwinding: "JIT_CODE_UNWINDING_INFO",
}

var recordNames = map[RecordID]string{
	IDDebugInfo2:     "SAMPLY_JIT_CODE_DEBUG_INFO2",
	IDTier:           "SAMPLY_JIT_TIER",
	IDEmbeddedSource: "SAMPLY_EMBEDDED_SOURCE_FILE",
	IDOpenJ9:         "JITINJECT_OPENJ9_METADATA",
}

// String returns the specification's name, or "record type N".
func (id RecordID) String() string {
	if id <= IDUnwinding { // without a map lookup: every cursor needs the name
		return specified[id]
	}
	if name, ok := recordNames[id]; ok {
		return name
	}
	return fmt.Sprintf("record type %d", uint32(id))
}

// known reports whether this package has a type for such records.
func (id RecordID) known() bool {
	return id <= IDUnwinding || id >= IDDebugInfo2 && id <= IDOpenJ9
}

// A Raw is a framed record with an undecoded body.
type Raw struct {
	ID        RecordID
	Timestamp uint64
	Offset    int64  // of the prefix in the file
	Body      []byte // bytes after the prefix
	Order     binary.ByteOrder

	// Missized is the difference between the announced and the real length of the record, in bytes.
	// It is not 0 only in some JIT_CODE_DEBUG_INFO of V8 15. A Reader sets it.
	Missized int64
}

// Size returns the record's length in the file, prefix included.
func (r *Raw) Size() int64 { return prefixSize + int64(len(r.Body)) }

func (r *Raw) cursor() wire.Cursor {
	return wire.NewCursor(FormatName, r.ID.String(), r.Body, r.Order, r.Offset+prefixSize)
}

// A Record is a decoded body: *Load, *Move, *DebugInfo, *Close, *Unwinding, one of the extensions
// *DebugInfo2, *Tier, *EmbeddedSource and *OpenJ9Metadata, or *Unknown. Its byte
// slices alias its Raw.
type Record interface {
	id() RecordID
	size() int // of the body
	append(*wire.Buffer)
}

// Decode returns the body as the type of its id. An inconsistent body gives an *Error with the
// field and offset. But a malformed tier, source file or metadata of OpenJ9 counts as another
// producer's record, and is returned as *Unknown.
func (r *Raw) Decode() (Record, error) {
	var rec Record
	var err error
	switch r.ID {
	case IDLoad:
		rec, err = decoded(r.Load())
	case IDMove:
		rec, err = decoded(r.Move())
	case IDDebugInfo:
		rec, err = decoded(r.DebugInfo())
	case IDClose:
		rec = &Close{Extra: r.Body}
	case IDUnwinding:
		rec, err = decoded(r.Unwinding())
	case IDDebugInfo2:
		info := new(DebugInfo2)
		rec, err = info, r.DebugInfo2(info)
	case IDTier:
		if t, terr := r.Tier(); terr == nil {
			rec = &t
		} else {
			rec = &Unknown{ID: r.ID, Body: r.Body}
		}
	case IDEmbeddedSource:
		if s, serr := r.EmbeddedSource(); serr == nil {
			rec = &s
		} else {
			rec = &Unknown{ID: r.ID, Body: r.Body}
		}
	case IDOpenJ9:
		if r.IsOpenJ9Metadata() {
			rec, err = decoded(r.OpenJ9Metadata())
		} else {
			rec = &Unknown{ID: r.ID, Body: r.Body}
		}
	default:
		rec = &Unknown{ID: r.ID, Body: r.Body}
	}
	if err != nil {
		return nil, err
	}
	return rec, nil
}

func decoded[T any](v T, err error) (*T, error) { return &v, err }

// A Load means that a function's code is in memory from its timestamp on.
type Load struct {
	PID       uint32 `show:"pid,pid"`
	TID       uint32 `show:"tid"`
	VMA       uint64 `show:"vma,hex,unless:CodeAddr"` // should equal CodeAddr; LLVM writes 0
	CodeAddr  uint64 `show:"code_addr,addr:CodeSize"`
	CodeSize  uint64 `show:"code_size"`  // in bytes; a function may be empty
	CodeIndex uint64 `show:"code_index"` // identifies the function in later moves
	Name      []byte `show:"name,name"`
	Extra     []byte `show:"extra,extra"` // between the name's NUL and the code, usually empty
	Code      []byte // CodeSize bytes, or none: see Load.LacksCode
}

// LacksCode reports whether the record lacks the bytes of its code. .NET omits them for blocks of
// stubs, which need not be in memory yet (perfjitdump.cpp of .NET 11, and of 10.0 from 10.0.12 on):
// the record ends at the NUL of the name.
func (l *Load) LacksCode() bool { return len(l.Code) == 0 && l.CodeSize > 0 }

// loadHead is the length of a Load's fields before the name, in bytes.
const loadHead = 2*4 + 4*8

// Load decodes a JIT_CODE_LOAD body. The code is the last code_size bytes of the record, wherever
// the name ends, as in perf. A record that ends with the name has no code. Then the name must be
// text, and the function must not be larger than a record can be.
func (r *Raw) Load() (Load, error) {
	c := r.cursor()
	l := Load{
		PID:       c.U32("pid"),
		TID:       c.U32("tid"),
		VMA:       c.U64("vma"),
		CodeAddr:  c.U64("code_addr"),
		CodeSize:  c.U64("code_size"),
		CodeIndex: c.U64("code_index"),
		Name:      c.CString("name"),
	}
	switch left := uint64(c.Len()); {
	case left == 0 && l.CodeSize <= MaxRecord && isText(l.Name):
	case l.CodeSize > left && l.CodeSize <= left+uint64(len(l.Name)):
		c.Fail("code", "code_size is %d, but %d bytes of the record are left; the name before them may lack its NUL", l.CodeSize, left)
	case l.CodeSize > left:
		c.Fail("code", "code_size is %d, but %d bytes of the record are left", l.CodeSize, left)
	default:
		l.Extra = c.Bytes("", left-l.CodeSize)
	}
	l.Code = c.Rest()
	return l, c.Err()
}

// isText reports whether b is UTF-8 without control characters. Code after a name without a NUL
// hardly ever is.
func isText(b []byte) bool {
	return len(b) > 0 && utf8.Valid(b) && bytes.IndexFunc(b, unicode.IsControl) < 0
}

func (l *Load) id() RecordID { return IDLoad }
func (l *Load) size() int    { return loadHead + len(l.Name) + 1 + len(l.Extra) + len(l.Code) }
func (l *Load) append(b *wire.Buffer) {
	b.U32(l.PID)
	b.U32(l.TID)
	b.U64(l.VMA)
	b.U64(l.CodeAddr)
	if l.LacksCode() {
		b.U64(l.CodeSize)
	} else {
		b.U64(uint64(len(l.Code)))
	}
	b.U64(l.CodeIndex)
	b.Bytes(l.Name)
	b.U8(0)
	b.Bytes(l.Extra)
	b.Bytes(l.Code)
}

// A Move means that the code of an earlier Load has a new address.
type Move struct {
	PID         uint32 `show:"pid,pid"`
	TID         uint32 `show:"tid"`
	VMA         uint64 `show:"vma,hex,unless:NewCodeAddr"`
	OldCodeAddr uint64 `show:"old_code_addr,addr:CodeSize"`
	NewCodeAddr uint64 `show:"new_code_addr,addr:CodeSize"`
	CodeSize    uint64 `show:"code_size"`
	CodeIndex   uint64 `show:"code_index"`
	Extra       []byte `show:"extra,extra"` // after the last field, usually empty
}

// Move decodes a JIT_CODE_MOVE body.
func (r *Raw) Move() (Move, error) {
	c := r.cursor()
	m := Move{
		PID:         c.U32("pid"),
		TID:         c.U32("tid"),
		VMA:         c.U64("vma"),
		OldCodeAddr: c.U64("old_code_addr"),
		NewCodeAddr: c.U64("new_code_addr"),
		CodeSize:    c.U64("code_size"),
		CodeIndex:   c.U64("code_index"),
	}
	m.Extra = c.Rest()
	return m, c.Err()
}

func (m *Move) id() RecordID { return IDMove }
func (m *Move) size() int    { return 2*4 + 5*8 + len(m.Extra) }
func (m *Move) append(b *wire.Buffer) {
	b.U32(m.PID)
	b.U32(m.TID)
	b.U64(m.VMA)
	b.U64(m.OldCodeAddr)
	b.U64(m.NewCodeAddr)
	b.U64(m.CodeSize)
	b.U64(m.CodeIndex)
	b.Bytes(m.Extra)
}

// A DebugInfo has the source lines of a function with a later Load.
type DebugInfo struct {
	CodeAddr uint64 `show:"code_addr,addr"` // of the function
	Count    uint64 `show:"nr_entry"`       // number of entries, as written: not reliable
	Area     []byte // the entries and their padding, undecoded

	order  binary.ByteOrder
	offset int64 // of Area in the file
}

// A DebugEntry is one row of a line table: from Addr up to the next entry.
type DebugEntry struct {
	Addr    uint64
	Line    uint32 // from 1; 0 for none
	Discrim uint32 // V8 writes columns here, from 1
	Name    []byte // of the source file; RepeatName means that of the entry before
}

// RepeatName as a file name means the previous entry's name.
const RepeatName = "\xff"

// DebugEntryHead is the length of a DebugEntry's fields before the name, in bytes.
const DebugEntryHead = 8 + 4 + 4

// DebugInfo decodes the head of a JIT_CODE_DEBUG_INFO body. Entries decodes the rest.
func (r *Raw) DebugInfo() (DebugInfo, error) {
	c := r.cursor()
	d := DebugInfo{CodeAddr: c.U64("code_addr"), Count: c.U64("nr_entry"), order: r.Order}
	d.offset = c.Offset()
	d.Area = c.Rest()
	return d, c.Err()
}

// Entries yields the entries in order, and last an error if the area ends before Count entries.
func (d *DebugInfo) Entries() iter.Seq2[DebugEntry, error] {
	return func(yield func(DebugEntry, error) bool) {
		area := d.Area
		for range d.Count {
			end := -1
			if len(area) > DebugEntryHead {
				end = bytes.IndexByte(area[DebugEntryHead:], 0)
			}
			if end < 0 {
				yield(DebugEntry{}, d.cut(area))
				return
			}
			e := DebugEntry{
				Addr:    d.order.Uint64(area),
				Line:    d.order.Uint32(area[8:]),
				Discrim: d.order.Uint32(area[12:]),
				Name:    area[DebugEntryHead:][:end:end],
			}
			area = area[DebugEntryHead+end+1:]
			if !yield(e, nil) {
				return
			}
		}
	}
}

// cut returns the error of the entry at the start of area, which ends in it.
func (d *DebugInfo) cut(area []byte) error {
	c := wire.NewCursor(FormatName, IDDebugInfo.String(), area, d.order, d.offset+int64(len(d.Area)-len(area)))
	c.U64("addr")
	c.U32("line")
	c.U32("discrim")
	c.CString("name")
	return c.Err()
}

// NewDebugInfo returns a record with the given entries, padded to a multiple of
// 8 bytes as most producers do.
func NewDebugInfo(order binary.ByteOrder, codeAddr uint64, entries []DebugEntry) *DebugInfo {
	b := wire.NewBuffer(order)
	for _, e := range entries {
		b.U64(e.Addr)
		b.U32(e.Line)
		b.U32(e.Discrim)
		b.Bytes(e.Name)
		b.U8(0)
	}
	b.Align(8)
	return &DebugInfo{CodeAddr: codeAddr, Count: uint64(len(entries)), Area: b.Data, order: b.Order()}
}

func (d *DebugInfo) id() RecordID { return IDDebugInfo }
func (d *DebugInfo) size() int    { return 2*8 + len(d.Area) }
func (d *DebugInfo) append(b *wire.Buffer) {
	b.U64(d.CodeAddr)
	b.U64(d.Count)
	b.Bytes(d.Area)
}

// A Close marks the end of the producer's work. Records of another thread or of a forked child may
// still follow it.
type Close struct {
	Extra []byte `show:"extra,extra"` // usually empty
}

func (c *Close) id() RecordID          { return IDClose }
func (c *Close) size() int             { return len(c.Extra) }
func (c *Close) append(b *wire.Buffer) { b.Bytes(c.Extra) }

// An Unwinding has the unwind tables of a function with a later Load.
//
// In the specification, the header (.eh_frame_hdr) precedes the frames (.eh_frame). In V8, CPython
// and perf it follows them. Data has the bytes as they are.
type Unwinding struct {
	Data       []byte `show:"unwind_data_size,len"`
	HeaderSize uint64 `show:"eh_frame_hdr_size"` // of .eh_frame_hdr in Data
	MappedSize uint64 `show:"mapped_size"`       // bytes of Data that the process mapped, 0 for none
	Extra      []byte `show:"extra,extra"`       // padding after Data
}

// Unwinding decodes a JIT_CODE_UNWINDING_INFO body.
func (r *Raw) Unwinding() (Unwinding, error) {
	c := r.cursor()
	size := c.U64("unwind_data_size")
	u := Unwinding{HeaderSize: c.U64("eh_frame_hdr_size")}
	if u.HeaderSize > size {
		c.Bad("eh_frame_hdr_size", "is %d, more than all %d bytes of unwind data", u.HeaderSize, size)
	}
	u.MappedSize = c.U64("mapped_size")
	u.Data = c.Bytes("unwinding_data", size)
	u.Extra = c.Rest()
	return u, c.Err()
}

func (u *Unwinding) id() RecordID { return IDUnwinding }
func (u *Unwinding) size() int    { return 3*8 + len(u.Data) + len(u.Extra) }
func (u *Unwinding) append(b *wire.Buffer) {
	b.U64(uint64(len(u.Data)))
	b.U64(u.HeaderSize)
	b.U64(u.MappedSize)
	b.Bytes(u.Data)
	b.Bytes(u.Extra)
}

// An Unknown is a record that this package has no type for.
type Unknown struct {
	ID   RecordID `show:"id,hex"`
	Body []byte
}

func (u *Unknown) id() RecordID          { return u.ID }
func (u *Unknown) size() int             { return len(u.Body) }
func (u *Unknown) append(b *wire.Buffer) { b.Bytes(u.Body) }
