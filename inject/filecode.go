package inject

import (
	"debug/elf"
	"os"
	"slices"
	"sort"

	"golang.org/x/sys/unix"

	"github.com/jitinject/jitinject/perfdata"
)

// Functions of a dump that lie in a file. V8 tells of its builtins, which are part
// of its own binary, at their home there; and it maps that part of the binary a
// second time, near its other code, and runs them at either place.
//
// Two things follow where perf unwinds (elsewhere nothing is lost by it). The functions belong at the copy, too. And where the binary's
// own symbols tell of them, they stay its own at home: an unwinder of elfutils
// (perf 7) loses a file that another one is mapped into, and every frame with it.

// A fileMap is an executable mapping of a file.
type fileMap struct {
	lo, hi  uint64
	off     uint64 // in the file, of lo
	time    uint64
	name    string
	file    perfdata.FileIdentity // zero where the recording does not say
	buildID string                // likewise
}

// same reports whether two mappings are of one file.
func (m *fileMap) same(o *fileMap) bool {
	return m.name == o.name && m.file == o.file && m.buildID == o.buildID
}

// maxFileMaps bounds how many mappings are kept of a process.
const maxFileMaps = 1 << 16

// fileMapsOf returns the mappings of files that a process has at a time, some of
// them perhaps from its parent.
func (rec *recording) fileMapsOf(pid uint32, time uint64) (maps []fileMap) {
	for range maxGenerations {
		p, since := rec.processes[pid], uint64(0)
		execs := rec.genealogy.execs[pid]
		if i, _ := slices.BinarySearch(execs, time+1); i > 0 {
			since = execs[i-1]
		}
		if p != nil {
			for i := range p.fileMaps {
				if m := &p.fileMaps[i]; m.time >= since || m.time == 0 {
					maps = append(maps, *m)
				}
			}
		}
		b, ok := rec.genealogy.birth(pid, time)
		if !ok || !b.clones || b.time < since {
			break
		}
		pid, time = b.parent, b.time
	}
	return maps
}

// A fileCode answers for the files of a recording where functions of dumps belong.
type fileCode struct {
	rec     *recording
	of      map[program][]fileMap
	symbols map[string]*fileSymbols
}

// A program is what a process is between two execs.
type program struct {
	pid   uint32
	execs int // before
}

func newFileCode(rec *recording) *fileCode {
	return &fileCode{rec: rec, of: make(map[program][]fileMap), symbols: make(map[string]*fileSymbols)}
}

// spread appends m, or, if its function is in a file, mappings at the copies of that
// part of the file, and at home only if nothing else tells of it there.
func (f *fileCode) spread(spread []mapping, m mapping) []mapping {
	execs, _ := slices.BinarySearch(f.rec.genealogy.execs[m.pid], m.time+1)
	key := program{m.pid, execs}
	maps, ok := f.of[key]
	if !ok {
		maps = f.rec.fileMapsOf(m.pid, m.time)
		f.of[key] = maps
	}
	if !f.rec.copiesStacks() {
		return append(spread, m) // nothing will be unwound
	}
	home := slices.IndexFunc(maps, func(x fileMap) bool { return x.lo <= m.addr && m.addr+m.len <= x.hi })
	if home < 0 {
		return append(spread, m)
	}
	h := maps[home]
	off := m.addr - h.lo + h.off
	if !f.serves(&h, m.pid, off) {
		spread = append(spread, m)
	}
	for i := range maps {
		c := &maps[i]
		addr := off - c.off + c.lo
		if i == home || addr == m.addr || !c.same(&h) || off < c.off || addr+m.len > c.hi {
			continue
		}
		copied := m
		copied.addr, copied.time = addr, max(m.time, c.time+1) // behind the record that says so
		spread = append(spread, copied)
	}
	return spread
}

// serves reports whether perf finds a symbol of the file itself for the code at an
// offset in it.
func (f *fileCode) serves(m *fileMap, pid uint32, off uint64) bool {
	if f.rec.inContainer(pid) {
		return false
	}
	key := m.name + "\x00" + m.buildID
	s, ok := f.symbols[key]
	if !ok {
		s = readSymbols(f.rec, m)
		f.symbols[key] = s
	}
	return s.cover(off)
}

// fileSymbols are the places in a file that its symbols are about, by offset.
type fileSymbols struct {
	lo, hi []uint64 // sorted and apart
}

func (s *fileSymbols) cover(off uint64) bool {
	i := sort.Search(len(s.lo), func(i int) bool { return s.lo[i] > off })
	return i > 0 && off < s.hi[i-1]
}

// readSymbols reads the symbols of a file. There are none unless it is the file that
// was recorded.
func readSymbols(rec *recording, m *fileMap) *fileSymbols {
	s := new(fileSymbols)
	fd, err := unix.Open(m.name, unix.O_RDONLY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return s
	}
	file, err := regularFile(fd, m.name)
	if err != nil {
		return s
	}
	defer file.Close()
	f, err := elf.NewFile(file)
	if err != nil || !rec.isRecorded(m, file, f) {
		return s
	}
	symbols, _ := f.Symbols()
	if dynamic, err := f.DynamicSymbols(); err == nil {
		symbols = append(symbols, dynamic...)
	}
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

// fileOffset returns where in a file the code at an address of its own lies.
func fileOffset(f *elf.File, addr uint64) (uint64, bool) {
	for _, p := range f.Progs {
		if p.Type == elf.PT_LOAD && p.Flags&elf.PF_X != 0 && addr >= p.Vaddr && addr-p.Vaddr < p.Filesz {
			return addr - p.Vaddr + p.Off, true
		}
	}
	return 0, false
}

// isRecorded reports whether a file is the one that was mapped: it has the build id
// that the recording knows, or is still the same inode.
func (rec *recording) isRecorded(m *fileMap, file *os.File, f *elf.File) bool {
	want := m.buildID
	if want == "" {
		want = rec.buildID(m.name)
	}
	if want != "" {
		return buildIDOf(f) == want
	}
	var st unix.Stat_t
	return m.file.Inode != 0 && unix.Fstat(int(file.Fd()), &st) == nil && st.Ino == m.file.Inode &&
		unix.Major(st.Dev) == m.file.Major && unix.Minor(st.Dev) == m.file.Minor
}

// maxBuildIDs bounds the table of build ids that is looked at, in bytes.
const maxBuildIDs = 64 << 20

// buildID returns the build id that the recording's table has for a file, or "".
func (rec *recording) buildID(name string) string {
	if rec.in.file == nil {
		return ""
	}
	feature := rec.in.file.Feature(perfdata.FeatureBuildID)
	if feature == nil || feature.Content.Size() > maxBuildIDs {
		return ""
	}
	table := make([]byte, feature.Content.Size())
	if _, err := feature.Content.ReadAt(table, 0); err != nil {
		return ""
	}
	for e, err := range perfdata.BuildIDs(rec.in.order, table) {
		if err != nil {
			break
		}
		if string(e.Filename) == name {
			return string(e.BuildID)
		}
	}
	return ""
}

// buildIDOf returns the build id of an ELF file, or "".
func buildIDOf(f *elf.File) string {
	s := f.Section(".note.gnu.build-id")
	if s == nil || s.Size > 1<<10 {
		return ""
	}
	note, err := s.Data()
	if err != nil || len(note) < 12 {
		return ""
	}
	name, desc := f.ByteOrder.Uint32(note), f.ByteOrder.Uint32(note[4:])
	at := 12 + (uint64(name)+3)&^3
	if at+uint64(desc) > uint64(len(note)) {
		return ""
	}
	return string(note[at : at+uint64(desc)])
}
