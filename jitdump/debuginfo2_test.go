package jitdump_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/internal/testrec"
	"github.com/jitinject/jitinject/jitdump"
)

// golden2 returns what testdata/debuginfo2.hex says.
func golden2() *jitdump.DebugInfo2 {
	return &jitdump.DebugInfo2{
		Files: [][]byte{[]byte("a.toy"), []byte("b.to")},
		Names: [][]byte{[]byte("outer"), []byte("middle"), []byte("inner")},
		Functions: []jitdump.SourceFunction{
			{Name: 0, File: 0, Line: 1, Column: 0, Flags: jitdump.UserFunction | jitdump.TierFlags(2)},
			{Name: 1, File: 0, Line: 10, Column: 3, Flags: jitdump.UserFunction},
			{Name: 2, File: 1, Line: 20, Column: jitdump.NoColumn},
		},
		Calls: []jitdump.InlineCall{
			{Depth: 0, RangeCount: 1, Function: 1, Line: 3, Column: 4},
			{Depth: 1, RangeCount: 2, Function: 2, Line: 11, Column: 5},
			{Depth: 0, RangeCount: 1, Function: 2, Line: 4, Column: 6},
		},
		Ranges: []jitdump.CodeRange{{Start: 8, Size: 0x18}, {Start: 0xc, Size: 4}, {Start: 0x18, Size: 8}, {Start: 0x28, Size: 8}},
		Lines: []jitdump.SourceLine{
			{Offset: 0, File: 0, Line: 2}, {Offset: 8, File: 0, Line: 11, Column: 4},
			{Offset: 0xc, File: 1, Line: 21, Column: jitdump.NoColumn}, {Offset: 0x28, File: 1, Line: 22, Column: 2},
		},
	}
}

// same reports whether two records say the same.
func same(a, b *jitdump.DebugInfo2) bool {
	return reflect.DeepEqual(a.Files, b.Files) && reflect.DeepEqual(a.Names, b.Names) && slices.Equal(a.Functions, b.Functions) &&
		slices.Equal(a.Calls, b.Calls) && slices.Equal(a.Ranges, b.Ranges) && slices.Equal(a.Lines, b.Lines) && bytes.Equal(a.Extra, b.Extra)
}

func TestDebugInfo2_Golden(t *testing.T) {
	dump := testrec.Hex(t, "testdata/debuginfo2.hex")
	h, recs, times := readAll(t, dump)
	info, ok := recs[0].(*jitdump.DebugInfo2)
	if !ok || len(recs) != 1 || !same(info, golden2()) {
		t.Fatalf("read %+v, want %+v", recs, golden2())
	}
	if err := info.CheckTree(0x30); err != nil {
		t.Error(err)
	}
	if err := info.CheckLines(); err != nil {
		t.Error(err)
	}
	if got := writeAll(t, h, []jitdump.Record{golden2()}, times); !bytes.Equal(got, dump) {
		t.Errorf("written\n% x\nwant\n% x", got, dump)
	}
	big := jitdump.Header{Order: binary.BigEndian, Version: 1, Machine: 22}
	if _, recs, _ := readAll(t, writeAll(t, &big, []jitdump.Record{golden2()}, times)); !same(recs[0].(*jitdump.DebugInfo2), golden2()) {
		t.Errorf("big endian: read %+v", recs[0])
	}
}

// Each rule, broken, has its own complaint, which names the field and its offset.
func TestDebugInfo2_EachRuleBroken(t *testing.T) {
	const lists = 40 + 16 + 32 + 12 + 20 // offset of the functions in the golden dump
	calls, ranges := lists+60, lists+120
	for _, test := range []struct {
		name   string
		break_ func(*jitdump.DebugInfo2)
		want   string
		at     int
	}{
		{"no functions", func(d *jitdump.DebugInfo2) { d.Functions = nil }, "function_count", 0},
		{"name", func(d *jitdump.DebugInfo2) { d.Functions[1].Name = 3 }, "function_name_index", lists + 20},
		{"file", func(d *jitdump.DebugInfo2) { d.Functions[2].File = 0xffffffff }, "file_index", lists + 44},
		{"first depth", func(d *jitdump.DebugInfo2) { d.Calls[0].Depth = 1 }, "depth at", calls},
		{"depth jump", func(d *jitdump.DebugInfo2) { d.Calls[1].Depth = 2 }, "allows up to 1", calls + 20},
		{"no range", func(d *jitdump.DebugInfo2) { d.Calls[2].RangeCount = 0 }, "covers 1 range or more", calls + 44},
		{"too many ranges", func(d *jitdump.DebugInfo2) { d.Calls[2].RangeCount = 0xffffffff }, "but 1 ranges are left", calls + 44},
		{"ranges left", func(d *jitdump.DebugInfo2) { d.Calls[1].RangeCount = 1; d.Calls = d.Calls[:2] }, "of all calls is 2", ranges + 16 - 20},
		{"function index", func(d *jitdump.DebugInfo2) { d.Calls[0].Function = 3 }, "function_index", calls + 8},
		{"outside the function", func(d *jitdump.DebugInfo2) { d.Ranges[3].Size = 9 }, "beyond the 0x30 bytes", ranges + 24},
		{"wraps", func(d *jitdump.DebugInfo2) { d.Ranges[3] = jitdump.CodeRange{Start: 0xfffffff0, Size: 0x20} }, "beyond the 0x30 bytes", ranges + 24},
		{"outside the parent", func(d *jitdump.DebugInfo2) { d.Ranges[1].Start = 4 }, "not inside the ranges", ranges + 8},
		{"across the parent's", func(d *jitdump.DebugInfo2) { d.Ranges[2].Size = 0x10 }, "not inside the ranges", ranges + 16},
		{"overlap in a call", func(d *jitdump.DebugInfo2) { d.Ranges[2].Start = 0xe }, "inside another range of depth 1", ranges + 16},
		{"overlap of siblings", func(d *jitdump.DebugInfo2) { d.Ranges[3].Start = 0x1c }, "inside another range of depth 0", ranges + 24},
		{"overlap over an empty range", func(d *jitdump.DebugInfo2) {
			d.Ranges[1] = jitdump.CodeRange{Start: 0x10}
			d.Ranges[3].Start = 0x1f
		}, "inside another range of depth 0", ranges + 24},
	} {
		info := golden2()
		test.break_(info)
		dump := writeAll(t, &jitdump.Header{Machine: 62}, []jitdump.Record{info}, []uint64{1})
		_, recs, _ := readAll(t, dump)
		err := recs[0].(*jitdump.DebugInfo2).CheckTree(0x30)
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v; want %q", test.name, err, test.want)
			continue
		}
		if at := fmt.Sprintf("offset %#x:", test.at); test.at != 0 && !strings.Contains(err.Error(), at) {
			t.Errorf("%s: %v; want %s", test.name, err, at)
		}
	}
	deep := golden2()
	deep.Calls, deep.Ranges = nil, nil
	for i := range uint32(300) {
		deep.Calls = append(deep.Calls, jitdump.InlineCall{Depth: i, RangeCount: 1})
		deep.Ranges = append(deep.Ranges, jitdump.CodeRange{Size: 1})
	}
	if err := deep.CheckTree(0x30); err == nil || !strings.Contains(err.Error(), "implausible") {
		t.Errorf("300 deep: %v", err)
	}
	touching := golden2() // two ranges of the parent that touch are as good as one
	touching.Calls[0].RangeCount = 2
	touching.Ranges = slices.Insert(touching.Ranges, 1, jitdump.CodeRange{Start: 0x1c, Size: 4})
	touching.Ranges[0].Size = 0x14
	if err := touching.CheckTree(0x30); err != nil {
		t.Errorf("a range across two that touch: %v", err)
	}
	many := golden2()
	many.Calls[0].RangeCount = jitdump.MaxRanges
	many.Ranges = make([]jitdump.CodeRange, jitdump.MaxRanges+1)
	if err := many.CheckTree(0x30); err == nil || !strings.Contains(err.Error(), "implausible") {
		t.Errorf("many ranges: %v", err)
	}
	empty := golden2()
	empty.Ranges[1].Size = 0
	if err := empty.CheckTree(0x30); err != nil {
		t.Errorf("an empty range: %v", err)
	}
	for want, line := range map[string]jitdump.SourceLine{"file_index": {Offset: 0x28, File: 2}, "code_offset": {Offset: 0xb}} {
		info := golden2()
		info.Lines[3] = line
		if err := info.CheckLines(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("lines: %v, want %s", err, want)
		}
	}
}

// Counts and lists that do not add up are noticed before anything is allocated.
func TestDebugInfo2_CountsThatDoNotAddUp(t *testing.T) {
	whole := testrec.Hex(t, "testdata/debuginfo2.hex")[40:]
	for _, test := range []struct {
		name string
		at   int // of a u32 in the body
		to   uint32
		want string
	}{
		{"files", 0, 4, "file_list at offset 0x58: has 3 strings in its 12 bytes; 4 are announced"},
		{"4 billion files", 0, 0xffffffff, "implausible"},
		{"file list", 4, 0xffffffff, "file_list at offset 0x58"},
		{"file list not padded", 4, 11, "to a multiple of 4"},
		{"too much padding", 0, 1, "6 of them after the last string"},
		{"names", 8, 5, "function_names_list at offset 0x64: has 4 strings"},
		{"functions", 16, 0xffffffff, "function_list at offset 0x78: of 4294967295 entries"},
		{"calls", 20, 0xffffffff, "inline_call_list"},
		{"ranges", 24, 0xffffffff, "range_list"},
		{"lines", 28, 5, "line_record_list"},
	} {
		rec := bytes.Clone(whole)
		binary.LittleEndian.PutUint32(rec[16+test.at:], test.to)
		raw, err := jitdump.ParseRecord(rec, binary.LittleEndian, 0x28)
		if err != nil {
			t.Fatal(err)
		}
		if _, err = raw.Decode(); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v; want %q", test.name, err, test.want)
		}
	}
	for n := 16; n < len(whole); n++ {
		cut := bytes.Clone(whole[:n])
		binary.LittleEndian.PutUint32(cut[4:], uint32(n))
		raw, err := jitdump.ParseRecord(cut, binary.LittleEndian, 0x28)
		if err == nil {
			_, err = raw.Decode()
		}
		if err == nil {
			t.Errorf("cut to %d bytes: no error", n)
		}
	}
}

// The builder gives the golden record from what a compiler says as it goes.
func TestInlineBuilder_GoldenRecord(t *testing.T) {
	var b jitdump.InlineBuilder
	build := func() *jitdump.DebugInfo2 {
		outer := b.Function("outer", "a.toy", 1, 0, jitdump.UserFunction|jitdump.TierFlags(2))
		middle := b.Function("middle", "a.toy", 10, 3, jitdump.UserFunction)
		inner := b.Function("inner", "b.to", 20, jitdump.NoColumn, 0)
		_ = outer
		inMiddle := b.Inline(jitdump.Outer, middle, 3, 4)
		inInner := b.Inline(inMiddle, inner, 11, 5)
		second := b.Inline(jitdump.Outer, inner, 4, 6)
		unused := b.Inline(inInner, outer, 1, 1)
		b.At(0, jitdump.Outer, 2, 0)
		b.At(8, inMiddle, 11, 4)
		b.At(0xc, inInner, 21, jitdump.NoColumn)
		b.At(0x10, inMiddle, 12, 0)
		b.At(0x14, unused, 13, 0)
		b.At(0x14, inMiddle, 13, 0)
		b.At(0x18, inInner, 23, 0)
		b.At(0x20, jitdump.Outer, 4, 0)
		b.At(0x28, second, 22, 2)
		d, err := b.Record(0x30)
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	got, want := build(), golden2()
	if !reflect.DeepEqual(got.Names, want.Names) || !reflect.DeepEqual(got.Files, want.Files) || !slices.Equal(got.Functions, want.Functions) || !slices.Equal(got.Calls, want.Calls) {
		t.Errorf("built %+v", got)
	}
	if !slices.Equal(got.Ranges, want.Ranges) {
		t.Errorf("ranges %v, want %v", got.Ranges, want.Ranges)
	}
	if n := len(got.Lines); n != 8 || got.Lines[7] != (jitdump.SourceLine{Offset: 0x28, File: 1, Line: 22, Column: 2}) {
		t.Errorf("lines %v", got.Lines)
	}
	b.Reset()
	if again := build(); !same(got, again) {
		t.Errorf("after Reset %+v, before %+v", again, got)
	}
	b.Reset()
	if _, err := b.Record(1); err == nil {
		t.Error("a record without an outer function")
	}
	b.Function("f", "", 0, 0, 0)
	b.At(4, jitdump.Outer, 1, 0)
	if _, err := b.Record(3); err == nil {
		t.Error("code beyond the end of the function")
	}
	b.At(2, jitdump.Outer, 1, 0)
	if _, err := b.Record(8); err == nil {
		t.Error("offsets that go back")
	}
	for name, misuse := range map[string]func(jitdump.FunctionID){
		"unknown function": func(f jitdump.FunctionID) { b.Inline(jitdump.Outer, f+1, 1, 0) },
		"unknown caller":   func(f jitdump.FunctionID) { b.Inline(7, f, 1, 0) },
		"unknown call":     func(jitdump.FunctionID) { b.At(0, 7, 1, 0) },
		"too deep": func(f jitdump.FunctionID) {
			call := jitdump.Outer
			for range jitdump.MaxDepth + 2 {
				call = b.Inline(call, f, 1, 0)
			}
			b.At(0, call, 1, 0)
		},
		"too many ranges": func(f jitdump.FunctionID) {
			call := b.Inline(jitdump.Outer, f, 1, 0)
			for i := range uint32(jitdump.MaxRanges + 1) {
				b.At(2*i, call, 1, 0)
				b.At(2*i+1, jitdump.Outer, 1, 0)
			}
		},
	} {
		b.Reset()
		misuse(b.Function("f", "a.toy", 1, 0, 0))
		if d, err := b.Record(1 << 30); err == nil || d != nil {
			t.Errorf("%s: got %+v, %v; want no record and an error", name, d, err)
		}
	}
}
