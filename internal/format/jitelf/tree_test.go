package jitelf_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/internal/jitcode"
)

// code returns the calls of a function as text: name, line, and code in offsets, by depth.
func code(fn *jitcode.Function) (calls []string) {
	depth := make([]int, len(fn.Inlines))
	for i, c := range fn.Inlines {
		if c.Parent >= 0 {
			depth[i] = depth[c.Parent] + 1
		}
		s := fmt.Sprintf("%s%s:%d", strings.Repeat(" ", depth[i]), fn.Origins[c.Origin].Name, c.Line)
		for _, r := range fn.Ranges[c.First:c.Last] {
			s += fmt.Sprintf(" %d-%d", r.Offset, r.Offset+r.Size)
		}
		calls = append(calls, s)
	}
	return calls
}

const low = 0x7f1200400000 // address of made functions

// Inlined calls that break the rules are cut or left out, and counted.
func TestDescribe_CallsThatOverlap(t *testing.T) {
	for name, test := range map[string]struct {
		build   func(u *dwarfUnit, a, b uint32)
		want    []string
		problem string
	}{
		"nested": {func(u *dwarfUnit, a, b uint32) {
			u.call(a, 1, low+10, low+40)
			u.call(b, 2, low+10, low+20, low+30, low+40)
			u.end()
			u.end()
		}, []string{"a:1 10-40", " b:2 10-20 30-40"}, ""},
		"unsorted and adjacent ranges": {func(u *dwarfUnit, a, b uint32) {
			u.call(a, 1, low+30, low+40, low+10, low+20, low+20, low+25)
			u.call(b, 2, low+15, low+25)
			u.end()
			u.end()
		}, []string{"a:1 10-25 30-40", " b:2 15-25"}, ""},
		"siblings overlap": {func(u *dwarfUnit, a, b uint32) {
			u.call(b, 2, low+20, low+50)
			u.end()
			u.call(a, 1, low+10, low+40)
			u.end()
		}, []string{"b:2 40-50", "a:1 10-40"}, "or have less code: 1 calls of the entry at offset 0x22 of .debug_info, 0 of them are left out"},
		"a child leaves its caller": {func(u *dwarfUnit, a, b uint32) {
			u.call(a, 1, low+10, low+20)
			u.call(b, 2, low+15, low+30)
			u.end()
			u.call(b, 3, low+40, low+50)
			u.end()
			u.end()
		}, []string{"a:1 10-20", " b:2 15-20"}, "or have less code: 2 calls of the entry at offset 0x22 of .debug_info, 1 of them are left out"},
		"a grandchild of a call that is left out": {func(u *dwarfUnit, a, b uint32) {
			u.call(a, 1, low+10, low+20)
			u.end()
			u.call(b, 2, low+10, low+20)
			u.call(a, 3, low+10, low+20)
			u.end()
			u.end()
		}, []string{"a:1 10-20"}, "or have less code: 2 calls of the entry at offset 0x22 of .debug_info, 2 of them are left out"},
		"outside the function": {func(u *dwarfUnit, a, b uint32) {
			u.call(a, 1, low-10, low+10, low+90, low+110)
			u.end()
			u.call(b, 2, low+100, low+110)
			u.end()
		}, []string{"a:1 0-10 90-100"}, ""},
		"without code, but with that of another": {func(u *dwarfUnit, a, b uint32) {
			u.call(a, 1)
			u.call(b, 2)
			u.call(a, 3, low+10, low+20)
			u.end()
			u.end()
			u.call(b, 4, low+30, low+40)
			u.end()
			u.end()
		}, []string{"a:1 10-20 30-40", " b:2 10-20", "  a:3 10-20", " b:4 30-40"}, ""},
		"without code": {func(u *dwarfUnit, a, b uint32) {
			u.call(a, 1)
			u.end()
			u.call(b, 2, low+20, low+20, low+30, low+10)
			u.end()
		}, nil, ""},
		"of an unknown function": {func(u *dwarfUnit, a, b uint32) {
			u.call(a+1, 1, low, low+10)
			u.end()
			u.call(1<<31, 2, low+20, low+30)
			u.end()
		}, []string{"??:1 0-10", "??:2 20-30"}, ""},
	} {
		u, origins := newUnit([]string{"a", "b"})
		u.function("f", low, 100)
		test.build(u, origins[0], origins[1])
		u.end()
		o := open(t, u.object(low, 100))
		fn, problem := describe(t, o, 0)
		if got := code(&fn); !slices.Equal(got, test.want) {
			t.Errorf("%s: got %q; want %q", name, got, test.want)
		}
		if p := o.Problems(); len(p) > 0 {
			t.Errorf("%s: got problems %v; want none", name, p)
		}
		if problem == nil != (test.problem == "") || problem != nil && !strings.Contains(problem.Error(), test.problem) {
			t.Errorf("%s: got problem %v; want %q", name, problem, test.problem)
		}
	}
}

// Any tree of calls becomes one that keeps the rules.
func TestDescribe_RandomCalls(t *testing.T) {
	calls := 0
	for seed := range uint64(300) {
		rnd := rand.New(rand.NewPCG(seed, 22))
		u, origins := newUnit([]string{"a", "b", "c"})
		u.function("f", low, 100)
		var build func(depth int)
		build = func(depth int) {
			for range rnd.IntN(4) {
				var code []uint64
				for range rnd.IntN(4) {
					from := rnd.IntN(110)
					code = append(code, uint64(low-5+from), uint64(low-5+from+rnd.IntN(30)))
				}
				u.call(origins[rnd.IntN(3)], byte(rnd.IntN(100)), code...)
				if depth < 5 {
					build(depth + 1)
				}
				u.end()
			}
		}
		build(0)
		u.end()
		fn, _ := describe(t, open(t, u.object(low, 100)), 0)
		calls += len(fn.Inlines)
	}
	if calls < 1000 {
		t.Errorf("got %d calls; want 1000 or more", calls)
	}
}

// Calls deeper than a limit are left out.
func TestDescribe_DeepCalls(t *testing.T) {
	u, origins := newUnit([]string{"a"})
	u.function("f", low, 100)
	for range 300 {
		u.call(origins[0], 1, low, low+10)
	}
	for range 300 {
		u.end()
	}
	u.end()
	o := open(t, u.object(low, 100))
	fn, problem := describe(t, o, 0)
	if p := o.Problems(); problem != nil || len(fn.Inlines) != 256 || len(p) != 1 || !strings.Contains(p[0].Error(), "44 inlined calls are deeper") {
		t.Errorf("got %d calls, problem %v, %v; want 256, and a problem with 44", len(fn.Inlines), problem, p)
	}
}

// Functions that refer to each other for their names end.
func TestDescribe_CyclicOrigins(t *testing.T) {
	_, offsets := newUnit([]string{"", "", ""})
	u, origins := newUnit([]string{"", "", ""}, offsets[1], offsets[2], offsets[0])
	u.function("f", low, 100)
	u.call(origins[0], 1, low, low+10)
	u.end()
	u.end()
	fn, problem := describe(t, open(t, u.object(low, 100)), 0)
	if got := code(&fn); problem != nil || !slices.Equal(got, []string{"??:1 0-10"}) {
		t.Errorf("got %q, problem %v; want a call without a name", got, problem)
	}
}

// Attributes that are missing come from the origin.
func TestDescribe_ChainOfOrigins(t *testing.T) {
	_, offsets := newUnit([]string{"", "", "name"})
	u, origins := newUnit([]string{"", "", "name"}, offsets[1], offsets[2])
	u.function("f", low, 100)
	u.call(origins[0], 1, low, low+10)
	u.end()
	u.end()
	fn, problem := describe(t, open(t, u.object(low, 100)), 0)
	if got := code(&fn); problem != nil || !slices.Equal(got, []string{"name:1 0-10"}) {
		t.Errorf("got %q, problem %v; want the name of the last origin", got, problem)
	}
}

// Damage of an entry costs only what follows it in its unit.
func TestDescribe_DamagedUnit(t *testing.T) {
	image := real(t, "lli-dwarf5.elf")
	for n := range 64 {
		at := bytes.Index(image, []byte{5, 0, 1, 8}) // version, type and address size of the unit
		damaged := bytes.Clone(image)
		for k := range 3 {
			damaged[at+40+5*n+k] ^= 0xff
		}
		o := open(t, damaged)
		if len(o.Functions()) != 3 {
			t.Errorf("got %d functions; want 3", len(o.Functions()))
		}
		for i := range o.Functions() {
			if fn, _ := describe(t, o, i); len(fn.Unwind.Sent.FDEs) != 1 {
				t.Errorf("damage %d: got no unwind table of %s", n, fn.Name)
			}
		}
	}
}

// line returns a line table of DWARF 4 with a program.
func line(program ...byte) []byte {
	header := []byte{1, 1, 1, 0xfb, 14, 13, 0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1, 0, 'a', 0, 0, 0, 0, 0}
	b := binary.LittleEndian.AppendUint32([]byte{4, 0}, uint32(len(header)))
	b = append(append(b, header...), program...)
	return append(binary.LittleEndian.AppendUint32(nil, uint32(len(b))), b...)
}

// lined returns an object with a function at low, and line tables for it.
func lined(section []byte) []byte {
	abbrev := []byte{1, 0x11, 0, 0x10, 0x17, 0x1b, 0x08, 0, 0, 0}
	info := []byte{16, 0, 0, 0, 4, 0, 0, 0, 0, 0, 8, 1, 0, 0, 0, 0, '/', 'd', 0, 0}
	info[0] = byte(len(info) - 4)
	m := made{3, []madeSection{text(low, 100), debug(".debug_info", info), debug(".debug_abbrev", abbrev), debug(".debug_line", section)}, []madeSymbol{function("f", low, 100)}}
	return m.bytes()
}

var setLow = binary.LittleEndian.AppendUint64([]byte{0, 9, 2}, low)

// Line programs of all kinds become lines that keep the rules.
func TestDescribe_LinePrograms(t *testing.T) {
	end := []byte{0, 1, 1}
	join := func(parts ...[]byte) []byte { return slices.Concat(parts...) }
	l := func(off uint64, line, column uint32) jitcode.Line {
		return jitcode.Line{Offset: off, Line: line, Column: column}
	}
	for name, test := range map[string]struct {
		program []byte
		want    []jitcode.Line
		problem string
	}{
		"plain":                {join(setLow, []byte{3, 6, 1, 2, 10, 5, 4, 3, 1, 1, 2, 90}, end), []jitcode.Line{l(0, 7, 0), l(10, 8, 4)}, ""},
		"several at one place": {join(setLow, []byte{1, 3, 4, 1, 2, 10, 3, 1, 1, 3, 1, 1, 2, 90}, end), []jitcode.Line{l(0, 5, 0), l(10, 7, 0)}, ""},
		"special and const":    {join(setLow, []byte{13 + 14*2 + 5 + 1, 8, 1, 2, 81}, end), []jitcode.Line{l(2, 2, 0)}, ""},
		"before and after":     {join([]byte{0, 9, 2}, binary.LittleEndian.AppendUint64(nil, low-20), []byte{1, 2, 30, 3, 1, 1, 2, 0xff, 1, 3, 1, 1, 2, 10}, end), []jitcode.Line{l(0, 1, 0), l(10, 2, 0)}, ""},
		"line 0":               {join(setLow, []byte{1, 2, 10, 3, 0x7f, 1, 2, 10, 3, 1, 1, 2, 80}, end), []jitcode.Line{l(0, 1, 0), l(10, 0, 0), l(20, 1, 0)}, ""},
		"a gap":                {join(setLow, []byte{1, 2, 10}, end, setLow, []byte{2, 40, 3, 8, 1, 2, 10}, end), []jitcode.Line{l(0, 1, 0), l(10, 0, 0), l(40, 9, 0), l(50, 0, 0)}, ""},
		"backwards":            {join(setLow, []byte{2, 20, 3, 1, 1}, setLow, []byte{3, 1, 1, 2, 50}, end), []jitcode.Line{l(0, 3, 0), l(20, 2, 0), l(50, 0, 0)}, ""},
		"overlapping":          {join(setLow, []byte{1, 2, 50}, end, setLow, []byte{2, 20, 3, 8, 1, 2, 80}, end), []jitcode.Line{l(0, 1, 0), l(50, 9, 0)}, ""},
		"without an end":       {join(setLow, []byte{1, 2, 50}), nil, ""},
		"no such file":         {join(setLow, []byte{1, 2, 10, 4, 9, 1, 2, 10, 4, 1, 1, 2, 80}, end), []jitcode.Line{l(0, 1, 0), l(10, 0, 0), l(20, 1, 0)}, ""},
		"file 2^63":            {join(setLow, []byte{1, 2, 10, 4, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 1, 1, 2, 90}, end), []jitcode.Line{l(0, 1, 0), l(10, 0, 0)}, ""},
		"cut":                  {join(setLow, []byte{1, 2, 50}, end, []byte{0, 9, 2, 1}), []jitcode.Line{l(0, 1, 0), l(50, 0, 0)}, "needs 9 bytes, 2 are left"},
		"number of 70 bits":    {join(setLow, []byte{1, 2, 50}, end, []byte{2, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 1}), []jitcode.Line{l(0, 1, 0), l(50, 0, 0)}, "more than 64 bits"},
	} {
		o := open(t, lined(line(test.program...)))
		fn, problem := describe(t, o, 0)
		if !slices.Equal(fn.Lines, test.want) || len(fn.Lines) > 0 && !slices.Equal(fn.Files, []string{"/d/a"}) || problem != nil {
			t.Errorf("%s: got %+v of %q, problem %v; want %+v", name, fn.Lines, fn.Files, problem, test.want)
		}
		p := o.Problems()
		if len(p) > 1 || (len(p) == 1) != (test.problem != "") || len(p) == 1 && !strings.Contains(p[0].Error(), test.problem) {
			t.Errorf("%s: got problems %v; want %q", name, p, test.problem)
		}
	}
}

// A file that a line program defines is used.
func TestDescribe_DefinedFile(t *testing.T) {
	program := slices.Concat(setLow, []byte{0, 6, 3, 'b', 0, 0, 0, 0, 4, 2, 1, 2, 100, 0, 1, 1})
	fn, problem := describe(t, open(t, lined(line(program...))), 0)
	if problem != nil || !slices.Equal(fn.Files, []string{"/d/b"}) || len(fn.Lines) != 1 {
		t.Errorf("got %q and %+v, problem %v; want /d/b", fn.Files, fn.Lines, problem)
	}
}
