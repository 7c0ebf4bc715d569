package xraymap

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/elfgen"
	"github.com/jitinject/jitinject/internal/format/elffile"
)

var (
	amd64 = elfgen.Target{Class: elf.ELFCLASS64, Order: binary.LittleEndian, Machine: elf.EM_X86_64}
	arm   = elfgen.Target{Class: elf.ELFCLASS32, Order: binary.LittleEndian, Machine: elf.EM_ARM}
	ppc64 = elfgen.Target{Class: elf.ELFCLASS64, Order: binary.LittleEndian, Machine: elf.EM_PPC64}
	s390x = elfgen.Target{Class: elf.ELFCLASS64, Order: binary.BigEndian, Machine: elf.EM_S390}
)

// read reads the map of a program in memory.
func read(file []byte) (*Map, error) {
	f, err := elffile.Open(bytes.NewReader(file))
	if err != nil {
		return nil, err
	}
	return Read(f)
}

// opened opens an ELF file in memory.
func opened(t *testing.T, file []byte) *elffile.File {
	t.Helper()
	f, err := elffile.Open(bytes.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// Every version of the tables says the same of the same functions, on machines of both
// sizes and byte orders, wherever the program may be loaded.
func TestReadMap_EveryVersion(t *testing.T) {
	const a, b, c = madeText + madeAway, madeText + madeAway + 0x40, madeText + madeAway + 0x100
	sleds := []uint64{a, a, b, b, b, c, c, a, a}
	for _, target := range []elfgen.Target{amd64, arm, ppc64, s390x} {
		for _, kind := range []elf.Type{elf.ET_EXEC, elf.ET_DYN} {
			for version := range byte(3) {
				for index := range 3 {
					name := fmt.Sprintf("%v %v, sleds %d, index %d", target.Machine, kind, version, index)
					m := made{target: target, kind: kind, version: version, functions: sleds, index: index}
					want := []uint64{a, b, c, a} // those that come again count again
					if index > 0 {
						m.spans = [][2]int{{5, 7}, {0, 2}, {3, 3}, {2, 5}}
						want = []uint64{c, a, 0, b}
					}
					got, err := read(m.bytes(t))
					if err != nil {
						t.Errorf("%s: %v", name, err)
						continue
					}
					if !slices.Equal(got.functions, want) || got.Indexed != (index > 0) || got.Relocated != (kind == elf.ET_DYN) {
						t.Errorf("%s: %#x, indexed %v, relocated %v; want %#x", name, got.functions, got.Indexed, got.Relocated, want)
					}
					if got.BuildID != "\xde\xad\xbe\xef" {
						t.Errorf("%s: build id %x", name, got.BuildID)
					}
				}
			}
		}
	}
}

func TestReadMap_Addresses(t *testing.T) {
	const a = madeText + madeAway
	m, err := read((&made{target: amd64, kind: elf.ET_DYN, version: 2, functions: []uint64{a, a + 16, a + 16}, index: 2, spans: [][2]int{{0, 1}, {1, 1}, {1, 3}}}).bytes(t))
	if err != nil {
		t.Fatal(err)
	}
	for id, want := range map[uint32]uint64{0: 0, 1: a, 2: 0, 3: a + 16, 4: 0, 1<<28 - 1: 0, 1<<32 - 1: 0} {
		if got, ok := m.Address(id); got != want || ok != (want != 0) {
			t.Errorf("function %d: %#x, %v; want %#x", id, got, ok, want)
		}
	}
	if m.Len() != 3 {
		t.Errorf("%d functions", m.Len())
	}
	// The first page of code is mapped at 0x7f0000000000.
	if bias, ok := m.Bias(0x7f0000000000, madeText); !ok || bias != 0x7f0000000000-a {
		t.Errorf("bias %#x, %v", bias, ok)
	}
	if bias, ok := m.Bias(0x7f0000000040, madeText+0x40); !ok || bias != 0x7f0000000000-a {
		t.Errorf("bias %#x, %v from the middle", bias, ok)
	}
	if _, ok := m.Bias(0x7f0000000000, 0x3000); ok {
		t.Error("a mapping of data gives a bias")
	}
}

// Several symbols may stand for one function, and perf shows the global one.
func TestReadMap_SeveralSymbols(t *testing.T) {
	const a = madeText + madeAway
	p := made{target: amd64, kind: elf.ET_DYN, version: 2, functions: []uint64{a, a + 16, a + 32, a}, symbols: []elfgen.Symbol{
		{Name: []byte("local"), Bind: elf.STB_LOCAL, Type: elf.STT_FUNC, Value: 0, Size: 16},
		{Name: []byte("_Z4leafi"), Bind: elf.STB_GLOBAL, Type: elf.STT_FUNC, Value: 0, Size: 16},
		{Name: []byte("weak"), Bind: elf.STB_WEAK, Type: elf.STT_FUNC, Value: 0, Size: 16},
		{Name: []byte("object"), Bind: elf.STB_GLOBAL, Type: elf.STT_OBJECT, Value: 16},
	}}
	file := p.bytes(t)
	m, err := read(file)
	if err != nil {
		t.Fatal(err)
	}
	names := m.Names(opened(t, file))
	leaf := Symbol{Name: "leaf(int)", Size: 16}
	if want := []Symbol{{}, leaf, {}, {}, leaf}; !slices.Equal(names, want) {
		t.Errorf("got %+v; want one equal to %+v", names, want)
	}
}

// What is no instrumented program is said to be none.
func TestReadMap_NotInstrumented(t *testing.T) {
	file := (&made{target: amd64, kind: elf.ET_EXEC, version: 2, functions: []uint64{madeText}}).bytes(t)
	change := func(old, new string) []byte { return bytes.Replace(slices.Clone(file), []byte(old), []byte(new), 1) }
	for _, test := range []struct {
		name, error string
		file        []byte
	}{
		{"no table", ErrNoMap.Error(), change("xray_instr_map", "xray_instr_mop")},
		{"object file", "not a program", append(append(slices.Clone(file[:16]), 1, 0), file[18:]...)},
		{"text", "does not begin as an ELF file", []byte("#!/bin/sh\n" + strings.Repeat(" ", 100))},
	} {
		if _, err := read(test.file); err == nil || !strings.Contains(err.Error(), test.error) {
			t.Errorf("%s: got %v; want an error with %q", test.name, err, test.error)
		}
	}
	if _, err := read(change("xray_instr_map", "xray_instr_mop")); !errors.Is(err, ErrNoMap) {
		t.Error("no ErrNoMap")
	}
	p := made{target: amd64, kind: elf.ET_EXEC, version: 2, functions: []uint64{madeText}, index: 1, spans: [][2]int{{0, 40}}}
	if _, err := read(p.bytes(t)); err == nil || !strings.Contains(err.Error(), "xray_fn_idx does not fit") {
		t.Errorf("an index beyond the sleds: %v", err)
	}
}

func FuzzRead(f *testing.F) {
	const a = madeText + madeAway
	for _, target := range []elfgen.Target{amd64, arm} {
		for version := range byte(3) {
			m := made{target: target, kind: elf.ET_DYN, version: version, functions: []uint64{a, a, a + 64}, index: int(version), spans: [][2]int{{0, 2}, {2, 3}},
				symbols: []elfgen.Symbol{{Name: []byte("_Z4leafi"), Bind: elf.STB_GLOBAL, Type: elf.STT_FUNC, Size: 16}}}
			f.Add(m.bytes(f))
		}
	}
	f.Fuzz(func(t *testing.T, file []byte) {
		m, err := read(file)
		if err != nil {
			return
		}
		if m.Len() > len(file)/16 {
			t.Errorf("%d functions in %d bytes", m.Len(), len(file))
		}
		m.Bias(0x1000, 0x1000)
		if names := m.Names(opened(t, file)); len(names) != m.Len()+1 {
			t.Errorf("%d names for %d functions", len(names), m.Len())
		}
	})
}
