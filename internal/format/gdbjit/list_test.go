package gdbjit

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

// A madeMemory has some bytes from an address on.
type madeMemory struct {
	base  uint64
	bytes []byte
}

var errNoMemory = errors.New("no memory is there")

func (m *madeMemory) ReadCode(addr uint64, p []byte) error {
	if addr < m.base || addr-m.base > uint64(len(m.bytes)) || uint64(len(p)) > uint64(len(m.bytes))-(addr-m.base) {
		return errNoMemory
	}
	copy(p, m.bytes[addr-m.base:])
	return nil
}

// Addresses in a made list.
const (
	madeBase  = 0x10000
	madeEntry = madeBase + 0x100 // the i-th entry is at i*0x40 from there
	madeImage = madeBase + 0x400 // its symfile is at i*0x40 from there
)

// newMemory makes a list of n entries.
func newMemory(l Layout, n int) *madeMemory {
	m := &madeMemory{madeBase, make([]byte, 0x1000)}
	at := func(i int) uint64 {
		if i < 0 || i >= n {
			return 0
		}
		return madeEntry + uint64(i)*0x40
	}
	l.Order.PutUint32(m.bytes, Version)
	l.Order.PutUint32(m.bytes[4:], Register)
	m.pointer(l, madeBase+8, at(0))
	m.pointer(l, madeBase+8+uint64(l.Pointer), at(0))
	for i := range n {
		m.pointer(l, at(i), at(i+1))
		m.pointer(l, at(i)+uint64(l.Pointer), at(i-1))
		m.pointer(l, at(i)+2*uint64(l.Pointer), madeImage+uint64(i)*0x40)
		l.Order.PutUint64(m.bytes[at(i)+uint64(l.sizeAt())-madeBase:], uint64(16+i))
		copy(m.bytes[madeImage+i*0x40-madeBase:], elf.ELFMAG+"object")
	}
	return m
}

func (m *madeMemory) pointer(l Layout, addr, value uint64) {
	if b := m.bytes[addr-m.base:]; l.Pointer == 4 {
		l.Order.PutUint32(b, uint32(value))
	} else {
		l.Order.PutUint64(b, value)
	}
}

var machines = []struct {
	class   elf.Class
	order   binary.ByteOrder
	machine elf.Machine
	entry   int // size of an entry, as a C compiler has it
}{
	{elf.ELFCLASS64, binary.LittleEndian, elf.EM_X86_64, 32},
	{elf.ELFCLASS64, binary.BigEndian, elf.EM_S390, 32},
	{elf.ELFCLASS32, binary.LittleEndian, elf.EM_386, 20},
	{elf.ELFCLASS32, binary.LittleEndian, elf.EM_ARM, 24},
	{elf.ELFCLASS32, binary.BigEndian, elf.EM_PPC, 24},
}

func TestReadList_OfMachines(t *testing.T) {
	for _, c := range machines {
		t.Run(c.machine.String(), func(t *testing.T) {
			l := LayoutOf(c.class, c.order, c.machine)
			if l.EntrySize() != c.entry {
				t.Errorf("got entries of %d bytes; want %d", l.EntrySize(), c.entry)
			}
			m := newMemory(l, 3)
			list, err := ReadList(m, l, madeBase, MaxEntries)
			if err != nil || len(list.Problems) > 0 || len(list.Entries) != 3 || list.Action != Register || list.Relevant != madeEntry {
				t.Fatalf("got %+v, %v; want 3 entries", list, err)
			}
			for i := range list.Entries {
				e := &list.Entries[i]
				image, err := ReadSymfile(m, e)
				if err != nil || len(image) != 16+i || !bytes.HasPrefix(image, []byte(elf.ELFMAG+"object")) {
					t.Errorf("got %q, %v for entry %d; want its object", image, err, i)
				}
			}
		})
	}
	if list, err := ReadList(newMemory(LayoutOf(elf.ELFCLASS64, binary.LittleEndian, elf.EM_X86_64), 0), LayoutOf(elf.ELFCLASS64, binary.LittleEndian, elf.EM_X86_64), madeBase, MaxEntries); err != nil || len(list.Entries) > 0 {
		t.Errorf("got %+v, %v; want an empty list", list, err)
	}
}

// Damage ends the list, or is a problem of it: what can be reached is there.
func TestReadList_Damaged(t *testing.T) {
	l := LayoutOf(elf.ELFCLASS64, binary.LittleEndian, elf.EM_X86_64)
	for _, c := range []struct {
		name    string
		damage  func(m *madeMemory)
		entries int
		want    []string // parts of the problems
	}{
		{"circle", func(m *madeMemory) { m.pointer(l, madeEntry+0x80, madeEntry+0x40) }, 3, []string{"0x10140 was in the list already: it is a circle"}},
		{"own circle", func(m *madeMemory) { m.pointer(l, madeEntry, madeEntry) }, 1, []string{"it is a circle"}},
		{"being removed", func(m *madeMemory) { m.pointer(l, madeEntry, madeEntry+0x80) }, 2, []string{"entry at 0x10180: prev_entry: 0x10140; the entry before it is at 0x10100"}},
		{"being added", func(m *madeMemory) { m.pointer(l, madeBase+16, madeEntry+0x40) }, 2, []string{"entry at 0x10140: prev_entry: 0x10100; the entry before it is at 0x0"}},
		{"lost", func(m *madeMemory) { m.pointer(l, madeEntry+0x40, 0x666) }, 2, []string{"entry at 0x666: " + errNoMemory.Error()}},
	} {
		m := newMemory(l, 3)
		c.damage(m)
		list, err := ReadList(m, l, madeBase, MaxEntries)
		if err != nil || len(list.Entries) != c.entries || !equalProblems(list.Problems, c.want) {
			t.Errorf("%s: got %+v, %v; want %d entries and %q", c.name, list, err, c.entries, c.want)
		}
	}
	for _, c := range []struct {
		name   string
		damage func(m *madeMemory)
		want   string
	}{
		{"version", func(m *madeMemory) { m.bytes[0] = 2 }, "descriptor at 0x10000: version: 2; only 1 is known"},
		{"action", func(m *madeMemory) { m.bytes[4] = 3 }, "descriptor at 0x10000: action_flag: 3; the highest is 2"},
		{"cut", func(m *madeMemory) { m.bytes = m.bytes[:23] }, "descriptor at 0x10000: " + errNoMemory.Error()},
	} {
		m := newMemory(l, 3)
		c.damage(m)
		if list, err := ReadList(m, l, madeBase, MaxEntries); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %+v, %v; want error %q", c.name, list, err, c.want)
		}
	}
}

func equalProblems(problems []error, want []string) bool {
	return slices.EqualFunc(problems, want, func(err error, want string) bool { return strings.Contains(err.Error(), want) })
}

func TestReadSymfile_Damaged(t *testing.T) {
	l := LayoutOf(elf.ELFCLASS64, binary.LittleEndian, elf.EM_X86_64)
	m := newMemory(l, 1)
	good := Entry{Addr: madeEntry, Symfile: madeImage, Size: 16}
	if _, err := ReadSymfile(m, &good); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		symfile, size uint64
		want          string
	}{
		{madeImage, 15, "symfile_size: 15 bytes"},
		{madeImage, MaxSymfile + 1, fmt.Sprintf("symfile_size: %d bytes", MaxSymfile+1)},
		{madeImage, 1 << 20, errNoMemory.Error()},
		{^uint64(0) - 8, 64, "symfile_size: 64 bytes"},
		{madeBase, 64, "01 00 00 00 at 0x10000 does not begin an ELF object"},
		{0x666, 64, errNoMemory.Error()},
	} {
		image, err := ReadSymfile(m, &Entry{Addr: madeEntry, Symfile: c.symfile, Size: c.size})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%d bytes at %#x: got %d bytes, error %v; want error %q", c.size, c.symfile, len(image), err, c.want)
		}
	}
}

// Lists in arbitrary memory end, and never have more than the memory allows.
func FuzzReadList(f *testing.F) {
	for i, c := range machines {
		l := LayoutOf(c.class, c.order, c.machine)
		f.Add(uint8(i), newMemory(l, 3).bytes[:0x500])
	}
	f.Fuzz(func(t *testing.T, machine uint8, data []byte) {
		c := machines[int(machine)%len(machines)]
		l := LayoutOf(c.class, c.order, c.machine)
		m := &madeMemory{madeBase, data}
		list, err := ReadList(m, l, madeBase, MaxEntries)
		if err != nil {
			return
		}
		if len(list.Entries) > len(data) {
			t.Errorf("got %d entries in %d bytes; want fewer", len(list.Entries), len(data))
		}
		if len(list.Entries) == 0 && list.First != 0 && len(list.Problems) == 0 {
			t.Errorf("got no entry and no problem; want one of them: %+v", list)
		}
		for i := range list.Entries {
			e := &list.Entries[i]
			if image, err := ReadSymfile(m, e); err == nil && uint64(len(image)) != e.Size {
				t.Errorf("got %d bytes; want %d", len(image), e.Size)
			}
		}
	})
}
