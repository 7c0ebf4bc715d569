package verify_test

import (
	"bytes"
	"debug/elf"
	"testing"

	"github.com/jitinject/jitinject/internal/jitcode"
	"github.com/jitinject/jitinject/internal/jitobj"
	"github.com/jitinject/jitinject/internal/verify"
)

// objectBytes returns the object of a function with lines, an inlined call and frames.
func objectBytes(t *testing.T) []byte { return objectAt(t, jitobj.Place{}).Bytes }

// objectAt is the same with unwind tables at a place.
func objectAt(t *testing.T, place jitobj.Place) jitobj.Object {
	t.Helper()
	b, err := jitobj.NewBuilder(jitcode.Target{Machine: uint32(elf.EM_X86_64), Order: le, HighAddress: a + 0x30}, jitobj.Options{})
	if err != nil {
		t.Fatal(err)
	}
	frame := func(offset uint64, cfa int64) jitcode.FrameRow {
		return jitcode.FrameRow{Offset: offset, Known: true, CFA: jitcode.CFA{Reg: 7, Offset: cfa}, Saved: []jitcode.SavedReg{{Reg: 16, Offset: -8}}}
	}
	fn := jitcode.Function{
		Name: []byte("f"), Addr: a, Size: uint64(len(code())), Code: code(), Files: []string{"/a.js"},
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

const objectName = "jitted-4711-1.so"

func goodObject(t *testing.T, dir string) (string, verify.Options) {
	return write(t, dir, objectName, objectBytes(t)), verify.Options{}
}

// An elfPatch changes an object.
type elfPatch struct {
	t *testing.T
	b []byte
	f *elf.File
}

// section returns the bytes of a section.
func (p *elfPatch) section(name string) []byte {
	s := p.f.Section(name)
	if s == nil {
		p.t.Fatalf("no %s", name)
	}
	return p.b[s.Offset : s.Offset+s.FileSize]
}

// header returns the header of a section.
func (p *elfPatch) header(name string) []byte {
	for i, s := range p.f.Sections {
		if s.Name == name {
			return p.b[le.Uint64(p.b[40:])+uint64(i)*64:][:64]
		}
	}
	p.t.Fatalf("no %s", name)
	return nil
}

// segment returns the program header of a type.
func (p *elfPatch) segment(typ elf.ProgType) []byte {
	for i, s := range p.f.Progs {
		if s.Type == typ {
			return p.b[le.Uint64(p.b[32:])+uint64(i)*56:][:56]
		}
	}
	p.t.Fatalf("no %s", typ)
	return nil
}

// replace changes the first u64 of a value in a section.
func (p *elfPatch) replace(name string, old, with uint64) {
	s := p.section(name)
	i := bytes.Index(s, le.AppendUint64(nil, old))
	if i < 0 {
		p.t.Fatalf("no %#x in %s: % x", old, name, s)
	}
	le.PutUint64(s[i:], with)
}

func patchedObject(t *testing.T, change func(p *elfPatch)) []byte {
	t.Helper()
	p := &elfPatch{t: t, b: objectBytes(t)}
	var err error
	if p.f, err = elf.NewFile(bytes.NewReader(p.b)); err != nil {
		t.Fatal(err)
	}
	change(p)
	return p.b
}

func patched(rule string, change func(p *elfPatch), also ...string) breach {
	return breach{rule, func(t *testing.T, dir string) (string, verify.Options) {
		return write(t, dir, objectName, patchedObject(t, change)), verify.Options{}
	}, also}
}

// Offsets in section and program headers, and in symbols.
const (
	shFlags, shOffset, shInfo       = 8, 24, 44
	pFlags, pOffset, pVaddr, pPaddr = 4, 8, 16, 24
	pFilesz, pMemsz, pAlign         = 32, 40, 48
	symInfo, symValue, symSize      = 4, 8, 16
)

var objectBreaches = []breach{
	patched("object/elf", func(p *elfPatch) { p.b = p.b[:0x100] }),
	patched("object/sections-overlap", func(p *elfPatch) {
		le.PutUint64(p.header(".debug_aranges")[shOffset:], p.f.Section(".text").Offset)
	}),
	patched("object/segments", func(p *elfPatch) { le.PutUint64(p.segment(elf.PT_NOTE)[pFilesz:], 1<<40) }),
	patched("object/sh-info", func(p *elfPatch) { le.PutUint32(p.header(".symtab")[shInfo:], 0) }),
	patched("object/symbols", func(p *elfPatch) { le.PutUint64(p.section(".symtab")[24+symValue:], 0x5000) }),
	patched("object/symbols", func(p *elfPatch) { le.PutUint64(p.section(".symtab")[24+symSize:], 0) }),
	patched("object/symbols", func(p *elfPatch) { le.PutUint32(p.section(".symtab")[24:], 0) }), // no name
	patched("object/text", func(p *elfPatch) { le.PutUint64(p.header(".text")[shFlags:], uint64(elf.SHF_ALLOC)) }),
	patched("object/no-symbol", func(p *elfPatch) { p.section(".symtab")[24+symInfo] = 0x10 }),
	patched("object/load", func(p *elfPatch) { le.PutUint32(p.segment(elf.PT_LOAD)[pFlags:], uint32(elf.PF_R)) }),
	patched("object/base", func(p *elfPatch) {
		s := p.segment(elf.PT_LOAD)
		size := le.Uint64(s[pFilesz:]) - 0x80
		for at, v := range map[int]uint64{pOffset: 0x80, pVaddr: 0x80, pPaddr: 0x80, pFilesz: size, pMemsz: size, pAlign: 8} {
			le.PutUint64(s[at:], v)
		}
	}),
	patched("object/build-id", func(p *elfPatch) { clear(p.section(".note.gnu.build-id")[16:]) }),
	patched("object/note-segment", func(p *elfPatch) { le.PutUint32(p.segment(elf.PT_NOTE), 0) }),
	patched("object/unit", func(p *elfPatch) { p.replace(".debug_info", 0x80, 0x50000) }),
	patched("object/elf", func(p *elfPatch) { // the last number has no end
		info := p.section(".debug_info")
		info[len(info)-1] = 0xff
	}),
	patched("object/lines", func(p *elfPatch) { p.replace(".debug_line", 0x80, 0x81) }),
	patched("object/tree", func(p *elfPatch) { p.replace(".debug_info", 0x95, 0x9595) }),
	patched("object/frames", func(p *elfPatch) { le.PutUint32(p.section(".eh_frame"), 0x5000) }),
	patched("object/frame-header", func(p *elfPatch) { p.section(".eh_frame_hdr")[12]++ }),
	patched("object/frame-segment", func(p *elfPatch) { le.PutUint32(p.segment(elf.PT_GNU_EH_FRAME), 0) }),
}

// TestForeign: nobody is accused of not being jitinject.
func TestForeign(t *testing.T) {
	b := patchedObject(t, func(p *elfPatch) {
		clear(p.section(".note.gnu.build-id")[16:])
		le.PutUint32(p.segment(elf.PT_LOAD)[pFlags:], uint32(elf.PF_R))
		p.section(".eh_frame")[0] = 0xff
	})
	path := write(t, t.TempDir(), "libfoo.so", b)
	if rules, all := verified(t, path, verify.Options{}); len(rules) > 0 {
		t.Errorf("%v: %+v", rules, all)
	}
}
