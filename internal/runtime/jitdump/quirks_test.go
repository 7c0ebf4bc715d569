package jitdump_test

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/jitdump"
)

func entry(addr uint64, line uint32, file string) jitdump.DebugEntry {
	return jitdump.DebugEntry{Addr: addr, Line: line, Name: []byte(file)}
}

// A repeated name is the one before; as the very first one it is none.
func TestLines_RepeatedName(t *testing.T) {
	b := newDump(t, x86)
	b.entries(0x1000, entry(0x1000, 1, "\xff"), entry(0x1002, 2, "a.c"), entry(0x1004, 3, "\xff"), entry(0x1006, 4, "b.c"), entry(0x1008, 5, "\xff"))
	b.load("f", 0x1000, 16)
	wantTables(t, b.scan(), "f: 2 a.c:2:0 4 a.c:3:0 6 b.c:4:0 8 b.c:5:0")
}

// V8 gives modules by their URLs; tools that show sources want paths.
func TestLines_FileURLs(t *testing.T) {
	b := newDump(t, x86)
	b.entries(0x1000, entry(0x1000, 1, "file:///src/my%20app/m.mjs"), entry(0x1001, 2, "/src/my app/m.mjs"), entry(0x1002, 3, "file:///bad%zz"),
		entry(0x1003, 4, "file://host/x"), entry(0x1004, 5, "node:fs"), entry(0x1005, 6, "file:///a%0ab"))
	b.load("f", 0x1000, 16)
	wantTables(t, b.scan(), "f: 0 /src/my app/m.mjs:1:0 1 /src/my app/m.mjs:2:0 2 file:///bad%zz:3:0 3 file://host/x:4:0 4 node:fs:5:0 5 file:///a%0ab:6:0")
}

// The last entry in front of a function holds for its first bytes, one behind it
// for nothing; line 0 at the end is a mark, in the middle it is code of no line.
func TestLines_EntriesOutsideFunction(t *testing.T) {
	b := newDump(t, x86)
	b.entries(0x1000, entry(0xff0, 1, "a.c"), entry(0xff8, 2, "a.c"), entry(0x1004, 3, "a.c"), entry(0x1006, 0, ""), entry(0x1008, 5, "a.c"), entry(0x100f, 6, "a.c"), entry(0x1010, 7, "a.c"))
	b.load("f", 0x1000, 16)
	b.entries(0x2000, entry(0x2000, 1, "b.c"), entry(0x2010, 0, ""))
	b.load("marked", 0x2000, 16)
	b.entries(0x3000, entry(0x4000, 1, "c.c"))
	b.load("elsewhere", 0x3000, 16)
	b.entries(0x5000, entry(0x3000, 1, "d.c"), entry(0x5004, 2, "d.c"))
	b.load("too far in front", 0x5000, 16)
	b.entries(0x7000, entry(0x6ff0, 1, "e.c"))
	b.load("all in front", 0x7000, 16)
	d := b.scan()
	wantTables(t, d, "f: 0 a.c:2:0 4 a.c:3:0 6 - 8 a.c:5:0 15 a.c:6:0", "marked: 0 b.c:1:0", "too far in front: 4 d.c:2:0")
	if r := fixes(d); r["lines-outside"] != 4 {
		t.Errorf("repairs %v", r)
	}
}

// File names may be in any encoding. Control characters are in none.
func TestLines_FileNamesInAnyEncoding(t *testing.T) {
	b := newDump(t, x86)
	b.entries(0x1000, entry(0x1000, 1, "caf\xe9.c"), entry(0x1001, 2, "a\tb.c"), entry(0x1002, 3, "a\x1b[2J.c"))
	b.load("f", 0x1000, 16)
	b.entries(0x2000, entry(0x2000, 1, "/caf\xe9.js"), entry(0x2001, 2, "/café.js"))
	b.load("JS:*f /f.js:1:1", 0x2000, 16)
	wantTables(t, b.scan(), "f: 0 caf\xe9.c:1:0 1 a\tb.c:2:0 2 -", "JS:*f /f.js:1:1: 1 /café.js:2:0")
}

func TestLines_OrderOfEntries(t *testing.T) {
	b := newDump(t, x86)
	b.entries(0x1000, entry(0x1008, 3, "a.c"), entry(0x1000, 1, "a.c"), entry(0x1004, 9, "a.c"), entry(0x1004, 2, "a.c"), entry(0x100a, 3, "a.c"))
	b.load("f", 0x1000, 16)
	d := b.scan()
	wantTables(t, d, "f: 0 a.c:1:0 4 a.c:2:0 8 a.c:3:0")
	if r := fixes(d); r["unsorted-lines"] != 1 {
		t.Errorf("repairs %v", r)
	}
}

func TestLines_AbsurdNumbers(t *testing.T) {
	b := newDump(t, x86)
	b.entries(0x1000, entry(0x1000, 1, "a.c"), entry(0x1004, 0xec65df45, "a.c"), entry(0x1008, 2, "\x38\xc6\x02"), entry(0x100c, 4, "a.c"))
	b.load("f", 0x1000, 16)
	d := b.scan()
	wantTables(t, d, "f: 0 a.c:1:0 4 - 12 a.c:4:0")
	if r := fixes(d); r["absurd-lines"] != 1 || r["garbled-file-names"] != 1 {
		t.Errorf("repairs %v", r)
	}
}

// skewed is the table of a producer that adds an ELF header's size to addresses.
func skewed(b *dumpBuilder, n int, skew int64, offsets ...int64) {
	for i := range offsets {
		offsets[i] += skew
	}
	addr := uint64(0x1000 * (n + 1))
	b.debug(addr, "a.c", offsets...)
	// 12 nops, so that an instruction starts at 0x40, and then instructions of 1,
	// 2, 3 and 7 bytes: push, xor, mov, lea.
	code := bytes.Repeat([]byte{0x55, 0x31, 0xc0, 0x48, 0x89, 0xe5, 0x48, 0x8d, 0x05, 0, 0, 0, 0}, 20)
	b.code(fmt.Sprintf("f%d", n), addr, append(bytes.Repeat([]byte{0x90}, 12), code...))
}

func TestQuirk_SkewedLines(t *testing.T) {
	for _, c := range []struct {
		name    string
		machine elf.Machine
		skew    int64
		offsets [][]int64
		moved   bool
	}{
		{"entries at the entry", elf.EM_X86_64, 0x40, [][]int64{{0, 1, 3, 6, 25}, {0, 13}}, true},
		{"32 bit", elf.EM_386, 0x34, [][]int64{{0, 1, 3, 6}, {0, 13}}, true},
		{"beyond the end as they are", elf.EM_AARCH64, 0x40, [][]int64{{4, 264}}, true},
		{"no disassembler needed", elf.EM_AARCH64, 0x40, [][]int64{{0, 8}, {0, 4}}, true},
		{"LLVM on 32 bit", elf.EM_386, 0x40, [][]int64{{0, 1, 3, 6}, {0, 13}}, true},
		{"two tables at the entry", elf.EM_AARCH64, 0x40, [][]int64{{0, 8}, {0, 8}, {4, 8}, {4, 8}}, true},
		{"one table of four at 0x40", elf.EM_AARCH64, 0, [][]int64{{0x40, 0x48}, {0x44, 0x48}, {0x44, 0x48}, {0x44, 0x48}}, false},
		{"short tables, on instructions as they are", elf.EM_X86_64, 0, [][]int64{{0x40, 0x50}, {0x40, 0x41}, {0x40, 0x4d}}, false},
		{"nothing on 64 bit adds 0x34", elf.EM_X86_64, 0, [][]int64{{0x34, 0x40}, {0x40, 0x43}}, false},
		{"not skewed", elf.EM_X86_64, 0, [][]int64{{0, 13, 0x40, 0x41}, {0, 13}}, false},
		{"first line by chance at 0x40, on instructions as it is", elf.EM_X86_64, 0, [][]int64{{0x40, 0x41, 0x43, 0x4e}}, false},
		{"one function speaks against it", elf.EM_AARCH64, 0, [][]int64{{0x40, 0x44}, {0, 4}}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newDump(t, jitdump.Header{Order: binary.LittleEndian, Version: 1, Machine: uint32(c.machine), PID: 100})
			var want []string
			for n, offsets := range c.offsets {
				s := fmt.Sprintf("f%d:", n)
				for i, off := range offsets {
					s += fmt.Sprintf(" %d a.c:%d:0", off, i+1)
				}
				want = append(want, s)
				skewed(b, n, c.skew, append([]int64(nil), offsets...)...)
			}
			d := b.scan()
			wantTables(t, d, want...)
			if got := fixes(d)["skewed-lines"] > 0; got != c.moved {
				t.Errorf("skewed: %v, want %v", got, c.moved)
			}
		})
	}
}

// Baseline functions of V8 lose their lines only if those are not about code.
func TestQuirk_BytecodeOffsets(t *testing.T) {
	for _, c := range []struct {
		name    string
		offsets []int64
		lines   bool
	}{
		{"bytecode", []int64{0, 2, 4, 5, 7}, false},
		{"code", []int64{0, 1, 3, 6}, true},
	} {
		b := newDump(t, x86)
		b.debug(0x1000, "a.js", c.offsets...)
		b.code("JS:^f a.js:1:1", 0x1000, bytes.Repeat([]byte{0x55, 0x31, 0xc0, 0x48, 0x89, 0xe5, 0x48, 0x8d, 0x05, 0, 0, 0, 0}, 2))
		if got := tables(t, b.scan()); len(got) == 1 != c.lines {
			t.Errorf("%s: lines %v", c.name, got)
		}
	}
}

// freed writes entries whose names stand in memory that was freed: the first 16
// bytes are the allocator's.
func freed(addr uint64, name, garbage string, lines ...uint32) *jitdump.DebugInfo {
	var area []byte
	for i, line := range lines {
		area = binary.LittleEndian.AppendUint64(area, addr+uint64(i))
		area = binary.LittleEndian.AppendUint32(area, line)
		area = binary.LittleEndian.AppendUint32(area, 0)
		area = append(area, garbage+name[len(garbage):]...)
		area = append(area, 0)
	}
	for len(area)%8 != 0 {
		area = append(area, 0)
	}
	info := jitdump.NewDebugInfo(binary.LittleEndian, addr, nil)
	info.Count, info.Area = uint64(len(lines)), area
	return info
}

func TestQuirk_FreedNames(t *testing.T) {
	const file = "/home/me/src/program.js"
	withNULs := "\x38\xc6\x02\x00\x00\x00\x00\x00\x11\x22\x33\x44\x55\x66\x77\x88"
	without := "ABCDEF\xc3HIJKLMNOP"
	for _, c := range []struct {
		name, garbage, function string
		want                    string
	}{
		{"NULs in it", withNULs, "JS:*f " + file + ":3:7", "0 " + file + ":3:0 1 " + file + ":4:0 2 " + file + ":5:0"},
		{"the bytes of a repeated name in it", "\xff" + withNULs[7:], "JS:*f " + file + ":3:7", "0 " + file + ":3:0 1 " + file + ":4:0 2 " + file + ":5:0"},
		{"no NULs in it", without, "JS:*f " + file + ":3:7", "0 " + file + ":3:0 1 " + file + ":4:0 2 " + file + ":5:0"},
		{"a name of its own", "/some/other/dir/", "JS:*f " + file + ":3:7", "0 /some/other/dir/gram.js:3:0 1 /some/other/dir/gram.js:4:0 2 /some/other/dir/gram.js:5:0"},
		{"nothing to prove it", withNULs, "JS:*f /else/where.js:3:7", ""},
		{"not V8", withNULs, "f", ""},
	} {
		b := newDump(t, x86)
		b.add(freed(0x1000, file, c.garbage, 3, 4, 5))
		b.load(c.function, 0x1000, 64)
		d := b.scan()
		r := d.Reader()
		fn, err := r.Function(0)
		if err != nil {
			t.Fatal(err)
		}
		_, got, _ := strings.Cut(table(fn), c.function+": ")
		if got != c.want {
			t.Errorf("%s: lines %q, want %q", c.name, got, c.want)
		}
		if n := fixes(d)["freed-file-names"]; n != 0 != strings.Contains(c.want, file) {
			t.Errorf("%s: %d names repaired", c.name, n)
		}
	}
}

// On ARM the lowest bit of an address says that code is T32.
func TestEvents_ThumbAddresses(t *testing.T) {
	b := newDump(t, jitdump.Header{Order: binary.LittleEndian, Version: 1, Machine: uint32(elf.EM_ARM), PID: 100})
	b.entries(0x1001, entry(0x1000, 1, "a.c"), entry(0x1002, 2, "a.c"))
	b.code("f", 0x1001, []byte{0x00, 0xbf, 0x70, 0x47})
	d := b.scan()
	wantTables(t, d, "f: 0 a.c:1:0 2 a.c:2:0")
	if d.Events[0].Addr != 0x1000 {
		t.Errorf("loaded at %#x", d.Events[0].Addr)
	}
	if fn, err := d.Reader().Function(0); err != nil || !fn.Thumb || fn.Addr != 0x1000 {
		t.Errorf("got %+v, %v; want no error, Thumb, Addr = 0x1000", fn, err)
	}
}
