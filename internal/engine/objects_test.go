package engine_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/internal/config"
	"github.com/jitinject/jitinject/internal/engine"
	"github.com/jitinject/jitinject/internal/jitcode"
	jitdumps "github.com/jitinject/jitinject/internal/runtime/jitdump"
	"github.com/jitinject/jitinject/internal/testrec"
)

// Objects of real recordings, under the eyes of binutils, elfutils, LLVM and gdb.
// There are tens of thousands; make check looks at some of a recording of each kind, make interop at
// others of all recordings each time.

// An objectsInput is a recording whose objects tools look at, and the version of their DWARF.
type objectsInput struct {
	recording string
	dwarf     int
}

func objectsInputs() (all []objectsInput) {
	if os.Getenv("JITINJECT_ALL") == "" {
		return []objectsInput{{"node-dwarf", 5}, {"erlang", 5}, {"php-dwarf", 5}, {"lli-hot", 4}, {"lli-hot", 5}, {"toyjit", 4}, {"toyjit", 5}}
	}
	for _, name := range testrec.Names {
		all = append(all, objectsInput{name, 4}, objectsInput{name, 5})
	}
	return all
}

// objects injects a recording and returns the directory and names of its objects.
func objects(t *testing.T, recording string, dwarf int) (dir string, names []string) {
	t.Helper()
	in := testrec.Place(t, recording)
	dir = filepath.Join(in, "objects")
	sum, err := engine.Run(context.Background(), config.Options{Input: filepath.Join(in, "perf.data"), Output: filepath.Join(in, "out.data"), Objects: dir, DWARF: dwarf})
	if err != nil || !sum.Complete() {
		t.Fatalf("got %s, %v; want no error, nothing missing", asJSON(sum), err)
	}
	paths := objectPaths(t, dir)
	if len(paths) != sum.Objects || len(paths) == 0 {
		t.Fatalf("%d objects, want %d", len(paths), sum.Objects)
	}
	for _, p := range paths {
		names = append(names, filepath.Base(p))
	}
	return dir, names
}

// lintObjects asks eu-elflint. Unwind tables with a place of their own are not allocated: no PT_LOAD
// may have them. That is all that there may be to complain of.
func lintObjects(t *testing.T, dir, lint string, names []string) {
	t.Helper()
	b, _ := testrec.Command(t, dir, lint, append([]string{"--gnu-ld"}, names...)...).CombinedOutput()
	right, apart := 0, 0
	var other []string
	for line := range strings.Lines(string(b)) {
		line = strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(line, "No errors"):
			right++
		case strings.HasSuffix(line, "'.eh_frame_hdr' must be allocated"):
			apart++
		case line != "" && !strings.HasSuffix(line, ".so:"):
			other = append(other, line)
		}
	}
	if right+apart != len(names) || len(other) > 0 {
		t.Errorf("eu-elflint finds %d of %d objects right, %d with tables apart: %q", right, len(names), apart, other)
	}
}

func TestObjects_ToolsFindNothingWrong(t *testing.T) {
	readelf, lint, verify := testrec.Tool(t, "readelf"), testrec.Tool(t, "eu-elflint"), testrec.Tool(t, "llvm-dwarfdump-14", "llvm-dwarfdump")
	for _, in := range objectsInputs() {
		t.Run(fmt.Sprintf("%s-%d", in.recording, in.dwarf), func(t *testing.T) {
			dir, names := objects(t, in.recording, in.dwarf)
			for names := range slices.Chunk(testrec.Chosen(t, names, 200, 1000), 500) {
				if _, errs := testrec.RunBoth(t, dir, readelf, append([]string{"-aW"}, names...)...); errs != "" {
					t.Errorf("readelf complains: %s", errs)
				}
				lintObjects(t, dir, lint, names)
				out := testrec.Run(t, dir, verify, append([]string{"--verify"}, names...)...)
				if n := strings.Count(out, "No errors."); n != len(names) || strings.Contains(out, "warning:") {
					t.Errorf("llvm-dwarfdump finds %d of %d objects right:\n%s", n, len(names), out)
				}
			}
		})
	}
}

// GNU, elfutils and LLVM addr2line agree with the dump about the first and the
// last byte of every row, and about what lies in front of the first one.
func TestObjects_EveryAddr2line(t *testing.T) {
	gnu, elfutils, llvm := testrec.Tool(t, "addr2line"), testrec.Tool(t, "eu-addr2line"), testrec.Tool(t, "llvm-symbolizer-14", "llvm-symbolizer")
	for _, in := range objectsInputs() {
		t.Run(fmt.Sprintf("%s-%d", in.recording, in.dwarf), func(t *testing.T) {
			dir, _ := objects(t, in.recording, in.dwarf)
			for _, f := range testrec.Chosen(t, wantedLines(t, in.recording, dir), 25, 100) {
				var addrs []string
				for _, l := range f.lines {
					addrs = append(addrs, fmt.Sprintf("%#x", l.addr))
				}
				with := func(args ...string) []string { return append(args, addrs...) }
				compare(t, "GNU", f.object, f.lines, false, testrec.Run(t, dir, gnu, with("-e", f.object)...))
				compare(t, "elfutils", f.object, f.lines, true, testrec.Run(t, dir, elfutils, with("-e", f.object)...))
				compare(t, "LLVM", f.object, f.lines, true, testrec.Run(t, dir, llvm, with("--obj="+f.object, "--functions=none", "--no-inlines")...))
			}
		})
	}
}

// wantedLine is what an address of an object should give.
type wantedLine struct {
	addr         uint64
	file         string // "" for no line
	line, column uint32
}

// A wantedFunction is what the addresses of a function in an object should give.
type wantedFunction struct {
	object string
	lines  []wantedLine
}

// wantedLines reads the dumps of a recording: what the addresses of each function that
// has lines should give, at each place that it has in the objects of a directory. A
// function in a bundle is known by its name and its address, one that has an object of
// its own by that object's name.
func wantedLines(t *testing.T, recording, objects string) (wanted []wantedFunction) {
	t.Helper()
	spots := spotsOf(t, objects, filepath.Join(objects, "..", "out.data"))
	for _, path := range testrec.Dumps(t, testrec.Unpack(t, recording)) {
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		d, err := jitdumps.OpenFile(f)
		if err == nil {
			err = d.Scan(t.Context())
		}
		if err != nil {
			t.Fatal(err)
		}
		r := d.Reader()
		for _, e := range d.Events {
			fn, err := r.Function(int(e.Function))
			if err != nil {
				t.Fatal(err)
			}
			if len(fn.Lines) == 0 {
				continue
			}
			alone, found := fmt.Sprintf("jitted-%d-%d.so", e.PID, e.Index), false
			for _, s := range spots[string(fn.Name)] {
				if name := filepath.Base(s.object); name == alone || s.memory == e.Addr && s.size == e.Size && sameBytes(t, s, fn.Code) {
					wanted, found = append(wanted, wantedFunction{name, linesAt(fn, s.addr)}), true
				}
			}
			if !found {
				t.Errorf("%s at %#x has lines and is in no object", fn.Name, e.Addr)
			}
		}
	}
	return wanted
}

// sameBytes reports whether a function in an object has some code.
func sameBytes(t *testing.T, s spot, code []byte) bool { return bytes.Equal(s.code(t), code) }

// linesAt returns what addresses of a function should give that is at addr.
func linesAt(fn *jitcode.Function, addr uint64) (lines []wantedLine) {
	for i, l := range fn.Lines {
		end := uint64(len(fn.Code))
		if i+1 < len(fn.Lines) {
			end = fn.Lines[i+1].Offset
		}
		if i == 0 && l.Offset > 0 {
			lines = append(lines, wantedLine{addr: addr})
		}
		for _, off := range []uint64{l.Offset, end - 1} {
			want := wantedLine{addr + off, "", l.Line, l.Column}
			if l.Line != 0 {
				want.file = fn.Files[l.File]
			}
			lines = append(lines, want)
		}
	}
	return lines
}

// compare holds the output of an addr2line, a line "file:line[:column]" for each
// address, against what it should be. For no line tools print ?? or a file and
// line 0 or ?.
func compare(t *testing.T, tool, object string, want []wantedLine, columns bool, out string) {
	var got []string
	for line := range strings.Lines(out) {
		if line = strings.TrimSpace(line); line != "" {
			got = append(got, line)
		}
	}
	if len(got) != len(want) {
		t.Errorf("%s, %s: %d answers for %d addresses", tool, object, len(got), len(want))
		return
	}
	for i, w := range want {
		file, line, column := splitLine(got[i])
		if !columns {
			column = w.column
		}
		if w.file == "" {
			if line != 0 {
				t.Errorf("%s, %s: %#x is %s, it has no line", tool, object, w.addr, got[i])
			}
			continue
		}
		// Relative names count from ".", which elfutils puts in front, twice in
		// version 4.
		if strings.TrimLeft(file, "./") != strings.TrimLeft(w.file, "./") || line != w.line || column != w.column {
			t.Errorf("%s, %s: %#x is %s, want %s:%d:%d", tool, object, w.addr, got[i], w.file, w.line, w.column)
		}
	}
}

func splitLine(s string) (file string, line, column uint32) {
	s, _, _ = strings.Cut(s, " (discriminator")
	parts := strings.Split(s, ":")
	number := func(s string) (uint32, bool) {
		if s == "?" {
			return 0, true
		}
		n, err := strconv.ParseUint(s, 10, 32)
		return uint32(n), err == nil
	}
	var numbers []uint32
	for len(parts) > 1 && len(numbers) < 2 {
		n, ok := number(parts[len(parts)-1])
		if !ok {
			break
		}
		numbers = append([]uint32{n}, numbers...)
		parts = parts[:len(parts)-1]
	}
	switch len(numbers) {
	case 2:
		line, column = numbers[0], numbers[1]
	case 1:
		line = numbers[0]
	}
	return strings.Join(parts, ":"), line, column
}

// gdb loads an object and knows its lines and instructions.
func TestObjects_InGDB(t *testing.T) {
	gdb := testrec.Tool(t, "gdb")
	dir, _ := objects(t, "lli-hot", 5)
	out, errs := testrec.RunBoth(t, dir, gdb, "-nx", "-batch", "jitted-585-1.so", "-ex", "info line *0x9a", "-ex", "info symbol 0x9a", "-ex", "disassemble 0x80,0x90")
	for _, want := range []string{`Line 5 of "/tmp/rec/lli-hot/hot.c" starts at address 0x9a <hot+26> and ends at 0xc4 <hot+68>.`, "hot + 26 in section .text", "<hot+0>:"} {
		if !strings.Contains(out, want) {
			t.Errorf("gdb does not say %q:\n%s%s", want, out, errs)
		}
	}
	if strings.Contains(errs, "warning") && !strings.Contains(errs, "auto-load") {
		t.Errorf("gdb warns: %s", errs)
	}
}
