package clients

import (
	"bytes"
	"debug/elf"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/internal/testrec"
)

// Programs that look into one object, asked for the addresses of samples in both layouts.

// A spot is an address in an object's file.
type spot struct {
	object string
	addr   uint64
}

// spotPair has the spot of a sample or of one of its callers in both layouts.
type spotPair [2]spot

// spotLine is a frame of perf script in an object: address, symbol, offset, file.
var spotLine = regexp.MustCompile(`(?m)^\s+([0-9a-f]+) (\S.*)\+0x([0-9a-f]+) \((\S*/jit(?:ted|bundle)-[-0-9a-f]+\.so)\)$`)

// spotPairs returns the spots of all frames that perf script shows in objects, each once.
func spotPairs(t *testing.T, p *layoutPair) (pairs []spotPair) {
	t.Helper()
	var spots [2][]spot
	for i, s := range []*side{p.single, p.bundle} {
		tables := make(map[string]map[string][]elf.Symbol)
		out := testrec.Run(t, s.dir, testrec.Tool(t, "perf"), "--buildid-dir", filepath.Join(s.dir, "unused"), "script", "-f", "--no-inline", "--no-demangle", "-F", "ip,sym,symoff,dso", "-i", s.perfData())
		for _, m := range spotLine.FindAllStringSubmatch(out, -1) {
			shown, _ := strconv.ParseUint(m[1], 16, 64)
			offset, _ := strconv.ParseUint(m[3], 16, 64)
			if tables[m[4]] == nil {
				tables[m[4]] = symbolsOf(t, m[4])
			}
			spots[i] = append(spots[i], spot{m[4], addressOf(t, tables[m[4]][m[2]], m[0], shown, offset)})
		}
	}
	if len(spots[0]) != len(spots[1]) {
		t.Fatalf("perf script shows %d frames in single objects, %d in bundles; want as many", len(spots[0]), len(spots[1]))
	}
	seen := make(map[spotPair]bool)
	for i := range spots[0] {
		pair := spotPair{spots[0][i], spots[1][i]}
		if !seen[pair] && pair[0].addr != 0 && pair[1].addr != 0 {
			seen[pair] = true
			pairs = append(pairs, pair)
		}
	}
	slices.SortStableFunc(pairs, func(x, y spotPair) int { return strings.Compare(x[0].object, y[0].object) })
	return pairs
}

// symbolsOf returns the functions of an object by name.
func symbolsOf(t *testing.T, path string) map[string][]elf.Symbol {
	t.Helper()
	f, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	all, err := f.Symbols()
	if err != nil {
		t.Fatal(err)
	}
	named := make(map[string][]elf.Symbol)
	for _, s := range all {
		if elf.ST_TYPE(s.Info) == elf.STT_FUNC {
			named[s.Name] = append(named[s.Name], s)
		}
	}
	return named
}

// addressOf returns the address of an offset in the one of several functions of a name that perf
// shows. perf 6.1 shows the address in the file. Others show that in memory, of which the lowest 12
// bits are the same: if several functions have these, it is 0.
func addressOf(t *testing.T, named []elf.Symbol, line string, shown, offset uint64) uint64 {
	t.Helper()
	var found []uint64
	for _, mask := range []uint64{1<<64 - 1, 1<<12 - 1, 0} {
		found = found[:0]
		for _, s := range named {
			if addr := s.Value + offset; (addr^shown)&mask == 0 && offset < max(s.Size, 1) {
				found = append(found, addr)
			}
		}
		if len(found) == 1 {
			return found[0]
		}
	}
	if len(found) == 0 {
		t.Fatalf("which of %d functions is meant by %s?", len(named), line)
	}
	return 0
}

// An objectTool is a program that says what is at addresses of objects. ask returns an answer for each spot.
type objectTool struct {
	name string
	ask  func(t *testing.T, dir string, spots []spot) []string
}

var objectTools = []objectTool{
	{"addr2line", askAddr2line("addr2line")},
	{"eu-addr2line", askAddr2line("eu-addr2line")},
	{"llvm-symbolizer", askSymbolizer},
	{"gdb", askGDB},
}

// askAddr2line asks binutils' or elfutils' addr2line, once for each object.
func askAddr2line(name string) func(t *testing.T, dir string, spots []spot) []string {
	return func(t *testing.T, dir string, spots []spot) (answers []string) {
		t.Helper()
		for len(spots) > 0 {
			n := 1
			for n < len(spots) && n < 500 && spots[n].object == spots[0].object {
				n++
			}
			args := []string{"-a", "-f", "-i", "-e", spots[0].object}
			for _, s := range spots[:n] {
				args = append(args, fmt.Sprintf("%#x", s.addr))
			}
			// elfutils' exits with 1 where a file has no lines, and answers all the same.
			cmd := testrec.Command(t, dir, testrec.Tool(t, name), args...)
			b, err := cmd.Output()
			if exit := (*exec.ExitError)(nil); err != nil && !(errors.As(err, &exit) && exit.ExitCode() == 1) {
				t.Fatalf("%s: %v", name, err)
			}
			out := string(b)
			parts := regexp.MustCompile(`(?m)^0x[0-9a-f]+$`).Split(out, -1)
			if len(parts) != n+1 {
				t.Fatalf("%s gives %d answers of %d:\n%s", name, len(parts)-1, n, out)
			}
			answers = append(answers, parts[1:]...)
			spots = spots[n:]
		}
		return answers
	}
}

// askSymbolizer asks llvm-symbolizer, which shows inlined calls and columns.
func askSymbolizer(t *testing.T, dir string, spots []spot) []string {
	t.Helper()
	var in strings.Builder
	for _, s := range spots {
		fmt.Fprintf(&in, "CODE %s %#x\n", s.object, s.addr)
	}
	cmd := testrec.Command(t, dir, testrec.Tool(t, "llvm-symbolizer"), "--inlining", "--functions=linkage")
	cmd.Stdin = strings.NewReader(in.String())
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil || stderr.Len() > 0 {
		t.Fatalf("llvm-symbolizer: %v\n%s", err, stderr.Bytes())
	}
	return strings.Split(strings.TrimSuffix(string(out), "\n\n"), "\n\n")
}

// gdbAddress is an address in gdb's answers. Where the code of a line ends, another function may begin.
var gdbAddress = regexp.MustCompile(`(?m) and ends at 0x[0-9a-f]+( <.*>)?\.$| ?0x[0-9a-f]+`)

// askGDB asks gdb, which loads one object after the other.
func askGDB(t *testing.T, dir string, spots []spot) []string {
	t.Helper()
	var script strings.Builder
	object := ""
	for _, s := range spots {
		if s.object != object {
			fmt.Fprintf(&script, "file %s\n", s.object)
			object = s.object
		}
		fmt.Fprintf(&script, "echo \\n====\\n\ninfo symbol %#x\ninfo line *%#x\n", s.addr, s.addr)
	}
	path := filepath.Join(dir, "questions.gdb")
	if err := os.WriteFile(path, []byte(script.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	out := testrec.Run(t, dir, testrec.Tool(t, "gdb"), "-batch", "-nx", "-ex", "set width 0", "-ex", "set confirm off", "-x", path)
	answers := strings.Split(gdbAddress.ReplaceAllString(out, ""), "\n====\n")[1:]
	for i := range answers {
		answers[i], _, _ = strings.Cut(answers[i], "Reading symbols")
		answers[i] = strings.TrimSpace(answers[i])
	}
	return answers
}

// inObjects compares the answers of programs. Where a function is in a file changes none.
func (p *layoutPair) inObjects(t *testing.T) {
	t.Helper()
	pairs := spotPairs(t, p)
	if len(pairs) == 0 {
		t.Fatal("got no sampled addresses; want some")
	}
	for _, tool := range objectTools {
		want, got := tool.ask(t, p.single.dir, sideSpots(pairs, 0)), tool.ask(t, p.bundle.dir, sideSpots(pairs, 1))
		if len(want) != len(pairs) {
			t.Fatalf("%s: got %d answers; want %d", tool.name, len(want), len(pairs))
		}
		sameParts(t, tool.name, got, want)
		t.Logf("%s: %d addresses", tool.name, len(pairs))
	}
}

// sideSpots returns the spots of one layout.
func sideSpots(pairs []spotPair, layout int) (spots []spot) {
	for _, p := range pairs {
		spots = append(spots, p[layout])
	}
	return spots
}
