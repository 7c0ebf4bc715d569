package jitdump_test

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	jitdumps "github.com/jitinject/jitinject/internal/runtime/jitdump"
	"github.com/jitinject/jitinject/internal/source"
	"github.com/jitinject/jitinject/internal/testrec"
	"github.com/jitinject/jitinject/jitdump"
)

// addressDumps are the dumps of testdata with line tables, with the producer's skew: V8 and
// LLVM add 0x40.
var addressDumps = []struct {
	recording string
	skewed    bool
}{
	{"erlang", false}, {"lli-hot", true}, {"lli-many", true}, {"node-dwarf", true}, {"node-forks", true}, {"node-fp", true}, {"node-hot", true},
	{"node-noclock", true}, {"v8-lines", true},
}

// The first tables of a dump lead to the same decision as all.
func TestLineAddresses_ForEveryPrefix(t *testing.T) {
	cuts := 0 // of dumps with 20 tables or more
	for _, c := range addressDumps {
		dir := testrec.Unpack(t, c.recording)
		paths, err := filepath.Glob(filepath.Join(dir, "*.dump"))
		if err != nil || len(paths) == 0 {
			t.Fatalf("%s: no dumps: %v", c.recording, err)
		}
		for _, path := range paths {
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			name := c.recording + "/" + filepath.Base(path)
			for cut := 1; cut <= 25; cut++ {
				d, err := jitdumps.OpenFile(bytes.NewReader(data[:len(data)*cut/25]))
				if err != nil {
					t.Fatal(err)
				}
				if err := d.Scan(t.Context()); err != nil {
					t.Fatal(err)
				}
				a, ok := d.LineAddresses()
				if !ok || a.Tables == 0 {
					continue
				}
				if a.Tables >= 20 {
					cuts++
				}
				want := source.LinesAsWritten
				if c.skewed {
					want = source.LinesMovedBack
				}
				if a.Decision != want || a.Basis != source.ByInstructions {
					t.Errorf("%s: %d of 25 parts, %d tables: %s by %s, want %s by %s", name, cut, a.Tables, a.Decision, a.Basis, want, source.ByInstructions)
				}
				checkFit(t, fmt.Sprintf("%s: %d of 25 parts", name, cut), &a, c.skewed)
			}
		}
	}
	if cuts < 100 {
		t.Errorf("%d prefixes with 20 tables or more were looked at, want 100", cuts)
	}
}

// checkFit checks the counts of a dump that is right one way.
func checkFit(t *testing.T, name string, a *source.LineAddresses, skewed bool) {
	t.Helper()
	right, wrong := a.AsWritten, a.MovedBack
	if skewed {
		right, wrong = wrong, right
	}
	if a.Skew != 0x40 || a.Tables != right.Tables+wrong.Tables+a.Either+a.Neither {
		t.Errorf("%s: skew %#x; %d tables of %d + %d + %d + %d", name, a.Skew, a.Tables, right.Tables, wrong.Tables, a.Either, a.Neither)
	}
	if right.Known*999 > right.AtStarts*1000 || wrong.AtStarts*2 > wrong.Known || right.Known > a.Rows || wrong.Known > a.Rows {
		t.Errorf("%s: %d of %d rows at starts of instructions, and %d of %d the other way", name, right.AtStarts, right.Known, wrong.AtStarts, wrong.Known)
	}
}

// pattern is a repeated sequence of instructions of 1, 2, 3 and 7 bytes: push, xor, mov,
// lea. They start at 0, 1, 3, 6, 13, 14, …
func pattern(n int) []byte {
	return bytes.Repeat([]byte{0x55, 0x31, 0xc0, 0x48, 0x89, 0xe5, 0x48, 0x8d, 0x05, 0, 0, 0, 0}, n)
}

// onStarts are offsets of instructions of pattern; none starts 0x40 before or after
// another.
func onStarts(n int) (offsets []int64) {
	for at := int64(13); len(offsets) < n; at += 13 {
		offsets = append(offsets, at, at+1, at+6)
	}
	return offsets[:n]
}

// addTable adds a function whose entries are right after subtracting skew.
func addTable(b *dumpBuilder, n int, skew int64, offsets ...int64) {
	addr := uint64(0x10000 * (n + 1))
	moved := make([]int64, len(offsets))
	for i := range offsets {
		moved[i] = offsets[i] + skew
	}
	b.debug(addr, "a.c", moved...)
	b.code(fmt.Sprintf("f%d", n), addr, pattern(40))
}

// If tables contradict each other, none is used; a single wrong one loses its own lines.
func TestLineAddresses_ContradictoryTables(t *testing.T) {
	for _, c := range []struct {
		name                      string
		asWritten, moved, nowhere int
		want                      source.LineDecision
		tables                    int // with lines
	}{
		{"both ways", 10, 10, 0, source.LinesContradictory, 0},
		{"a tenth the other way", 90, 10, 0, source.LinesContradictory, 0},
		{"neither way", 0, 0, 20, source.LinesContradictory, 0},
		{"half of them neither way", 0, 10, 10, source.LinesContradictory, 0},
		{"one of three", 0, 2, 1, source.LinesContradictory, 0},
		{"one of thirty neither way", 0, 29, 1, source.LinesMovedBack, 29},
		{"one of thirty the other way", 29, 1, 0, source.LinesAsWritten, 29},
		{"two of thirty-one neither way", 29, 0, 2, source.LinesAsWritten, 29},
		{"one way", 0, 30, 0, source.LinesMovedBack, 30},
		{"as they are", 30, 0, 0, source.LinesAsWritten, 30},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newDump(t, x86)
			n := 0
			for i, kind := range []int{c.asWritten, c.moved, c.nowhere} {
				for range kind {
					offsets := onStarts(9)
					if i == 2 {
						for k := range offsets {
							offsets[k] += 4 // in a mov or a lea
						}
					}
					addTable(b, n, [...]int64{0, 0x40, 0}[i], offsets...)
					n++
				}
			}
			d := b.scan()
			got := tables(t, d)
			a, _ := d.LineAddresses()
			if a.Decision != c.want || len(got) != c.tables {
				t.Errorf("%s, %d functions with lines; want %s, %d", a.Decision, len(got), c.want, c.tables)
			}
			if a.AsWritten.Tables != c.asWritten || a.MovedBack.Tables != c.moved || a.Neither != c.nowhere || a.Either != 0 {
				t.Errorf("got %+v; want AsWritten.Tables = %v, MovedBack.Tables = %v, Neither = %v, Either = 0", a, c.asWritten, c.moved, c.nowhere)
			}
			r := fixes(d)
			lost := r["contradictory-lines"] + r["misplaced-lines"]
			if want := int64(n - c.tables); lost != want {
				t.Errorf("repairs %v, want %d without lines", r, want)
			}
		})
	}
}

// All tables count. The first ones, or every tenth, may contradict the rest.
func TestLineAddresses_NotFromASample(t *testing.T) {
	const n = 640
	for _, c := range []struct {
		name   string
		odd    func(i int) bool // another table than the rest
		silent bool             // the odd ones fit both ways
		want   source.LineDecision
	}{
		{"every tenth says nothing", func(i int) bool { return i%10 == 0 }, true, source.LinesMovedBack},
		{"the first 256 say nothing", func(i int) bool { return i < 256 }, true, source.LinesMovedBack},
		{"all but the last say nothing", func(i int) bool { return i < n-1 }, true, source.LinesMovedBack},
		{"every tenth is as written", func(i int) bool { return i%10 == 0 }, false, source.LinesContradictory},
		{"all but every tenth are as written", func(i int) bool { return i%10 != 0 }, false, source.LinesContradictory},
		{"the first 256 are as written", func(i int) bool { return i < 256 }, false, source.LinesContradictory},
		{"the last 64 are as written", func(i int) bool { return i >= n-64 }, false, source.LinesContradictory},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newDump(t, x86)
			for i := range n {
				switch {
				case !c.odd(i):
					addTable(b, i, 0x40, onStarts(9)...)
				case c.silent:
					addTable(b, i, 0x40, 1) // 0x41 is the start of another push
				default:
					addTable(b, i, 0, append([]int64{0}, onStarts(9)...)...)
				}
			}
			if a, _ := b.scan().LineAddresses(); a.Decision != c.want || a.Tables != n {
				t.Errorf("got %+v; want %s", a, c.want)
			}
		})
	}
}

// Without enough evidence, the decision is undecided.
func TestLineAddresses_WithoutEvidence(t *testing.T) {
	v8 := func(machine elf.Machine) jitdump.Header {
		return jitdump.Header{Order: binary.LittleEndian, Version: 1, Machine: uint32(machine), Pad: 0xdeadbeef, PID: 100}
	}
	other := func(machine elf.Machine) jitdump.Header {
		h := v8(machine)
		h.Pad = 0
		return h
	}
	for _, c := range []struct {
		name    string
		header  jitdump.Header
		offsets []int64 // of one table
		want    source.LineDecision
		basis   source.LineBasis
	}{
		{"V8, instructions of one length", v8(elf.EM_AARCH64), []int64{0x50, 0x60}, source.LinesMovedBack, source.ByProducer},
		{"V8, an entry behind the code", v8(elf.EM_AARCH64), []int64{0x50, 40*13 + 4}, source.LinesMovedBack, source.ByExtent},
		{"V8, an entry in front of 0x40", v8(elf.EM_AARCH64), []int64{0x20, 0x50}, source.LinesAsWritten, source.ByExtent},
		{"V8, an unknown machine", v8(elf.EM_ALPHA), []int64{0x50, 0x60}, source.LinesMovedBack, source.ByProducer},
		{"instructions of one length", other(elf.EM_AARCH64), []int64{0x50, 0x60}, source.LinesUndecided, source.ByNothing},
		{"an unknown machine", other(elf.EM_ALPHA), []int64{0x50, 0x60}, source.LinesUndecided, source.ByNothing},
		{"an entry behind the code", other(elf.EM_AARCH64), []int64{0x50, 40*13 + 4}, source.LinesMovedBack, source.ByExtent},
		{"a table that begins at 0x40", other(elf.EM_AARCH64), []int64{0x40, 0x50}, source.LinesMovedBack, source.ByExtent},
		{"one entry that fits both ways", other(elf.EM_X86_64), []int64{0x41}, source.LinesUndecided, source.ByNothing},
		{"V8, one entry that fits both ways", v8(elf.EM_X86_64), []int64{0x41}, source.LinesMovedBack, source.ByProducer},
		{"too few that fit only moved back", other(elf.EM_X86_64), []int64{0x40 + 13, 0x40 + 14, 0x40 + 26}, source.LinesUndecided, source.ByNothing},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newDump(t, c.header)
			b.debug(0x10000, "a.c", c.offsets...)
			b.code("f", 0x10000, pattern(40))
			d := b.scan()
			a, ok := d.LineAddresses()
			if !ok || a.Decision != c.want || a.Basis != c.basis || a.Tables != 1 || a.Rows != len(c.offsets) {
				t.Errorf("got %+v; want %s by %s", a, c.want, c.basis)
			}
		})
	}
	if a, ok := newDump(t, x86).scan().LineAddresses(); ok {
		t.Errorf("of a dump without lines: %+v", a)
	}
}

// V8 on 32 bits adds 0x34, LLVM 0x40.
func TestLineAddresses_On32Bits(t *testing.T) {
	for _, skew := range []int64{0, 0x34, 0x40} {
		b := newDump(t, jitdump.Header{Order: binary.LittleEndian, Version: 1, Machine: uint32(elf.EM_386), PID: 100})
		for i := range 20 {
			offsets := []int64{0, 1, 7, 17, 18, 24, 34, 35}
			addr := uint64(0x10000 * (i + 1))
			for k := range offsets {
				offsets[k] += skew
			}
			b.debug(addr, "a.c", offsets...)
			// inc twice and mov three times: one starts at 0, 1, 2, 7, 12, 17, …
			b.code("f", addr, bytes.Repeat([]byte{0x40, 0x40, 0xb8, 1, 2, 3, 4, 0xb9, 1, 2, 3, 4, 0xba, 1, 2, 3, 4}, 20))
		}
		a, _ := b.scan().LineAddresses()
		if want := map[bool]source.LineDecision{true: source.LinesMovedBack, false: source.LinesAsWritten}[skew != 0]; a.Decision != want || skew != 0 && a.Skew != uint64(skew) {
			t.Errorf("%#x: %s by %#x, want %s", skew, a.Decision, a.Skew, want)
		}
	}
}

// Baseline code of V8 does not count, under any version's name.
func TestLineAddresses_WithoutBaseline(t *testing.T) {
	h := x86
	h.Pad = 0xdeadbeef
	for _, kind := range []string{"JS:^", "Function:^", "LazyCompile:^"} {
		b := newDump(t, h)
		for i := range 40 {
			b.debug(uint64(0x10000*(i+1)), "/a.js", 0x40, 0x42, 0x44, 0x45, 0x48)
			b.code(fmt.Sprintf("%sf%d /a.js:%d:1", kind, i, i+1), uint64(0x10000*(i+1)), pattern(40))
		}
		b.debug(0x900000, "/a.js", 0x40, 0x41, 0x43, 0x46)
		b.code(strings.Replace(kind, "^", "*", 1)+"g /a.js:50:1", 0x900000, pattern(40))
		d := b.scan()
		a, _ := d.LineAddresses()
		if got := tables(t, d); len(got) != 1 || a.Tables != 1 || a.Rows != 4 || a.Decision != source.LinesMovedBack {
			t.Errorf("%s: got %v, %+v; want 1 got, Tables = 1, Rows = 4, Decision = LinesMovedBack", kind, got, a)
		}
		if r := fixes(d); r["bytecode-offsets"] != 40 {
			t.Errorf("%s: repairs %v", kind, r)
		}
	}
}
