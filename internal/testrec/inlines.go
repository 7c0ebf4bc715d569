package testrec

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// A Symbolizer asks a debugger or one of the addr2lines about inline stacks.
type Symbolizer struct {
	Name    string
	Columns bool // whether it tells columns
	run     func(t testing.TB, object string, addrs []uint64) (string, error)
	parse   func(out string, n int) ([][]Frame, error)
}

// Symbolizers returns those that are to agree about inline stacks.
func Symbolizers(t testing.TB) []Symbolizer {
	gnu, elfutils, llvm, gdb := Tool(t, "addr2line"), Tool(t, "eu-addr2line"), Tool(t, "llvm-symbolizer-14", "llvm-symbolizer"), Tool(t, "gdb")
	return []Symbolizer{
		{"addr2line -i", false, piped(gnu, "-a", "-i", "-f", "-e"), addr2lineStacks},
		{"eu-addr2line -i", true, piped(elfutils, "-a", "-i", "-f", "-e"), addr2lineStacks},
		{"llvm-symbolizer --inlines", true, piped(llvm, "--print-address", "--inlines", "--functions=linkage", "-e"), addr2lineStacks},
		{"gdb", false, gdbRun(gdb), GDBStacks},
	}
}

// Stacks returns the functions at each address, the innermost first.
func (s *Symbolizer) Stacks(t testing.TB, object string, addrs []uint64) [][]Frame {
	t.Helper()
	out, err := s.run(t, object, addrs)
	if err == nil {
		var stacks [][]Frame
		if stacks, err = s.parse(out, len(addrs)); err == nil {
			return stacks
		}
	}
	t.Fatalf("%s: %v\n%s", s.Name, err, out)
	return nil
}

// piped runs a tool that reads addresses from standard input.
func piped(tool string, args ...string) func(testing.TB, string, []uint64) (string, error) {
	return func(t testing.TB, object string, addrs []uint64) (string, error) {
		var in bytes.Buffer
		for _, a := range addrs {
			fmt.Fprintf(&in, "%#x\n", a)
		}
		cmd := Command(t, filepath.Dir(object), tool, append(args, object)...)
		cmd.Stdin = &in
		out, err := cmd.Output()
		return string(out), err
	}
}

// addr2lineStacks understands what the three addr2lines print: an address, and for
// each function its name and, on the next line, its place. LLVM adds empty lines.
// elfutils says after a name also where the call is, and once more with the caller.
func addr2lineStacks(out string, n int) (stacks [][]Frame, err error) {
	var name string
	for line := range strings.Lines(out) {
		line = strings.TrimSpace(line)
		switch {
		case line == "":
		case strings.HasPrefix(line, "0x") && name == "":
			stacks = append(stacks, nil)
		case len(stacks) == 0:
			return nil, fmt.Errorf("%q stands before the first address", line)
		case name == "":
			name = line
		default:
			f := place(line)
			f.Function, _, _ = strings.Cut(name, " inlined at ")
			name = ""
			stacks[len(stacks)-1] = append(stacks[len(stacks)-1], f)
		}
	}
	return stacks, whole(stacks, n, name)
}

func whole(stacks [][]Frame, n int, rest string) error {
	if len(stacks) != n || rest != "" {
		return fmt.Errorf("%d answers for %d addresses, %q is left", len(stacks), n, rest)
	}
	return nil
}

// place parses FILE:LINE or FILE:LINE:COLUMN. What tools do not know is ? or 0.
func place(s string) (f Frame) {
	s, _, _ = strings.Cut(s, " (discriminator")
	var numbers []uint32
	for len(numbers) < 2 {
		i := strings.LastIndexByte(s, ':')
		if i < 0 {
			break
		}
		n, err := strconv.ParseUint(s[i+1:], 10, 32)
		if err != nil && s[i+1:] != "?" {
			break
		}
		numbers = append(numbers, uint32(n))
		s = s[:i]
	}
	switch f.File = s; len(numbers) {
	case 1:
		f.Line = numbers[0]
	case 2:
		f.Line, f.Column = numbers[1], numbers[0]
	}
	return f
}
