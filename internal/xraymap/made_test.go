package xraymap

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"testing"

	"github.com/jitinject/jitinject/elfgen"
)

// A made program has functions at addresses that the test chooses, with their sleds as a
// compiler would describe them.
type made struct {
	target    elfgen.Target
	kind      elf.Type
	version   byte     // of the sleds
	functions []uint64 // of the sleds, in order
	index     int      // 0 none, 1 absolute, 2 relative
	spans     [][2]int // of the index: sleds from, to
	symbols   []elfgen.Symbol
}

// Where its parts lie. Text comes first, 0x1000 bytes of it.
const (
	madeText = 0x1000
	madeAway = 0x400000 // addresses are above file offsets by this
)

func (m *made) word(b []byte, v uint64) []byte {
	if m.target.Class == elf.ELFCLASS32 {
		return m.target.Order.(binary.AppendByteOrder).AppendUint32(b, uint32(v))
	}
	return m.target.Order.(binary.AppendByteOrder).AppendUint64(b, v)
}

// bytes returns the program. Its tables are relocated with RELA where it is
// position-independent and their entries are absolute.
func (m *made) bytes(t testing.TB) []byte {
	t.Helper()
	w := uint64(8)
	if m.target.Class == elf.ELFCLASS32 {
		w = 4
	}
	pie := m.kind == elf.ET_DYN
	sledsAt := uint64(0x3000 + madeAway)
	indexAt := (sledsAt+uint64(len(m.functions))*4*w+0xfff)&^0xfff + 8
	var sleds, index, rela []byte
	relocated := func(b []byte, at, value uint64) []byte {
		if !pie {
			return m.word(b, value)
		}
		info := relativeTypes[m.target.Machine]
		rela = m.word(m.word(m.word(rela, at), info), value)
		return m.word(b, 0)
	}
	for i, f := range m.functions {
		at := sledsAt + uint64(i)*4*w
		if m.version >= 2 {
			sleds = m.word(m.word(sleds, f+3-at), f-(at+w))
		} else {
			sleds = relocated(sleds, at, f+3)
			sleds = relocated(sleds, at+w, f)
		}
		sleds = append(sleds, byte(i%2), 1, m.version)
		sleds = append(sleds, make([]byte, 2*w-3)...)
	}
	for i, s := range m.spans {
		at := indexAt + uint64(i)*2*w
		begin, end := sledsAt+uint64(s[0])*4*w, sledsAt+uint64(s[1])*4*w
		switch m.index {
		case 1:
			index = relocated(index, at, begin)
			index = relocated(index, at+w, end)
		case 2:
			index = m.word(m.word(index, begin-at), uint64(s[1]-s[0]))
		}
	}
	var f elfgen.File
	f.Reset(m.target, m.kind)
	text := f.Add(elfgen.Section{Name: ".text", Type: elf.SHT_PROGBITS, Flags: elf.SHF_ALLOC | elf.SHF_EXECINSTR, Align: madeText, Away: madeAway, Data: make([]byte, 0x1000)})
	f.AddSegment(elfgen.Segment{Type: elf.PT_LOAD, Flags: elf.PF_R | elf.PF_X, First: text, Last: text, Align: 0x1000})
	f.Add(elfgen.Section{Name: ".note.gnu.build-id", Type: elf.SHT_NOTE, Flags: elf.SHF_ALLOC, Align: 4, Away: madeAway,
		Data: append(m.u32(4, 4, 3), "GNU\x00\xde\xad\xbe\xef"...)})
	f.Add(elfgen.Section{Name: "xray_instr_map", Type: elf.SHT_PROGBITS, Flags: elf.SHF_ALLOC, Align: 0x1000, Away: madeAway, Data: sleds})
	if m.index != 0 {
		f.Add(elfgen.Section{Name: "pad", Type: elf.SHT_PROGBITS, Flags: elf.SHF_ALLOC, Align: 0x1000, Away: madeAway, Data: make([]byte, 8)})
		f.Add(elfgen.Section{Name: "xray_fn_idx", Type: elf.SHT_PROGBITS, Flags: elf.SHF_ALLOC, Align: 8, Away: madeAway, Data: index})
	}
	if rela != nil {
		f.Add(elfgen.Section{Name: ".rela.dyn", Type: elf.SHT_RELA, Align: w, EntSize: 3 * w, Data: rela})
	}
	for _, y := range m.symbols {
		y.Section = text
		f.AddSymbol(y)
	}
	out, err := f.AppendTo(nil)
	if err != nil {
		t.Fatal(err)
	}
	// The tables lie where their entries say.
	e, err := elf.NewFile(bytes.NewReader(out))
	if err != nil {
		t.Fatal(err)
	}
	if s := e.Section("xray_instr_map"); s.Addr != sledsAt {
		t.Fatalf("xray_instr_map is at %#x, made for %#x", s.Addr, sledsAt)
	}
	if s := e.Section("xray_fn_idx"); s != nil && s.Addr != indexAt {
		t.Fatalf("xray_fn_idx is at %#x, made for %#x", s.Addr, indexAt)
	}
	return out
}

func (m *made) u32(values ...uint32) (b []byte) {
	for _, v := range values {
		b = m.target.Order.(binary.AppendByteOrder).AppendUint32(b, v)
	}
	return b
}
