package jitelf_test

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"slices"
	"testing"

	"github.com/jitinject/jitinject/internal/jitcode"
)

// wasmtime registers a linked object with load addresses in the DWARF, and symbols that count from
// their section.
func TestOpen_ObjectOfWasmtime(t *testing.T) {
	const text = 0x7f8d6ce0e000
	fns := functions(t, real(t, "wasmtime39.elf"))
	var got []string
	for i := range fns {
		f := &fns[i]
		first := jitcode.Line{}
		if len(f.Lines) > 0 {
			first = f.Lines[0]
		}
		got = append(got, fmt.Sprintf("%s+%#x %d: line %d, %d tables", bytes.TrimPrefix(f.Name, []byte("wasm[0]::")), f.Addr-text, f.Size, first.Line, len(f.Unwind.Sent.FDEs)))
	}
	want := []string{
		"function[0]::alpha+0x0 217: line 3, 1 tables",
		"function[1]::beta+0xe0 288: line 7, 1 tables",
		"function[2]::rec+0x200 159: line 9, 1 tables",
		"function[3]::run+0x2a0 171: line 12, 1 tables",
		"array_to_wasm_trampoline[3]+0x34b 158: line 0, 0 tables",
		"signatures[0]::wasm_to_array_trampoline+0x3e9 108: line 0, 0 tables",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q; want %q", got, want)
	}
}

// Symbols count from their section only if the DWARF agrees. Without that, the object may have
// addresses of a file that was loaded elsewhere.
func TestOpen_OffsetsWithoutProof(t *testing.T) {
	const addr, size = 0x7f0000001000, 0x4000
	for _, c := range []struct {
		low   uint64 // of the function in the DWARF
		value uint64 // of its symbol
		want  uint64 // its address; 0 if it is left out
	}{
		{addr + 0x1100, 0x1100, addr + 0x1100},
		{0x1100, 0x1100, 0},
		{0, 0x1100, 0},
		{addr + 0x1100, addr + 0x1100, addr + 0x1100},
	} {
		u, _ := newUnit(nil)
		u.function("f", c.low, 0x20)
		u.end()
		image := u.object(addr, size)
		f, err := elf.NewFile(bytes.NewReader(image))
		if err != nil {
			t.Fatal(err)
		}
		symbol := image[f.SectionByType(elf.SHT_SYMTAB).Offset+24:]
		binary.LittleEndian.PutUint64(symbol[8:], c.value)
		binary.LittleEndian.PutUint64(symbol[16:], 0x20)
		o := open(t, image)
		if got := o.Functions(); c.want == 0 && (len(got) != 0 || len(o.Problems()) == 0) || c.want != 0 && (len(got) != 1 || got[0].Addr != c.want) {
			t.Errorf("got %+v, %v of %+v; want the function at %#x, or none for 0", got, o.Problems(), c, c.want)
		}
	}
}
