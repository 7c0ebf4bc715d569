package procmem

import (
	"debug/elf"
	"fmt"
	"strconv"
	"strings"

	"github.com/jitinject/jitinject/internal/elfcore"
	"github.com/jitinject/jitinject/internal/safefile/sys"
)

// readMaps reads the mappings of a process, in the order of their addresses.
func readMaps(path string) (segments []elfcore.Segment, files []elfcore.File, err error) {
	text, err := sys.ReadFile(path)
	if err != nil {
		return nil, nil, err
	}
	if segments, files, err = parseMaps(string(text)); err != nil {
		return nil, nil, fmt.Errorf("%s: %w", path, err)
	}
	return segments, files, nil
}

// MappedFiles returns the files that a process maps, in the order of their addresses.
func MappedFiles(pid uint32) ([]elfcore.File, error) {
	_, files, err := readMaps(Dir(pid) + "/maps")
	return files, err
}

// parseMaps parses the lines of proc_pid_maps(5):
//
//	LO-HI rwxp OFFSET MAJOR:MINOR INODE   PATH
//
// The path is empty for anonymous memory, and in brackets for special memory.
func parseMaps(text string) (segments []elfcore.Segment, files []elfcore.File, err error) {
	for n, line := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
		if line == "" {
			continue
		}
		s, f, err := parseMapping(line)
		if err != nil {
			return nil, nil, fmt.Errorf("line %d, %q: %w", n+1, line, err)
		}
		segments = append(segments, s)
		if strings.HasPrefix(f.Name, "/") {
			files = append(files, f)
		}
	}
	return segments, files, nil
}

func parseMapping(line string) (s elfcore.Segment, f elfcore.File, err error) {
	var fields [5]string
	rest := line
	for i := range fields {
		var ok bool
		if fields[i], rest, ok = strings.Cut(rest, " "); !ok && i < len(fields)-1 {
			return s, f, fmt.Errorf("it has %d fields; 5 come before the name", i+1)
		}
	}
	low, high, _ := strings.Cut(fields[0], "-")
	if s.Addr, err = strconv.ParseUint(low, 16, 64); err != nil {
		return s, f, err
	}
	end, err := strconv.ParseUint(high, 16, 64)
	if err != nil {
		return s, f, err
	}
	if end <= s.Addr {
		return s, f, fmt.Errorf("it ends at %#x, before it begins", end)
	}
	s.Size = end - s.Addr
	for i, flag := range []elf.ProgFlag{elf.PF_R, elf.PF_W, elf.PF_X} {
		if i < len(fields[1]) && fields[1][i] != '-' {
			s.Flags |= flag
		}
	}
	if s.Flags&elf.PF_R != 0 {
		s.Stored = s.Size
	}
	f = elfcore.File{Start: s.Addr, End: end, Name: unescape(strings.TrimLeft(rest, " "))}
	f.Offset, err = strconv.ParseUint(fields[2], 16, 64)
	return s, f, err
}

// unescape replaces the one escape sequence in names: that of a line feed.
func unescape(name string) string { return strings.ReplaceAll(name, `\012`, "\n") }
