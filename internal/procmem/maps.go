package procmem

import (
	"debug/elf"
	"fmt"
	"strconv"
	"strings"

	"github.com/jitinject/jitinject/internal/elfcore"
	"github.com/jitinject/jitinject/internal/safefile/sys"
)

// A Mapping is a part of a process's memory, as /proc/PID/maps lists it.
type Mapping struct {
	elfcore.Segment
	Offset  uint64 // of its first byte in the file, in bytes; 0 without a file
	Private bool   // writes to it do not reach the file, nor other processes
	Name    string // the path of a file, in brackets that of special memory, or ""
}

// readMaps reads the mappings of a process, in the order of their addresses.
func readMaps(path string) (mappings []Mapping, err error) {
	text, err := sys.ReadFile(path)
	if err != nil {
		return nil, err
	}
	if mappings, err = parseMaps(string(text)); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return mappings, nil
}

// likeCore returns the mappings as a core dump lists them.
func likeCore(mappings []Mapping) (segments []elfcore.Segment, files []elfcore.File) {
	for i := range mappings {
		m := &mappings[i]
		segments = append(segments, m.Segment)
		if strings.HasPrefix(m.Name, "/") {
			files = append(files, elfcore.File{Start: m.Addr, End: m.Addr + m.Size, Offset: m.Offset, Name: m.Name})
		}
	}
	return segments, files
}

// MappedFiles returns the files that a process maps, in the order of their addresses.
func MappedFiles(pid uint32) ([]elfcore.File, error) {
	mappings, err := readMaps(Dir(pid) + "/maps")
	_, files := likeCore(mappings)
	return files, err
}

// parseMaps parses the lines of proc_pid_maps(5):
//
//	LO-HI rwxp OFFSET MAJOR:MINOR INODE   PATH
//
// The path is empty for anonymous memory, and in brackets for special memory.
func parseMaps(text string) (mappings []Mapping, err error) {
	for n, line := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
		if line == "" {
			continue
		}
		m, err := parseMapping(line)
		if err != nil {
			return nil, fmt.Errorf("line %d, %q: %w", n+1, line, err)
		}
		mappings = append(mappings, m)
	}
	return mappings, nil
}

func parseMapping(line string) (m Mapping, err error) {
	var fields [5]string
	rest := line
	for i := range fields {
		var ok bool
		if fields[i], rest, ok = strings.Cut(rest, " "); !ok && i < len(fields)-1 {
			return m, fmt.Errorf("it has %d fields; 5 come before the name", i+1)
		}
	}
	low, high, _ := strings.Cut(fields[0], "-")
	if m.Addr, err = strconv.ParseUint(low, 16, 64); err != nil {
		return m, err
	}
	end, err := strconv.ParseUint(high, 16, 64)
	if err != nil {
		return m, err
	}
	if end <= m.Addr {
		return m, fmt.Errorf("it ends at %#x, before it begins", end)
	}
	m.Size = end - m.Addr
	for i, flag := range []elf.ProgFlag{elf.PF_R, elf.PF_W, elf.PF_X} {
		if i < len(fields[1]) && fields[1][i] != '-' {
			m.Flags |= flag
		}
	}
	if m.Flags&elf.PF_R != 0 {
		m.Stored = m.Size
	}
	m.Private = len(fields[1]) > 3 && fields[1][3] == 'p'
	m.Name = unescape(strings.TrimLeft(rest, " "))
	m.Offset, err = strconv.ParseUint(fields[2], 16, 64)
	return m, err
}

// unescape replaces the one escape sequence in names: that of a line feed.
func unescape(name string) string { return strings.ReplaceAll(name, `\012`, "\n") }
