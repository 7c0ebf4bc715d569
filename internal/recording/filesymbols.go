package recording

import (
	"debug/elf"
	"errors"
	"slices"
	"sort"

	"golang.org/x/sys/unix"

	"github.com/jitinject/jitinject/internal/buildid"
	"github.com/jitinject/jitinject/internal/safefile"
	"github.com/jitinject/jitinject/internal/safefile/sys"
	"github.com/jitinject/jitinject/perfdata"
)

// This file reads the symbols and build ids of recorded files.

// FileSymbols are the ranges of a file that its function symbols cover, by offset.
type FileSymbols struct {
	lo, hi []uint64 // in ascending order and disjoint
}

// Cover reports whether a symbol covers an offset in the file.
func (s *FileSymbols) Cover(off uint64) bool {
	i := sort.Search(len(s.lo), func(i int) bool { return s.lo[i] > off })
	return i > 0 && off < s.hi[i-1]
}

// ReadSymbols returns the symbols of a mapped file. There are none if the file cannot be read, or
// is not the recorded one.
func ReadSymbols(rec *Recording, m *FileMap) *FileSymbols {
	s := new(FileSymbols)
	file, f, err := OpenELF(m.Name)
	if err != nil || f == nil {
		return s // they save work, and their absence costs no function
	}
	defer file.Close()
	if !rec.IsRecorded(m, file, f) {
		return s
	}
	symbols := append(SymbolsOf(f, elf.SHT_SYMTAB), SymbolsOf(f, elf.SHT_DYNSYM)...)
	symbols = slices.DeleteFunc(symbols, func(y elf.Symbol) bool {
		return elf.ST_TYPE(y.Info) != elf.STT_FUNC || y.Section == elf.SHN_UNDEF || y.Size == 0
	})
	slices.SortFunc(symbols, func(a, b elf.Symbol) int {
		switch {
		case a.Value < b.Value:
			return -1
		case a.Value > b.Value:
			return 1
		}
		return 0
	})
	for _, y := range symbols {
		lo, ok := fileOffset(f, y.Value)
		if !ok {
			continue
		}
		hi := lo + y.Size
		if n := len(s.lo); n > 0 && lo <= s.hi[n-1] {
			s.hi[n-1] = max(s.hi[n-1], hi)
			continue
		}
		s.lo, s.hi = append(s.lo, lo), append(s.hi, hi)
	}
	return s
}

// OpenELF opens a regular file that is an ELF file. If it is none, or may not be read, f is nil and
// there is nothing to close. Otherwise the caller closes file. An error says that the machine has
// failed: the file may be an ELF file.
func OpenELF(name string) (file *sys.File, f *elf.File, err error) {
	fd, err := sys.OpenPath(name, unix.O_RDONLY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err == nil {
		file, err = safefile.RegularFile(fd, name)
	}
	if err == nil {
		if f, err = elf.NewFile(file); err != nil {
			file.Close()
		}
	}
	if err == nil {
		return file, f, nil
	}
	if slices.ContainsFunc(machineFaults, func(fault unix.Errno) bool { return errors.Is(err, fault) }) {
		return nil, nil, safefile.WithoutPath(err)
	}
	return nil, nil, nil
}

// machineFaults are errors that say nothing about a file.
var machineFaults = []unix.Errno{unix.EIO, unix.EMFILE, unix.ENFILE, unix.ENOMEM, unix.ESTALE, unix.ETIMEDOUT}

// maxSymbols bounds the symbol table of a file, in bytes. Four times as much is allowed for its
// names. The path comes from the recording, so the file may be anything.
const maxSymbols = 64 << 20

// SymbolsOf returns the symbols in a table of a file, or nil if there are none or too many.
func SymbolsOf(f *elf.File, table elf.SectionType) []elf.Symbol {
	s := f.SectionByType(table)
	if s == nil || s.Size > maxSymbols || int(s.Link) >= len(f.Sections) || f.Sections[s.Link].Size > 4*maxSymbols {
		return nil
	}
	var symbols []elf.Symbol
	if table == elf.SHT_SYMTAB {
		symbols, _ = f.Symbols()
	} else {
		symbols, _ = f.DynamicSymbols()
	}
	return symbols
}

// fileOffset returns the offset in a file of the code at one of its own addresses.
func fileOffset(f *elf.File, addr uint64) (uint64, bool) {
	for _, p := range f.Progs {
		if p.Type == elf.PT_LOAD && p.Flags&elf.PF_X != 0 && addr >= p.Vaddr && addr-p.Vaddr < p.Filesz {
			return addr - p.Vaddr + p.Off, true
		}
	}
	return 0, false
}

// IsRecorded reports whether a file is the one that was mapped. It compares the build id that the
// recording knows, or else the inode.
func (rec *Recording) IsRecorded(m *FileMap, file *sys.File, f *elf.File) bool {
	want := m.BuildID
	if want == "" {
		want = rec.BuildID(m.Name)
	}
	if want != "" {
		return buildid.Of(f) == want
	}
	var st unix.Stat_t
	return m.File.Inode != 0 && sys.Fstat(int(file.Fd()), &st) == nil && st.Ino == m.File.Inode &&
		unix.Major(st.Dev) == m.File.Major && unix.Minor(st.Dev) == m.File.Minor && !isReused(m, file)
}

// OpenMapped opens the regular file at the path of a mapping. The caller closes it. recorded says that
// it is the file that was mapped, and unchanged by what the recording tells.
func (rec *Recording) OpenMapped(m *FileMap) (file *sys.File, recorded bool, err error) {
	fd, err := sys.OpenPath(m.Name, unix.O_RDONLY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err == nil {
		file, err = safefile.RegularFile(fd, m.Name)
	}
	if err != nil {
		return nil, false, err
	}
	f, err := elf.NewFile(file)
	if err != nil {
		f = new(elf.File) // without a build id
	}
	return file, rec.IsRecorded(m, file, f), nil
}

// isReused reports whether an inode has become another file since it was mapped. A file that
// replaces a removed one often gets its inode number, but not its generation.
func isReused(m *FileMap, file *sys.File) bool {
	const getVersion = 0x80087601 // FS_IOC_GETVERSION of most 64-bit machines; others refuse it
	generation, err := unix.IoctlGetUint32(int(file.Fd()), getVersion)
	return err == nil && m.File.InodeGeneration != 0 && uint64(generation) != m.File.InodeGeneration
}

// BuildIDs returns the table of build ids of a file, or nil if it has none that can be read.
func (in *Input) BuildIDs() []byte {
	if in.File == nil {
		return nil
	}
	feature := in.File.Feature(perfdata.FeatureBuildID)
	if feature == nil || feature.Content.Size() > maxBuildIDs {
		return nil
	}
	table, err := feature.Bytes()
	if err != nil {
		return nil
	}
	return table
}

// maxBuildIDs bounds the table of build ids, in bytes.
const maxBuildIDs = 64 << 20

// BuildID returns the build id that the recording's table has for a file, or "".
func (rec *Recording) BuildID(name string) string {
	for e, err := range perfdata.BuildIDs(rec.In.Order, rec.In.BuildIDs()) {
		if err != nil {
			break
		}
		if string(e.Filename) == name {
			return string(e.BuildID)
		}
	}
	return ""
}
