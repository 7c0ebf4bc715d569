package verifytest

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"testing"

	"github.com/jitinject/jitinject/internal/jitcode"
	"github.com/jitinject/jitinject/internal/jitobj"
)

var le = binary.LittleEndian

// ObjectBytes returns the object of a function with lines, an inlined call and frames.
func ObjectBytes(t *testing.T) []byte { return ObjectAt(t, jitobj.Place{}).Bytes }

// ObjectAt is the same with unwind tables at a place.
func ObjectAt(t *testing.T, place jitobj.Place) jitobj.Object {
	t.Helper()
	b, err := jitobj.NewBuilder(jitcode.Target{Machine: uint32(elf.EM_X86_64), Order: le, HighAddress: Base + 0x30}, jitobj.Options{})
	if err != nil {
		t.Fatal(err)
	}
	frame := func(offset uint64, cfa int64) jitcode.FrameRow {
		return jitcode.FrameRow{Offset: offset, Known: true, CFA: jitcode.CFA{Reg: 7, Offset: cfa}, Saved: []jitcode.SavedReg{{Reg: 16, Offset: -8}}}
	}
	fn := jitcode.Function{
		Name: []byte("f"), Addr: Base, Size: uint64(len(Code())), Code: Code(), Files: []string{"/a.js"},
		Lines:   []jitcode.Line{{Offset: 0, Line: 1}, {Offset: 0x15, Line: 2}},
		Origins: []jitcode.Origin{{Name: []byte("f"), Line: 1}, {Name: []byte("g"), Line: 8}},
		Inlines: []jitcode.Inline{{Parent: -1, Origin: 1, Line: 2, First: 0, Last: 1}},
		Ranges:  []jitcode.Range{{Offset: 0x15, Size: 8}},
		Unwind:  jitcode.Unwind{CIE: jitcode.FrameCIE{CodeAlign: 1, DataAlign: -8, ReturnReg: 16}, Initial: frame(0, 8), Rows: []jitcode.FrameRow{frame(0, 8), frame(1, 16)}},
	}
	o, err := b.Build(&fn, place)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// ObjectName is the name of an object of jitted functions.
const ObjectName = "jitted-4711-1.so"

// An ObjectPatch changes an object.
type ObjectPatch struct {
	Bytes []byte
	File  *elf.File
	t     *testing.T
}

// Section returns the bytes of a section.
func (p *ObjectPatch) Section(name string) []byte {
	s := p.File.Section(name)
	if s == nil {
		p.t.Fatalf("no %s", name)
	}
	return p.Bytes[s.Offset : s.Offset+s.FileSize]
}

// Header returns the header of a section.
func (p *ObjectPatch) Header(name string) []byte {
	for i, s := range p.File.Sections {
		if s.Name == name {
			return p.Bytes[le.Uint64(p.Bytes[40:])+uint64(i)*64:][:64]
		}
	}
	p.t.Fatalf("no %s", name)
	return nil
}

// Segment returns the program header of a type.
func (p *ObjectPatch) Segment(typ elf.ProgType) []byte {
	for i, s := range p.File.Progs {
		if s.Type == typ {
			return p.Bytes[le.Uint64(p.Bytes[32:])+uint64(i)*56:][:56]
		}
	}
	p.t.Fatalf("no %s", typ)
	return nil
}

// Replace changes the first u64 of a value in a section.
func (p *ObjectPatch) Replace(name string, old, with uint64) {
	s := p.Section(name)
	i := bytes.Index(s, le.AppendUint64(nil, old))
	if i < 0 {
		p.t.Fatalf("no %#x in %s: % x", old, name, s)
	}
	le.PutUint64(s[i:], with)
}

// PatchedObject returns an object that was changed.
func PatchedObject(t *testing.T, change func(p *ObjectPatch)) []byte {
	t.Helper()
	p := &ObjectPatch{t: t, Bytes: ObjectBytes(t)}
	var err error
	if p.File, err = elf.NewFile(bytes.NewReader(p.Bytes)); err != nil {
		t.Fatal(err)
	}
	change(p)
	return p.Bytes
}
