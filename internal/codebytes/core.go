package codebytes

import (
	"debug/elf"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/jitinject/jitinject/internal/elfcore"
	"github.com/jitinject/jitinject/internal/jitcode"
	"github.com/jitinject/jitinject/internal/model"
	"github.com/jitinject/jitinject/internal/quote"
	"github.com/jitinject/jitinject/internal/recording"
)

// A pid alone does not prove that a core dump is of a process: pids are used again, and differ in
// containers. The addresses of mapped files prove more, because they are random. So either both
// must match a process, or the files alone.

// A candidate is a process of the recording that a memory may be of.
type candidate struct {
	PID    uint32
	Number uint32 // in its own pid namespace, if that is known, or 0
	Last   uint64 // a time at which it ran the program, in the recording's nanoseconds
	Maps   []recording.FileMap
	Holds  func(Memory) bool // reports whether a memory has any of the functions; nil for yes
}

// MatchDump is match for the process of a dump. maps are the executable mappings of that.
func (c *Files) MatchDump(f *File, d *model.Dump, maps []recording.FileMap) (note string, err error) {
	return match(c.Rec, f, &candidate{
		PID: d.PID, Number: d.Source.PID(), Last: LastTime(d), Maps: maps,
		Holds: func(m Memory) bool { return holdsAny(m, d) },
	})
}

// match fails if the memory of f is not of a process, with the reason. It returns a note if the
// process was inferred. f must not be an image.
func match(rec *recording.Recording, f *File, p *candidate) (note string, err error) {
	if f.Live != nil {
		return "", matchLive(rec, f.Live, p)
	}
	mapped, err := compareMaps(f.Core, p.Maps)
	if err != nil {
		return "", fmt.Errorf("it is a core dump of another process than %d: %w", p.PID, err)
	}
	numbered := IsNumbered(f.Core, p.PID) || p.Number != 0 && IsNumbered(f.Core, p.Number)
	pid, known := coreNumber(f.Core)
	switch what := coreText(pid); {
	case p.Holds != nil && !p.Holds(f.Core):
		return "", fmt.Errorf("%s, and has no memory where process %d has its functions", what, p.PID)
	case numbered && (mapped || len(f.Core.Files()) == 0):
		return "", nil
	case mapped && !isRandom(p.Maps):
		return "", fmt.Errorf("%s; its files are mapped as in process %d, but that proves nothing: they were mapped without address space layout randomization", what, p.PID)
	case mapped && isOther(rec, pid, p.Last, f.Core):
		return "", fmt.Errorf("it is a core dump of process %d, which is another one in the recording than %d", pid, p.PID)
	case mapped:
		return fmt.Sprintf("process %d of its pid namespace is matched with %d: files are mapped at the same addresses", pid, p.PID), nil
	case known && numbered:
		return "", fmt.Errorf("it is a core dump of process %d, and shares no mapped file with the one that was recorded", pid)
	case pid == 0:
		return "", errors.New("the core dump names neither its process nor the mapped files")
	}
	return "", fmt.Errorf("it is a core dump of process %d, not of %d, and does not name the mapped files", pid, p.PID)
}

// coreText returns the beginning of a message about a core with a pid, 0 if it has none.
func coreText(pid int) string {
	if pid == 0 {
		return "the core dump does not name its process"
	}
	return fmt.Sprintf("it is a core dump of process %d", pid)
}

// coreNumber returns the pid in the core. known is false if it is only the tid of a thread.
func coreNumber(c *elfcore.Core) (pid int, known bool) {
	if c.PID() != 0 {
		return c.PID(), true
	}
	if threads := c.Threads(); len(threads) > 0 {
		return threads[0].TID, false
	}
	return 0, false
}

// IsNumbered reports whether a core has the pid of a process. If the core has no pid, the tids of
// its threads count.
func IsNumbered(c *elfcore.Core, pid uint32) bool {
	if c.PID() != 0 {
		return c.PID() == int(pid)
	}
	return slices.ContainsFunc(c.Threads(), func(t elfcore.Thread) bool { return t.TID == int(pid) })
}

// isOther reports whether the recording has another process with a core's pid that fits the core
// as well: a forked child has its files at the addresses of its parent's.
func isOther(rec *recording.Recording, pid int, last uint64, c *elfcore.Core) bool {
	if pid <= 0 || rec.Processes[uint32(pid)] == nil {
		return false
	}
	mapped, err := compareMaps(c, rec.FileMapsOf(uint32(pid), last))
	return err == nil && mapped
}

// compareMaps compares the addresses of mapped files. It fails if they differ, and returns false
// if there are none to compare.
func compareMaps(c Memory, maps []recording.FileMap) (bool, error) {
	places := make(map[string][]uint64) // by name, the address of offset 0 of the file
	for i := range c.Files() {
		f := &c.Files()[i]
		name := strings.TrimSuffix(f.Name, recording.DeletedSuffix)
		if at, list := f.Start-f.Offset, places[name]; len(list) == 0 || list[len(list)-1] != at && len(list) < maxPlaces {
			places[name] = append(list, at)
		}
	}
	agree, differ := 0, 0
	var first error
	for i := range maps {
		m := &maps[i]
		if m.Name == "" || strings.HasPrefix(m.Name, "[") {
			continue
		}
		switch at := places[m.Name]; {
		case slices.Contains(at, m.Lo-m.Off):
			agree++
		case len(at) > 0:
			differ++
			if first == nil {
				first = fmt.Errorf("%s is mapped at %#x there, and at %#x in the process", quote.Printable(m.Name), at[0], m.Lo-m.Off)
			}
		}
	}
	if differ > agree { // a library may have been closed and opened again
		return false, first
	}
	return agree > 0, nil
}

// isRandom reports whether files are mapped at random addresses. Without randomization, the
// kernel maps a program at two thirds of the address space, and libraries below the space for the
// stack. That has 128 MiB unless the limit is higher.
func isRandom(maps []recording.FileMap) bool {
	for i := range maps {
		m := &maps[i]
		if m.Name == "" || strings.HasPrefix(m.Name, "[") {
			continue
		}
		for _, bits := range []uint{39, 42, 47, 48} {
			end := uint64(1) << bits
			program := end / 3 * 2
			if base := m.Lo - m.Off; base > program-fixedRoom && base < program+fixedRoom {
				return false
			}
			if libraries := end - 128<<20; m.Hi <= libraries && m.Lo > libraries-64<<20 {
				return false
			}
		}
	}
	return true
}

// fixedRoom is the tolerance for the address of a program under that rule, in bytes: addresses
// are rounded to pages of up to 64 KiB.
const fixedRoom = 128 << 10

// maxPlaces bounds how many addresses of a file are compared.
const maxPlaces = 64

// holdsAny reports whether a process has memory at any function of a dump.
func holdsAny(c Memory, d *model.Dump) bool {
	events := d.Source.Scanned().Events
	var b [1]byte
	for i := 0; i < len(events); i += 1 + len(events)/recording.MaxProbes {
		if events[i].Size > 0 && c.ReadCode(events[i].Addr, b[:]) == nil {
			return true
		}
	}
	return len(events) == 0
}

// An executableMemory is the executable part of a memory. At other addresses, something has
// replaced the code.
type executableMemory struct {
	jitcode.Memory
	executable recording.Ranges
}

// executableOf returns the executable part of the memory of a process, or all of it if a core does
// not say which part that is.
func executableOf(mem Memory) jitcode.Memory {
	var maps []recording.FileMap
	for _, s := range mem.Segments() {
		if s.Flags&elf.PF_X != 0 {
			maps = append(maps, recording.FileMap{Lo: s.Addr, Hi: s.Addr + s.Size})
		}
	}
	if len(maps) == 0 {
		return mem
	}
	return executableMemory{mem, recording.ExactRanges(maps, func(*recording.FileMap) bool { return true })}
}

// ReadCode fails outside of executable memory. Otherwise it is as in jitcode.Memory.
func (m executableMemory) ReadCode(addr uint64, p []byte) error {
	if len(p) > 0 && !(m.executable.Hold(addr) && m.executable.Hold(addr+uint64(len(p))-1)) {
		return errNotCode
	}
	return m.Memory.ReadCode(addr, p)
}

// errNotCode is the error of ReadCode for memory that was not executable.
var errNotCode = errors.New("that memory could not be executed")
