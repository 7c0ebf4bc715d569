package dumptail

import (
	"debug/elf"
	"encoding/binary"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/jitinject/jitinject/internal/procmem"
	"github.com/jitinject/jitinject/internal/testrec"
)

// words returns the first bytes of a FILE with words of 64 bits at offsets.
func words(at map[int]uint64) []byte {
	b := make([]byte, fileSize)
	for off, w := range at {
		binary.LittleEndian.PutUint64(b[off:], w)
	}
	return b
}

// glibcFile has 5 bytes in a buffer of 4096, and descriptor 19.
func glibcFile() map[int]uint64 {
	return map[int]uint64{0x00: 0xfbad2c84, 0x20: 0x5000, 0x28: 0x5005, 0x30: 0x6000, 0x38: 0x5000, 0x40: 0x6000, 0x70: 19, 0x90: 40}
}

// muslFile has 5 bytes in a buffer of 1024, and descriptor 19.
func muslFile() map[int]uint64 {
	return map[int]uint64{0x18: 1, 0x20: 0x5400, 0x28: 0x5005, 0x38: 0x5000, 0x40: 1, 0x48: 1, 0x50: 1, 0x58: 0x5000, 0x60: 0x400, 0x78: 19}
}

// without returns a FILE with other words.
func without(file map[int]uint64, at int, word uint64) map[int]uint64 {
	file[at] = word
	return file
}

var files = []struct {
	name string
	file map[int]uint64
	lib  *library // nil for no FILE
	want buffer
}{
	{"glibc", glibcFile(), libraries[0], buffer{0x5000, 5, 40}},
	{"glibc, without the place", without(glibcFile(), 0x90, 1<<64-1), libraries[0], buffer{0x5000, 5, -1}},
	{"glibc, before the first write", map[int]uint64{0x00: 0xfbad2484, 0x70: 19, 0x90: 1<<64 - 1}, libraries[0], buffer{0, 0, -1}},
	{"glibc, another magic", without(glibcFile(), 0, 0xfbae2c84), nil, buffer{}},
	{"glibc, position before the start", without(glibcFile(), 0x28, 0x4fff), nil, buffer{}},
	{"glibc, position after the buffer", without(glibcFile(), 0x28, 0x6001), nil, buffer{}},
	{"glibc, start before the buffer", without(glibcFile(), 0x38, 0x5001), nil, buffer{}},
	{"glibc, huge buffer", without(glibcFile(), 0x40, 0x5001+maxBuffer), nil, buffer{}},
	{"musl", muslFile(), libraries[1], buffer{0x5000, 5, -1}},
	{"musl, no function", without(muslFile(), 0x48, 0), nil, buffer{}},
	{"musl, not 0", without(muslFile(), 0x30, 1), nil, buffer{}},
	{"musl, start before the buffer", without(muslFile(), 0x38, 0x4fff), nil, buffer{}},
	{"musl, position after the end", without(muslFile(), 0x28, 0x5401), nil, buffer{}},
	{"musl, end after the buffer", without(muslFile(), 0x20, 0x5401), nil, buffer{}},
	{"musl, buffer at the end of memory", without(muslFile(), 0x58, 1<<64-1), nil, buffer{}},
	{"zeros", nil, nil, buffer{}},
}

func TestParse_Layouts(t *testing.T) {
	for _, c := range files {
		for i, lib := range libraries {
			got, ok := lib.parse(words(c.file), 0x4000)
			want := lib == c.lib
			if ok = ok && lib.descriptor(words(c.file)) == 19; ok != want || ok && got != c.want {
				t.Errorf("%s, library %d: got %+v, %v; want %+v, %v", c.name, i, got, ok, c.want, want)
			}
		}
	}
	fresh := without(without(without(muslFile(), 0x38, 0), 0x28, 0), 0x20, 0)
	for addr, want := range map[uint64]bool{0x5000 - 0xf0: true, 0x4000: false, 0x5001: false} {
		if got, ok := parseMusl(words(fresh), addr); ok != want || ok && got != (buffer{0x5000, 0, -1}) {
			t.Errorf("musl before the first write, %#x: got %+v, %v; want a FILE: %v", addr, got, ok, want)
		}
	}
}

// glibc's header has the offsets of parseGlibc.
func TestParseGlibc_HeaderOffsets(t *testing.T) {
	testrec.Run(t, ".", testrec.Tool(t, gcc...), "-fsyntax-only", "-Wall", "-Werror", filepath.Join("testdata", "layout.c"))
}

func TestIsSupported_Machines(t *testing.T) {
	for _, c := range []struct {
		p    procmem.Process
		want bool
	}{
		{procmem.Process{Class: elf.ELFCLASS64, Order: binary.LittleEndian, Machine: elf.EM_X86_64}, true},
		{procmem.Process{Class: elf.ELFCLASS64, Order: binary.LittleEndian, Machine: elf.EM_AARCH64}, true},
		{procmem.Process{Class: elf.ELFCLASS64, Order: binary.BigEndian, Machine: elf.EM_AARCH64}, false},
		{procmem.Process{Class: elf.ELFCLASS32, Order: binary.LittleEndian, Machine: elf.EM_X86_64}, false}, // x32
		{procmem.Process{Class: elf.ELFCLASS32, Order: binary.LittleEndian, Machine: elf.EM_386}, false},
		{procmem.Process{Class: elf.ELFCLASS64, Order: binary.BigEndian, Machine: elf.EM_S390}, false},
	} {
		if got := isSupported(&c.p); got != c.want {
			t.Errorf("got %v for %v, %v, %v; want %v", got, c.p.Class, c.p.Order, c.p.Machine, c.want)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, c := range files {
		f.Add(words(c.file), uint64(0x4000))
	}
	f.Fuzz(func(t *testing.T, file []byte, addr uint64) {
		if len(file) < fileSize {
			return
		}
		for i, lib := range libraries {
			lib.descriptor(file)
			b, ok := lib.parse(file[:fileSize], addr)
			if ok && (b.used < 0 || b.used > maxBuffer || b.start+uint64(b.used) < b.start || b.offset < -1) {
				t.Errorf("library %d: got %+v; want a buffer of at most %d bytes", i, b, maxBuffer)
			}
		}
	})
}

// A FILE is found wherever it lies, at the borders of chunks as well, and next to memory that cannot be
// read.
func TestSearch_Places(t *testing.T) {
	const size = 3*searchStep + 5*pageSize
	memory, err := unix.Mmap(-1, 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Munmap(memory)
	if err := unix.Mprotect(memory[10*pageSize:11*pageSize], unix.PROT_NONE); err != nil {
		t.Fatal(err)
	}
	copy(memory, "the memory of TestSearch_Places")
	p, err := procmem.Open(uint32(os.Getpid()))
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	start := uint64(0)
	for _, m := range p.Mappings() {
		head := make([]byte, 31)
		if p.ReadCode(m.Addr, head) == nil && string(head) == string(memory[:31]) && m.Size < size {
			start = m.Addr
		}
	}
	if start == 0 {
		t.Fatal("got no mapping with the text; want that which was mapped")
	}
	region := procmem.Mapping{}
	region.Addr, region.Size = start, size
	places := []int{0x40, 10*pageSize - fileSize&^15 - 16, 11 * pageSize, searchStep - pageSize - 0x50, searchStep - 0x50, searchStep, 2*searchStep - 0x10, size - fileSize&^15 - 16}
	for _, file := range [][]byte{words(glibcFile()), words(muslFile())} {
		for _, at := range places {
			saved := append([]byte(nil), memory[at:][:fileSize]...)
			copy(memory[at:], file)
			s := &search{process: p, fd: 19, regions: []procmem.Mapping{region}, left: maxSearched}
			if addr, lib, err := s.next(); addr != start+uint64(at) || lib == nil || err != nil {
				t.Errorf("got %#x, %v; want %#x", addr, err, start+uint64(at))
			}
			copy(memory[at:], saved)
		}
	}
	s := &search{process: p, fd: 19, regions: []procmem.Mapping{region}, left: maxSearched}
	if addr, lib, err := s.next(); lib != nil || err != nil || s.left < maxSearched-size-10*pageSize {
		t.Errorf("got %#x, %v with %d bytes left; want none", addr, err, s.left)
	}
	s = &search{process: p, fd: 19, regions: []procmem.Mapping{region}, left: searchStep}
	copy(memory[2*searchStep:], words(glibcFile()))
	if addr, lib, err := s.next(); lib != nil || err != nil {
		t.Errorf("got %#x, %v beyond what may be read; want none", addr, err)
	}
}
