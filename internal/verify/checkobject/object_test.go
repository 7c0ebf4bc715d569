package checkobject_test

import (
	"debug/elf"
	"testing"

	"github.com/jitinject/jitinject/internal/verify"
	"github.com/jitinject/jitinject/internal/verify/verifytest"
)

func goodObject(t *testing.T, dir string) (string, verify.Options) {
	return write(t, dir, verifytest.ObjectName, verifytest.ObjectBytes(t)), verify.Options{}
}

func patched(rule string, change func(p *verifytest.ObjectPatch), also ...string) breach {
	return breach{Rule: rule, Make: func(t *testing.T, dir string) (string, verify.Options) {
		return write(t, dir, verifytest.ObjectName, verifytest.PatchedObject(t, change)), verify.Options{}
	}, Also: also}
}

// Offsets in section and program headers, and in symbols.
const (
	shFlags, shOffset, shInfo       = 8, 24, 44
	pFlags, pOffset, pVaddr, pPaddr = 4, 8, 16, 24
	pFilesz, pMemsz, pAlign         = 32, 40, 48
	symInfo, symValue, symSize      = 4, 8, 16
)

var objectBreaches = []breach{
	patched("object/elf", func(p *verifytest.ObjectPatch) { p.Bytes = p.Bytes[:0x100] }),
	patched("object/sh-info", func(p *verifytest.ObjectPatch) { le.PutUint32(p.Header(".symtab")[shInfo:], 0) }),
	patched("object/symbols", func(p *verifytest.ObjectPatch) { le.PutUint64(p.Section(".symtab")[24+symValue:], 0x5000) }),
	patched("object/symbols", func(p *verifytest.ObjectPatch) { le.PutUint64(p.Section(".symtab")[24+symSize:], 0) }),
	patched("object/symbols", func(p *verifytest.ObjectPatch) { le.PutUint32(p.Section(".symtab")[24:], 0) }), // no name
	patched("object/text", func(p *verifytest.ObjectPatch) { le.PutUint64(p.Header(".text")[shFlags:], uint64(elf.SHF_ALLOC)) }),
	patched("object/no-symbol", func(p *verifytest.ObjectPatch) { p.Section(".symtab")[24+symInfo] = 0x10 }),
	patched("object/load", func(p *verifytest.ObjectPatch) { le.PutUint32(p.Segment(elf.PT_LOAD)[pFlags:], uint32(elf.PF_R)) }),
	patched("object/base", func(p *verifytest.ObjectPatch) {
		s := p.Segment(elf.PT_LOAD)
		size := le.Uint64(s[pFilesz:]) - 0x80
		for at, v := range map[int]uint64{pOffset: 0x80, pVaddr: 0x80, pPaddr: 0x80, pFilesz: size, pMemsz: size, pAlign: 8} {
			le.PutUint64(s[at:], v)
		}
	}),
	patched("object/build-id", func(p *verifytest.ObjectPatch) { clear(p.Section(".note.gnu.build-id")[16:]) }),
	patched("object/note-segment", func(p *verifytest.ObjectPatch) { le.PutUint32(p.Segment(elf.PT_NOTE), 0) }),
	patched("object/unit", func(p *verifytest.ObjectPatch) { p.Replace(".debug_info", 0x80, 0x50000) }),
	patched("object/unit", func(p *verifytest.ObjectPatch) { // the last number has no end
		info := p.Section(".debug_info")
		info[len(info)-1] = 0xff
	}),
	patched("object/lines", func(p *verifytest.ObjectPatch) { p.Replace(".debug_line", 0x80, 0x81) }),
	patched("object/frames", func(p *verifytest.ObjectPatch) { le.PutUint32(p.Section(".eh_frame"), 0x5000) }),
	patched("object/frame-header", func(p *verifytest.ObjectPatch) { p.Section(".eh_frame_hdr")[12]++ }),
	patched("object/frame-segment", func(p *verifytest.ObjectPatch) { le.PutUint32(p.Segment(elf.PT_GNU_EH_FRAME), 0) }),
}

// TestForeign: nobody is accused of not being jitinject.
func TestForeign(t *testing.T) {
	b := verifytest.PatchedObject(t, func(p *verifytest.ObjectPatch) {
		clear(p.Section(".note.gnu.build-id")[16:])
		le.PutUint32(p.Segment(elf.PT_LOAD)[pFlags:], uint32(elf.PF_R))
		p.Section(".eh_frame")[0] = 0xff
	})
	path := write(t, t.TempDir(), "libfoo.so", b)
	if rules, all := verified(t, path, verify.Options{}); len(rules) > 0 {
		t.Errorf("%v: %+v", rules, all)
	}
}
