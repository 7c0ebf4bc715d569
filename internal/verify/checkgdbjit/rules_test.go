package checkgdbjit_test

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"testing"

	"github.com/jitinject/jitinject/internal/elfcore"
	"github.com/jitinject/jitinject/internal/formats/checks"
	"github.com/jitinject/jitinject/internal/testrec"
	"github.com/jitinject/jitinject/internal/verify"
	"github.com/jitinject/jitinject/internal/verify/checkgdbjit"
	"github.com/jitinject/jitinject/internal/verify/verifytest"
)

// Addresses in the real core.
const (
	descriptor = 0x7f0e724dbb50
	first      = 0x2dd1a5a0 // the entry
	second     = first + 64 // unrelated memory in the same page
	symfile    = 0x2dcceb70
	size       = 5480
	code       = 0x7f0e7261c000
)

// A patch changes a real core.
type patch struct {
	t    *testing.T
	b    []byte
	core *elfcore.Core
}

// at returns the bytes of the core from an address on.
func (p *patch) at(addr uint64) []byte {
	p.t.Helper()
	for _, s := range p.core.Segments() {
		if addr >= s.Addr && addr-s.Addr < s.Stored {
			return p.b[uint64(s.Offset)+addr-s.Addr:][:s.Stored-(addr-s.Addr)]
		}
	}
	p.t.Fatalf("the core has no memory at %#x", addr)
	return nil
}

// put writes words from an address on.
func (p *patch) put(addr uint64, words ...uint64) {
	p.t.Helper()
	for i, w := range words {
		binary.LittleEndian.PutUint64(p.at(addr+8*uint64(i)), w)
	}
}

// section returns the offset in the object of the field of a section's header: sh_addr, sh_size.
func (p *patch) section(name string, field uint64) uint64 {
	p.t.Helper()
	image := p.at(symfile)[:size]
	f, err := elf.NewFile(bytes.NewReader(image))
	if err != nil {
		p.t.Fatal(err)
	}
	shoff := binary.LittleEndian.Uint64(image[40:])
	for i, s := range f.Sections {
		if s.Name == name {
			return symfile + shoff + uint64(i)*64 + field
		}
	}
	p.t.Fatalf("the object has no section %s", name)
	return 0
}

// programHeader changes the program header of the segment of an address.
func (p *patch) programHeader(addr uint64, change func(header []byte)) {
	p.t.Helper()
	for at := binary.LittleEndian.Uint64(p.b[32:]); ; at += 56 {
		h := p.b[at:][:56]
		if lo := binary.LittleEndian.Uint64(h[16:]); binary.LittleEndian.Uint32(h) == uint32(elf.PT_LOAD) && addr >= lo && addr-lo < binary.LittleEndian.Uint64(h[40:]) {
			change(h)
			return
		}
	}
}

// patched returns a breach that changes the real core.
func patched(rule string, change func(p *patch)) verifytest.Breach {
	return verifytest.Breach{Rule: rule, Make: func(t *testing.T, dir string) (string, verify.Options) {
		p := &patch{t: t, b: testrec.Gunzip(t, "../../runtime/gdbjit/testdata/lli.core.gz")}
		var err error
		if p.core, err = elfcore.Open(bytes.NewReader(p.b)); err != nil {
			t.Fatal(err)
		}
		if change != nil {
			change(p)
		}
		return verifytest.Write(t, dir, "core", p.b), verify.Options{}
	}}
}

var breaches = []verifytest.Breach{
	patched("core/headers", func(p *patch) { // a note that is larger than the segment of notes
		binary.LittleEndian.PutUint32(p.b[binary.LittleEndian.Uint64(p.b[64+8:])+4:], 1<<30)
	}),
	patched("core/descriptor", func(p *patch) { p.at(descriptor)[0] = 2 }),
	patched("core/circle", func(p *patch) { p.put(first, first) }),
	patched("core/entry", func(p *patch) { p.put(first, 0x3dd1b000) }),
	patched("core/links", func(p *patch) { p.put(first+8, second) }),
	patched("core/symfile", func(p *patch) { p.at(symfile)[0] = 0 }),
	patched("core/machine", func(p *patch) { p.at(symfile)[18] = byte(elf.EM_386) }),
	patched("core/object", func(p *patch) { p.put(p.section(".strtab", 24), 1<<40) }),
	patched("core/no-functions", func(p *patch) { p.put(p.section(".text", 16), 0) }),
	patched("core/executable", func(p *patch) {
		p.programHeader(code, func(h []byte) { h[4] &^= byte(elf.PF_X) })
	}),
	patched("core/code", func(p *patch) {
		p.programHeader(code, func(h []byte) { binary.LittleEndian.PutUint64(h[32:], 0) })
	}),
	patched("core/overlap", func(p *patch) { // the object is registered twice
		p.put(first, second)
		p.put(second, 0, first, symfile, size)
	}),
}

// For every rule there is a file that breaks it and no other.
func TestBreaches(t *testing.T) {
	verifytest.CheckBreaches(t, checks.Verifier(), checkgdbjit.Format.Rules, breaches)
}

// A good core has no diagnostics.
func TestGood(t *testing.T) {
	verifytest.CheckGood(t, checks.Verifier(), patched("", nil).Make)
	// As wasmtime writes it: a relocatable object under another type. Only the DWARF would have to be relocated.
	path, opts := patched("", func(p *patch) { p.at(symfile)[16] = byte(elf.ET_DYN) }).Make(t, t.TempDir())
	if rules, all := verifytest.Verified(t, checks.Verifier(), path, opts); len(rules) != 1 || rules[0] != "core/object" {
		t.Errorf("got %q, %+v; want core/object only", rules, all)
	}
}
