package elfcore

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// machines have notes of several sizes. Each register has its own number for a value.
var machines = []struct {
	machine  elf.Machine
	class    elf.Class
	order    binary.ByteOrder
	width, n int // of registers
}{
	{elf.EM_X86_64, elf.ELFCLASS64, binary.LittleEndian, 8, 27},
	{elf.EM_X86_64, elf.ELFCLASS32, binary.LittleEndian, 8, 27}, // x32
	{elf.EM_386, elf.ELFCLASS32, binary.LittleEndian, 4, 17},
	{elf.EM_AARCH64, elf.ELFCLASS64, binary.LittleEndian, 8, 34},
	{elf.EM_AARCH64, elf.ELFCLASS64, binary.BigEndian, 8, 34},
	{elf.EM_ARM, elf.ELFCLASS32, binary.LittleEndian, 4, 18},
	{elf.EM_ARM, elf.ELFCLASS32, binary.BigEndian, 4, 18},
	{elf.EM_PPC64, elf.ELFCLASS64, binary.BigEndian, 8, 48},
	{elf.EM_PPC64, elf.ELFCLASS64, binary.LittleEndian, 8, 48},
	{elf.EM_PPC, elf.ELFCLASS32, binary.BigEndian, 4, 48},
	{elf.EM_RISCV, elf.ELFCLASS64, binary.LittleEndian, 8, 32},
	{elf.EM_LOONGARCH, elf.ELFCLASS64, binary.LittleEndian, 8, 45},
	{elf.EM_MIPS, elf.ELFCLASS64, binary.BigEndian, 8, 45},
	{elf.EM_MIPS, elf.ELFCLASS32, binary.LittleEndian, 4, 45},
}

func sample(i int) *madeCore {
	x := machines[i]
	m := &madeCore{class: x.class, order: x.order, machine: x.machine}
	regs := func(thread uint64) []byte {
		var b []byte
		for r := range x.n {
			v := thread<<16 + uint64(r) + 1
			if x.width == 4 {
				b = append(b, make([]byte, 4)...)
				x.order.PutUint32(b[len(b)-4:], uint32(v))
			} else {
				b = append(b, make([]byte, 8)...)
				x.order.PutUint64(b[len(b)-8:], v)
			}
		}
		return b
	}
	m.notes = append(m.notes, madeNote{"CORE", noteStatus, m.status(6, 100, regs(1))})
	m.notes = append(m.notes,
		madeNote{"CORE", noteProcess, m.psinfo(100, 50, "mono", "mono App.exe", x.machine == elf.EM_386 || x.machine == elf.EM_ARM)},
		madeNote{"CORE", 0x53494749, make([]byte, 128)}, // NT_SIGINFO
		madeNote{"LONGER NAME", 1, []byte("nothing of ours")},
		madeNote{"CORE", 6, m.words(6, 4096, 9, 0x400000, 0, 0)}, // NT_AUXV
		madeNote{"CORE", noteFile, m.files(4096, File{0x400000, 0x402000, 0x1000, "/usr/bin/mono"}, File{0x7000, 0x8000, 0, "/lib/a b.so"})},
		madeNote{"CORE", noteStatus, m.status(0, 101, regs(2))})
	m.segments = []madeSegment{
		{0x40000000, 0x3000, bytes.Repeat([]byte("code"), 0x400)},
		{0x400000, 0x1000, nil},
		{0x40003000, 0x1000, bytes.Repeat([]byte("more"), 0x400)},
	}
	return m
}

func TestOpen_EveryMachine(t *testing.T) {
	for i, x := range machines {
		for _, extended := range []bool{false, true} {
			t.Run(fmt.Sprint(x.machine, x.class, x.order, extended), func(t *testing.T) {
				m := sample(i)
				m.extended = extended
				c, err := Open(reader(m.bytes()))
				if err != nil || len(c.Problems) > 0 {
					t.Fatalf("got %v, %+v; want no error, no problems", err, c.Problems)
				}
				if c.PID() != 100 || *c.Process() != (Process{100, 50, "mono", "mono App.exe"}) {
					t.Errorf("process %+v", c.Process())
				}
				var want []Thread
				for n := uint64(1); n <= 2; n++ {
					w := Thread{TID: 99 + int(n)}
					if x.machine == elf.EM_X86_64 {
						w.ID = n<<16 + fsBase/8 + 1
					}
					want = append(want, w)
				}
				if !slices.Equal(c.Threads(), want) {
					t.Errorf("threads %+v, want %+v", c.Threads(), want)
				}
				if files := []File{{0x7000, 0x8000, 0, "/lib/a b.so"}, {0x400000, 0x402000, 0x1000, "/usr/bin/mono"}}; !slices.Equal(c.Files(), files) {
					t.Errorf("files %+v", c.Files())
				}
			})
		}
	}
}

func TestReadCode_PagesMissing(t *testing.T) {
	c, err := Open(reader(sample(0).bytes()))
	if err != nil {
		t.Fatal(err)
	}
	read := func(addr uint64, n int) (string, error) {
		b := make([]byte, n)
		err := c.ReadCode(addr, b)
		return string(b), err
	}
	if s, err := read(0x40000002, 8); err != nil || s != "decodeco" {
		t.Errorf(`got %q, %v; want no error, s = "decodeco"`, s, err)
	}
	var missing *MissingError
	for _, x := range []struct {
		addr    uint64
		n       int
		at      uint64
		leftOut bool
	}{
		{0x40000ffe, 4, 0x40001000, true}, // the rest of the segment is not in the core
		{0x400000, 4, 0x400000, true},
		{0x40004000, 1, 0x40004000, false},
		{0x40003ffe, 4, 0x40004000, false},
		{0x3ffffffe, 4, 0x3ffffffe, false},
		{1<<64 - 2, 8, 1<<64 - 2, false},
	} {
		if _, err := read(x.addr, x.n); !errors.As(err, &missing) || missing.Addr != x.at || missing.LeftOut != x.leftOut {
			t.Errorf("%#x: got %v; want errors.As(err, &missing), missing.Addr = %v, missing.LeftOut = %v", x.addr, err, x.at, x.leftOut)
		}
	}
	m := sample(0)
	m.segments = []madeSegment{{0x1000, 0x10, []byte("0123456789abcdef")}, {0x1010, 0x10, []byte("ghijklmnopqrstuv")}}
	if c, err = Open(reader(m.bytes())); err != nil {
		t.Fatal(err)
	}
	if s, err := read(0x100e, 4); err != nil || s != "efgh" {
		t.Errorf("over two segments: %q, %v", s, err)
	}
	whole := m.bytes()
	if c, err = Open(reader(whole[:len(whole)-4])); err != nil {
		t.Fatal(err)
	}
	if _, err := read(0x1018, 8); err == nil || !strings.Contains(err.Error(), "cut off") {
		t.Errorf("of a core that is cut off: %v", err)
	}
}

func TestOpen_NoCore(t *testing.T) {
	m := sample(0)
	whole := m.bytes()
	shared := bytes.Clone(whole)
	shared[16] = byte(elf.ET_DYN)
	for name, b := range map[string][]byte{"empty": nil, "text": []byte("no core dump, but a text of some length"), "shared object": shared, "class": append([]byte("\x7fELF\x03\x01\x01"), whole[7:]...)} {
		if _, err := Open(reader(b)); !errors.Is(err, ErrNotCore) {
			t.Errorf("%s: got %v; want an error that is %v", name, err, ErrNotCore)
		}
	}
}

// What is wrong with one part costs that part.
func TestOpen_DamagedPart(t *testing.T) {
	for name, x := range map[string]struct {
		change  func(m *madeCore)
		problem string
		threads int
		files   int
	}{
		"short status":   {func(m *madeCore) { m.notes[0].desc = m.notes[0].desc[:40] }, "NT_PRSTATUS: pr_ppid", 1, 2},
		"no thread":      {func(m *madeCore) { m.order.PutUint32(m.notes[0].desc[32:], 0) }, "0 is no thread", 1, 2},
		"short process":  {func(m *madeCore) { m.notes[1].desc = m.notes[1].desc[:100] }, "NT_PRPSINFO", 2, 2},
		"too many files": {func(m *madeCore) { m.order.PutUint64(m.notes[5].desc, 1<<60) }, "do not fit", 2, 0},
		"no names":       {func(m *madeCore) { m.notes[5].desc = m.notes[5].desc[:2*8+6*8+5] }, "NT_FILE", 2, 0},
		"backwards":      {func(m *madeCore) { m.order.PutUint64(m.notes[5].desc[16:], 1<<40) }, "a mapping from", 2, 0},
	} {
		t.Run(name, func(t *testing.T) {
			m := sample(0)
			x.change(m)
			c, err := Open(reader(m.bytes()))
			if err != nil {
				t.Fatal(err)
			}
			if len(c.Problems) != 1 || !strings.Contains(c.Problems[0].Error(), x.problem) || len(c.Threads()) != x.threads || len(c.Files()) != x.files {
				t.Errorf("problems %v, %d threads, %d files", c.Problems, len(c.Threads()), len(c.Files()))
			}
		})
	}
	b := sample(0).bytes()
	binary.LittleEndian.PutUint64(b[0x20:], 1<<63) // e_phoff
	if _, err := Open(reader(b)); err == nil || !strings.Contains(err.Error(), "program headers at offset") {
		t.Errorf("program headers in no file: %v", err)
	}
	b = sample(0).bytes()
	binary.LittleEndian.PutUint16(b[0x38:], 60000) // e_phnum
	if _, err := Open(reader(b)); err == nil || !strings.Contains(err.Error(), "program header") {
		t.Errorf("more program headers than bytes: %v", err)
	}
}
