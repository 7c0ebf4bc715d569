package elffile

import (
	"bytes"
	"compress/zlib"
	"debug/dwarf"
	"debug/elf"
	"encoding/binary"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/jitinject/jitinject/internal/testrec"
)

// A madeSection is a section of a file that a test makes.
type madeSection struct {
	name    uint32 // offset of its name in the first section
	kind    elf.SectionType
	flags   elf.SectionFlag
	content []byte
	link    uint32
}

// madeFile returns an ELF file for amd64. The content of the first section are the names of all.
func madeFile(sections []madeSection) []byte {
	le := binary.LittleEndian
	b := make([]byte, headerSize64)
	headers := make([]byte, sectSize64, sectSize64*(1+len(sections)))
	for _, s := range sections {
		b = append(b, make([]byte, -len(b)&7)...)
		h := le.AppendUint32(nil, s.name)
		h = le.AppendUint32(h, uint32(s.kind))
		for _, v := range []uint64{uint64(s.flags), 0, uint64(len(b)), uint64(len(s.content))} {
			h = le.AppendUint64(h, v)
		}
		h = append(le.AppendUint32(h, s.link), make([]byte, sectSize64-44)...)
		headers, b = append(headers, h...), append(b, s.content...)
	}
	b = append(b, make([]byte, -len(b)&7)...)
	h := append([]byte(elf.ELFMAG), 2, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0)
	h = le.AppendUint16(le.AppendUint16(h, uint16(elf.ET_DYN)), uint16(elf.EM_X86_64))
	h = le.AppendUint64(le.AppendUint64(le.AppendUint64(le.AppendUint32(h, 1), 0), 0), uint64(len(b)))
	number := uint16(1 + len(sections))
	if 1+len(sections) >= 0xff00 {
		number = 0
		le.PutUint64(headers[32:], uint64(1+len(sections)))
	}
	for _, v := range []uint16{0, 0, headerSize64, progSize64, 0, sectSize64, number, 1} {
		h = le.AppendUint16(h, v)
	}
	copy(b, h)
	return append(b, headers...)
}

// debugFile returns a file with debugging information.
func debugFile(info, abbrev, line, str []byte) []byte {
	names := ".shstrtab\x00.debug_info\x00.debug_abbrev\x00.debug_line\x00.debug_str\x00"
	at := func(name string) uint32 { return uint32(strings.Index(names, name)) }
	return madeFile([]madeSection{
		{at(".shstrtab"), elf.SHT_STRTAB, 0, []byte(names), 0},
		{at(".debug_info"), elf.SHT_PROGBITS, 0, info, 0},
		{at(".debug_abbrev"), elf.SHT_PROGBITS, 0, abbrev, 0},
		{at(".debug_line"), elf.SHT_PROGBITS, 0, line, 0},
		{at(".debug_str"), elf.SHT_PROGBITS, 0, str, 0},
	})
}

// hostile are files of about n bytes that make a reader without bounds slow or large.
var hostile = map[string]func(n int) []byte{
	"sections with one long name": func(n int) []byte {
		sections := []madeSection{{0, elf.SHT_STRTAB, 0, append(bytes.Repeat([]byte("A"), n/2), 0), 0}}
		for range n / 2 / sectSize64 {
			sections = append(sections, madeSection{kind: elf.SHT_NOBITS})
		}
		return madeFile(sections)
	},
	"symbols with one long name": func(n int) []byte {
		symbol := append([]byte{0, 0, 0, 0, byte(elf.STT_FUNC), 0, 1, 0}, make([]byte, 16)...)
		return madeFile([]madeSection{
			{0, elf.SHT_STRTAB, 0, append(bytes.Repeat([]byte("A"), n/2), 0), 0},
			{0, elf.SHT_SYMTAB, 0, bytes.Repeat(symbol, n/2/len(symbol)), 1},
		})
	},
	"a compressed section": func(n int) []byte {
		var z bytes.Buffer
		w := zlib.NewWriter(&z)
		n = min(n, 1<<20) * 64
		w.Write(make([]byte, n))
		w.Close()
		size := binary.LittleEndian.AppendUint64([]byte{byte(elf.COMPRESS_ZLIB), 0, 0, 0, 0, 0, 0, 0}, uint64(n))
		names := []byte(".shstrtab\x00.debug_info\x00")
		return madeFile([]madeSection{
			{0, elf.SHT_STRTAB, 0, names, 0},
			{10, elf.SHT_PROGBITS, elf.SHF_COMPRESSED, append(append(size, make([]byte, 8)...), z.Bytes()...), 0},
		})
	},
	"entries with one long name": func(n int) []byte {
		// 1: compile unit with children; 2: inlined call, name strp
		abbrev := []byte{1, 0x11, 1, 0, 0, 2, 0x1d, 0, 3, 0x0e, 0, 0, 0}
		return debugFile(madeUnit(append([]byte{1}, bytes.Repeat([]byte{2, 0, 0, 0, 0}, n/10)...)), abbrev, nil, append(bytes.Repeat([]byte("A"), min(n/2, 200<<10)), 0))
	},
	"entries with many attributes without bytes": func(n int) []byte {
		abbrev := []byte{1, 0x11, 1, 0, 0, 2, 0x34, 0}
		for range n / 4 {
			abbrev = append(abbrev, 3, 0x19) // flag_present
		}
		return debugFile(madeUnit(append([]byte{1}, bytes.Repeat([]byte{2}, n/2)...)), append(abbrev, 0, 0, 0), nil, nil)
	},
	"many attributes, as many as are allowed": func(n int) []byte {
		abbrev := append([]byte{1, 0x11, 1, 0, 0, 2, 0x34, 0}, bytes.Repeat([]byte{3, 0x19}, 100)...)
		return debugFile(madeUnit(append([]byte{1}, bytes.Repeat([]byte{2}, n)...)), append(abbrev, 0, 0, 0), nil, nil)
	},
	"units with overlapping abbreviations": func(n int) []byte {
		var info []byte
		for i := range n / 32 {
			info = append(info, madeUnitAt(uint32(8*i), []byte{1})...)
		}
		return debugFile(info, append(bytes.Repeat([]byte{1, 0x11, 0, 0, 0, 2, 0x34, 0}, n/16), 0), nil, nil)
	},
}

// madeUnit returns a unit of DWARF 4 with entries.
func madeUnit(entries []byte) []byte { return madeUnitAt(0, entries) }

// madeUnitAt does so with abbreviations at an offset.
func madeUnitAt(abbrev uint32, entries []byte) []byte {
	le := binary.LittleEndian
	b := le.AppendUint32(nil, uint32(7+len(entries)))
	b = le.AppendUint32(le.AppendUint16(b, 4), abbrev)
	return append(append(b, 8), entries...)
}

// readAll reads all of a file that the package reads.
func readAll(f *File) {
	for i := range f.Sections {
		_ = f.Sections[i].Name
	}
	for y := range f.Symbols(elf.SHT_SYMTAB) {
		_ = y.Name()
	}
	f.BuildID()
	d, err := f.DWARF()
	if err != nil || d == nil {
		return
	}
	r := d.Reader()
	for i := range d.Units {
		r.Seek(dwarf.Offset(d.Units[i].Entry))
		for {
			e, err := r.Next()
			if err != nil || e == nil {
				break
			}
			if _, err := d.RangesOf(e); err != nil {
				break
			}
		}
	}
}

// A byte of a file costs at most so many bytes of memory, beside those that every file may cost.
const perByte, always = 300, 16 << 20

// allocated returns the bytes that f allocates.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// Reading allocates at most a multiple of the size of the file, although its headers claim more.
func TestOpen_Bounded(t *testing.T) {
	for name, make := range hostile {
		for _, n := range []int{100 << 10, 1 << 20, 10 << 20}[:testrec.Rounds(3, 2)] {
			file := make(n)
			got := allocated(func() {
				if f, err := Open(bytes.NewReader(file)); err == nil {
					readAll(f)
				}
			})
			if most := uint64(perByte*len(file) + always); got > most {
				t.Errorf("%s, %d bytes: got %d bytes allocated; want at most %d", name, len(file), got, most)
			}
		}
	}
}

// Holes in a file count as what the file system stores.
func TestOpen_Holes(t *testing.T) {
	b := madeFile(nil)
	binary.LittleEndian.PutUint16(b[60:], 0)        // e_shnum
	binary.LittleEndian.PutUint64(b[64+32:], 4<<20) // sh_size: the number of sections
	path := filepath.Join(t.TempDir(), "holes")
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path, 64+64*(4<<20)); err != nil {
		t.Fatal(err)
	}
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	got := allocated(func() {
		if _, err = Open(file); err == nil {
			t.Error("got no error; want one about section headers")
		}
	})
	if got > always {
		t.Errorf("got %d bytes allocated; want at most %d", got, always)
	}
}

// The number of a core's segments is after its memory, and most of that may be a hole.
func TestOpenSegments_NumberAfterAHole(t *testing.T) {
	le := binary.LittleEndian
	const at = 1 << 32
	b := append(madeFile(nil)[:headerSize64], make([]byte, progSize64)...)
	le.PutUint16(b[16:], uint16(elf.ET_CORE))
	le.PutUint64(b[32:], headerSize64) // e_phoff
	le.PutUint64(b[40:], at)           // e_shoff
	le.PutUint16(b[54:], progSize64)
	le.PutUint16(b[56:], 0xffff) // e_phnum: PN_XNUM
	first := make([]byte, sectSize64)
	le.PutUint32(first[44:], 1) // sh_info
	file, err := os.Create(filepath.Join(t.TempDir(), "core"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for off, part := range map[int64][]byte{0: b, at: first} {
		if _, err := file.WriteAt(part, off); err != nil {
			t.Fatal(err)
		}
	}
	f, err := OpenSegments(file)
	if err != nil || len(f.Progs) != 1 {
		t.Errorf("got %v, %v; want a segment", f, err)
	}
}

// An unstored file is on a file system that does not tell what it stores.
type unstored struct {
	io.ReaderAt
	size int64
}

func (u unstored) Stat() (fs.FileInfo, error) { return noBlocks{size: u.size}, nil }

// A noBlocks is the state of such a file.
type noBlocks struct {
	fs.FileInfo
	size int64
}

func (s noBlocks) Size() int64 { return s.size }
func (s noBlocks) Sys() any    { return new(syscall.Stat_t) }

// Such files are read, also if they are large.
func TestOpen_StoredBytesUnknown(t *testing.T) {
	b := madeFile([]madeSection{{kind: elf.SHT_STRTAB, content: make([]byte, 2<<20)}})
	f, err := Open(unstored{bytes.NewReader(b), int64(len(b))})
	if err != nil || len(f.Sections) != 2 {
		t.Errorf("got %v, %v; want two sections", f, err)
	}
}

// A file with holes is read whole, as the objects of bundles and skeletons are made so.
func TestOpen_BehindHoles(t *testing.T) {
	const hole = 1 << 30
	b := madeFile([]madeSection{{0, elf.SHT_STRTAB, 0, []byte(".shstrtab\x00"), 0}})
	at := binary.LittleEndian.Uint64(b[40:]) // e_shoff
	binary.LittleEndian.PutUint64(b[40:], at+hole)
	file, err := os.Create(filepath.Join(t.TempDir(), "holes"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if _, err := file.WriteAt(b[:at], 0); err != nil {
		t.Fatal(err)
	}
	if _, err := file.WriteAt(b[at:], int64(at+hole)); err != nil {
		t.Fatal(err)
	}
	f, err := Open(file)
	if err != nil || f.Section(".shstrtab") == nil {
		t.Errorf("got %v, %v; want the section", f, err)
	}
}
