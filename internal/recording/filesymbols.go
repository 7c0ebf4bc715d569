package recording

import (
	"debug/elf"
	"errors"
	"io"
	"slices"
	"sort"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/jitinject/jitinject/internal/addrs"
	"github.com/jitinject/jitinject/internal/format/elffile"
	"github.com/jitinject/jitinject/internal/safefile"
	"github.com/jitinject/jitinject/internal/safefile/sys"
	"github.com/jitinject/jitinject/perfdata"
)

// This file reads the symbols and build ids of recorded files.

// FileSymbols are the ranges of a file that its function symbols cover, by offset.
type FileSymbols struct {
	ranges Ranges // exact
	state  FileState
	loads  []addrs.Range // executable segments of a recorded file, by offset
}

// CoverAny reports whether a symbol covers any offset from lo up to hi.
func (s *FileSymbols) CoverAny(lo, hi uint64) bool {
	i := sort.Search(len(s.ranges), func(i int) bool { return s.ranges[i].Hi > lo })
	return i < len(s.ranges) && s.ranges[i].Lo < hi
}

// State says whether perf can use the file for size bytes of code at an offset.
func (s *FileSymbols) State(off, size uint64) FileState {
	if s.state == FileRecorded && !slices.ContainsFunc(s.loads, func(r addrs.Range) bool { return off >= r.Lo && off < r.Hi && size <= r.Hi-off }) {
		return FileUseless // to unwinders, the code is not part of the file
	}
	return s.state
}

// A FileState says what is known about a mapped file.
type FileState int

const (
	// FileUnknown: another file is there, or it cannot be read. perf uses what is there.
	FileUnknown FileState = iota
	// FileAbsent: no file is there, so perf finds nothing in it on this machine.
	FileAbsent
	// FileRecorded: the ELF file is the recorded one.
	FileRecorded
	// FileUseless: no perf finds symbols or unwind tables in it. It has been deleted, or it is no
	// ELF file that is loaded so.
	FileUseless
)

// Cover reports whether a symbol covers an offset in the file.
func (s *FileSymbols) Cover(off uint64) bool { return s.ranges.Hold(off) }

// OpenRecorded opens the ELF file that was mapped. If the file there is another one, or no ELF file, f is
// nil and there is nothing to close. Otherwise the caller closes file. An error is a failure to read it.
func (r *Recording) OpenRecorded(m *FileMap) (file *sys.File, f *elffile.File, err error) {
	file, f, err = OpenELF(m.Name)
	if err != nil || f == nil {
		return nil, nil, err
	}
	if !r.IsRecorded(m, file, f) {
		err = file.Failed()
		file.Close()
		return nil, nil, err
	}
	return file, f, nil
}

// NoteUnread notes the error of reading a mapped file, if it is a failure.
func (r *Recording) NoteUnread(name string, err error) {
	if IsFailure(err) {
		if r.Unread == nil {
			r.Unread = make(map[string]error)
		}
		r.Unread[name] = err
	}
}

// ReadSymbols returns the symbols of a mapped file. There are none if the file cannot be read, which is
// noted, or is not the recorded one.
func ReadSymbols(rec *Recording, m *FileMap) *FileSymbols {
	s := new(FileSymbols)
	file, f, err := rec.OpenRecorded(m)
	rec.NoteUnread(m.Name, err)
	if f == nil {
		if err == nil {
			s.state = stateOf(m.Name)
		}
		return s
	}
	defer file.Close()
	defer func() { rec.NoteUnread(m.Name, file.Failed()) }()
	s.state = FileRecorded
	for _, p := range f.Progs {
		if p.Type == elf.PT_LOAD && p.Flags&elf.PF_X != 0 && p.Off+p.Filesz >= p.Off {
			s.loads = append(s.loads, addrs.Range{Lo: p.Off, Hi: p.Off + p.Filesz})
		}
	}
	for _, table := range []elf.SectionType{elf.SHT_SYMTAB, elf.SHT_DYNSYM} {
		for y := range f.Symbols(table) {
			if y.Kind != elf.STT_FUNC || y.Section == elf.SHN_UNDEF || y.Size == 0 {
				continue
			}
			if lo, ok := fileOffset(f, y.Value); ok {
				s.ranges = append(s.ranges, addrs.Range{Lo: lo, Hi: lo + y.Size})
			}
		}
	}
	s.ranges = s.ranges.Joined()
	return s
}

// stateOf returns the state of a file that is not the recorded one, or no ELF file. It is useless here
// and elsewhere if it has no path, or is no ELF file: the file that is there now may be another one, but
// not of another kind.
func stateOf(path string) FileState {
	if !strings.HasPrefix(path, "/") || strings.HasSuffix(path, DeletedSuffix) || IsAnonymous([]byte(path)) {
		return FileUseless
	}
	file, err := openRegular(path)
	if safefile.IsAbsent(err) {
		return FileAbsent
	}
	if err != nil {
		return FileUnknown
	}
	defer file.Close()
	magic := make([]byte, len(elf.ELFMAG))
	n, err := file.ReadAt(magic, 0)
	if (err == nil || err == io.EOF) && string(magic[:n]) != elf.ELFMAG {
		return FileUseless
	}
	return FileUnknown
}

// OpenELF opens a regular file that is an ELF file. If it is none, f is nil and there is nothing to close.
// Otherwise the caller closes file. An error is a failure to read it: the file may be an ELF file.
func OpenELF(name string) (file *sys.File, f *elffile.File, err error) {
	file, err = openRegular(name)
	if err == nil {
		if f, err = elffile.Open(file); err == nil {
			return file, f, nil
		}
		file.Close()
	}
	if IsFailure(err) {
		return nil, nil, safefile.WithoutPath(err)
	}
	return nil, nil, nil
}

// openRegular opens a regular file for reading.
func openRegular(path string) (*sys.File, error) {
	fd, err := sys.OpenPath(path, unix.O_RDONLY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	return safefile.RegularFile(fd, path)
}

// IsFailure reports whether an error is of a call that has failed, and says nothing about what is at a path:
// the file may be what was looked for.
func IsFailure(err error) bool {
	var errno unix.Errno
	return errors.As(err, &errno) && !slices.Contains(statements, errno)
}

// statements are errors that say what is at a path: nothing, or something that is no regular file.
var statements = []unix.Errno{unix.ENOENT, unix.ENOTDIR, unix.ELOOP, unix.ENXIO, unix.ENODEV, unix.EISDIR, unix.ENAMETOOLONG, unix.ESRCH}

// fileOffset returns the offset in a file of the code at one of its own addresses.
func fileOffset(f *elffile.File, addr uint64) (uint64, bool) {
	for _, p := range f.Progs {
		if p.Type == elf.PT_LOAD && p.Flags&elf.PF_X != 0 && addr >= p.Vaddr && addr-p.Vaddr < p.Filesz {
			return addr - p.Vaddr + p.Off, true
		}
	}
	return 0, false
}

// IsRecorded reports whether a file is the one that was mapped. It compares the build id that the
// recording knows, or else the inode. Without either it is not; see also sys.File.Failed.
func (r *Recording) IsRecorded(m *FileMap, file *sys.File, f *elffile.File) bool {
	want := m.BuildID
	if want == "" {
		want = r.BuildID(m.Name)
	}
	if want != "" {
		return f.BuildID() == want
	}
	if m.File.Inode == 0 {
		return false
	}
	info, err := file.Stat()
	if err != nil {
		return false
	}
	st := info.Sys().(*syscall.Stat_t)
	return st.Ino == m.File.Inode && unix.Major(uint64(st.Dev)) == m.File.Major && unix.Minor(uint64(st.Dev)) == m.File.Minor && !isReused(m, file)
}

// OpenMapped opens the regular file at the path of a mapping. The caller closes it. recorded says that
// it is the file that was mapped, and unchanged by what the recording tells. It is noted in known.
func (r *Recording) OpenMapped(m *FileMap, known map[[2]string]bool) (file *sys.File, recorded bool, err error) {
	if file, err = openRegular(m.Name); err != nil {
		return nil, false, err
	}
	key := [2]string{m.Name, m.BuildID}
	if _, ok := known[key]; !ok {
		f, err := elffile.Open(file)
		if err != nil {
			f = new(elffile.File) // without a build id
		}
		known[key] = r.IsRecorded(m, file, f)
	}
	return file, known[key], nil
}

// isReused reports whether an inode has become another file since it was mapped. A file that
// replaces a removed one often gets its inode number, but not its generation.
func isReused(m *FileMap, file *sys.File) bool {
	const getVersion = 0x80087601 // FS_IOC_GETVERSION of most 64-bit machines; others refuse it
	generation, err := unix.IoctlGetUint32(int(file.Fd()), getVersion)
	return err == nil && m.File.InodeGeneration != 0 && uint64(generation) != m.File.InodeGeneration
}

// BuildIDs returns the table of build ids of a file, or nil if it has none, or one that is too large. It
// fails if the table cannot be read.
func (in *Input) BuildIDs() ([]byte, error) {
	feature := in.File.Feature(perfdata.FeatureBuildID)
	if feature == nil || feature.Content.Size() > maxBuildIDs {
		return nil, nil
	}
	return feature.Bytes()
}

// maxBuildIDs bounds the table of build ids, in bytes.
const maxBuildIDs = 64 << 20

// BuildID returns the build id that the recording's table has for a file, or "".
func (r *Recording) BuildID(name string) string {
	r.readIDs.Do(func() {
		r.ids = make(map[string]string)
		table, _ := r.In.BuildIDs() // Input.Failed has the error
		for e, err := range perfdata.BuildIDs(r.In.Order, table) {
			if err != nil {
				break
			}
			if _, ok := r.ids[string(e.Filename)]; !ok {
				r.ids[string(e.Filename)] = string(e.BuildID)
			}
		}
	})
	return r.ids[name]
}
