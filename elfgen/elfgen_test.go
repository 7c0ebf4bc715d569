package elfgen_test

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/elfgen"
	"github.com/jitinject/jitinject/internal/testrec"
)

// targets are all machines whose jitted code may be met, in their byte orders.
func targets() (ts []elfgen.Target) {
	le, be := binary.LittleEndian, binary.BigEndian
	for _, m := range []struct {
		machine elf.Machine
		orders  []binary.ByteOrder
		high    uint64
	}{
		{elf.EM_X86_64, []binary.ByteOrder{le}, 1 << 40},
		{elf.EM_386, []binary.ByteOrder{le}, 1 << 31},
		{elf.EM_AARCH64, []binary.ByteOrder{le, be}, 1 << 40},
		{elf.EM_ARM, []binary.ByteOrder{le, be}, 1 << 31},
		{elf.EM_PPC64, []binary.ByteOrder{le, be}, 1 << 40},
		{elf.EM_PPC, []binary.ByteOrder{be}, 1 << 31},
		{elf.EM_S390, []binary.ByteOrder{be}, 1 << 40},
		{elf.EM_RISCV, []binary.ByteOrder{le}, 1 << 40},
		{elf.EM_LOONGARCH, []binary.ByteOrder{le}, 1 << 40},
		{elf.EM_MIPS, []binary.ByteOrder{le, be}, 1 << 40},
		{elf.EM_MIPS, []binary.ByteOrder{le, be}, 1 << 31},
		{elf.EM_SPARCV9, []binary.ByteOrder{be}, 1 << 40},
	} {
		for _, order := range m.orders {
			ts = append(ts, elfgen.TargetFor(m.machine, order, m.high))
		}
	}
	return ts
}

// build makes a file with a bit of everything.
func build(t testing.TB, target elfgen.Target) []byte {
	t.Helper()
	var f elfgen.File
	f.Reset(target, elf.ET_DYN)
	id := f.Add(elfgen.BuildIDNote(nil, target.Order, bytes.Repeat([]byte{0x5a}, 20)))
	text := f.Add(elfgen.Section{Name: ".text", Type: elf.SHT_PROGBITS, Flags: elf.SHF_ALLOC | elf.SHF_EXECINSTR, Align: 64, Data: bytes.Repeat([]byte{1, 2, 3, 4}, 10)})
	f.Add(elfgen.Section{Name: ".comment", Type: elf.SHT_PROGBITS, Flags: elf.SHF_MERGE | elf.SHF_STRINGS, EntSize: 1, Data: []byte("odd\x00")})
	f.AddSegment(elfgen.Segment{Type: elf.PT_LOAD, Flags: elf.PF_R | elf.PF_X, First: id, Last: text, Align: 0x1000, FromStart: true})
	f.AddSegment(elfgen.Segment{Type: elf.PT_NOTE, Flags: elf.PF_R, First: id, Last: id, Align: 4})
	f.AddSymbol(elfgen.Symbol{Name: []byte("local"), Bind: elf.STB_LOCAL, Type: elf.STT_FUNC, Section: text, Value: 4, Size: 4})
	f.AddSymbol(elfgen.Symbol{Name: []byte(strings.Repeat("n", 5000)), Bind: elf.STB_GLOBAL, Type: elf.STT_FUNC, Section: text, Size: 40})
	front := []byte("in front") // the file need not be alone in its buffer
	out, err := f.AppendTo(front)
	if err != nil {
		t.Fatal(err)
	}
	return out[len(front):]
}

func TestWrite_ReadByDebugElf(t *testing.T) {
	for _, target := range targets() {
		t.Run(fmt.Sprint(target.Machine, target.Class, target.Order), func(t *testing.T) {
			b := build(t, target)
			f, err := elf.NewFile(bytes.NewReader(b))
			if err != nil {
				t.Fatal(err)
			}
			if f.Class != target.Class || f.ByteOrder != target.Order || f.Machine != target.Machine || f.Type != elf.ET_DYN {
				t.Errorf("header %+v", f.FileHeader)
			}
			flagsAt := 48
			if target.Class == elf.ELFCLASS32 {
				flagsAt = 36
			}
			if got := target.Order.Uint32(b[flagsAt:]); got != target.Flags {
				t.Errorf("e_flags %#x, want %#x", got, target.Flags)
			}
			text := f.Section(".text")
			if text == nil || text.Offset != 0x80 || text.Addr != 0x80 || text.Size != 40 {
				t.Fatalf(".text is %+v", text)
			}
			if data, err := text.Data(); err != nil || !bytes.Equal(data, bytes.Repeat([]byte{1, 2, 3, 4}, 10)) {
				t.Errorf(".text holds % x, %v", data, err)
			}
			load := f.Progs[0]
			if load.Type != elf.PT_LOAD || load.Off != 0 || load.Vaddr != 0 || load.Filesz != 0x80+40 || load.Memsz != load.Filesz || load.Flags != elf.PF_R|elf.PF_X {
				t.Errorf("PT_LOAD is %+v", load.ProgHeader)
			}
			note := make([]byte, f.Progs[1].Filesz)
			if _, err := f.Progs[1].ReadAt(note, 0); err != nil || !bytes.HasSuffix(note, bytes.Repeat([]byte{0x5a}, 20)) {
				t.Errorf("PT_NOTE holds % x, %v", note, err)
			}
			syms, err := f.Symbols()
			if err != nil || len(syms) != 2 {
				t.Fatalf("symbols %+v, %v", syms, err)
			}
			if s := syms[0]; s.Name != "local" || s.Value != 0x84 || s.Size != 4 || elf.ST_BIND(s.Info) != elf.STB_LOCAL {
				t.Errorf("first symbol %+v", s)
			}
			if s := syms[1]; len(s.Name) != 5000 || s.Value != 0x80 || s.Size != 40 || elf.ST_TYPE(s.Info) != elf.STT_FUNC || int(s.Section) >= len(f.Sections) || f.Sections[s.Section].Name != ".text" {
				t.Errorf("second symbol has %d bytes of name, %#x, %d", len(s.Name), s.Value, s.Size)
			}
			if f.Section(".symtab").Info != 2 {
				t.Errorf("sh_info of .symtab is %d, want 2, the first global symbol", f.Section(".symtab").Info)
			}
		})
	}
}

// What binutils and elfutils say of the files.
func TestWrite_BinutilsAndElfutils(t *testing.T) {
	readelf, lint := testrec.Tool(t, "readelf"), testrec.Tool(t, "eu-elflint")
	dir := t.TempDir()
	for i, target := range targets() {
		name := fmt.Sprintf("%d-%v.so", i, target.Machine)
		if err := os.WriteFile(filepath.Join(dir, name), build(t, target), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, errs := testrec.RunBoth(t, dir, readelf, "-aW", name); errs != "" {
			t.Errorf("%s: readelf complains:\n%s", name, errs)
		}
		if target.Machine == elf.EM_LOONGARCH || target.Machine == elf.EM_MIPS {
			continue // elfutils knows their flags from 0.189 and 0.190 on, Debian 12 has 0.188
		}
		if out := testrec.Run(t, dir, lint, "--gnu-ld", name); out != "No errors\n" {
			t.Errorf("%s: eu-elflint complains: %s", name, out)
		}
	}
}

// Writing does not change what is written.
func TestWrite_Twice(t *testing.T) {
	target := targets()[0]
	if !bytes.Equal(build(t, target), build(t, target)) {
		t.Error("the same description gives two files")
	}
}

func TestSymbols_LocalAfterGlobal(t *testing.T) {
	var f elfgen.File
	f.Reset(targets()[0], elf.ET_DYN)
	text := f.Add(elfgen.Section{Name: ".text", Type: elf.SHT_PROGBITS, Data: []byte{1}})
	f.AddSymbol(elfgen.Symbol{Name: []byte("g"), Bind: elf.STB_GLOBAL, Section: text})
	f.AddSymbol(elfgen.Symbol{Name: []byte("l"), Bind: elf.STB_LOCAL, Section: text})
	if _, err := f.AppendTo(nil); err == nil {
		t.Error("a local symbol behind a global one was accepted")
	}
}
