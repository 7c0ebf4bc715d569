package jitdump_test

import (
	"bytes"
	"encoding/binary"
	"io"
	"reflect"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/jitdump"
)

// raw returns a record as a reader would.
func raw(t testing.TB, order binary.ByteOrder, rec jitdump.Record) jitdump.Raw {
	t.Helper()
	h := jitdump.Header{Order: order, Machine: 62}
	r, err := jitdump.NewReader(bytes.NewReader(writeAll(t, &h, []jitdump.Record{rec}, []uint64{1})))
	if err != nil {
		t.Fatal(err)
	}
	raw, err := r.Next()
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func TestTierAndSource_ReadAgain(t *testing.T) {
	for _, order := range []binary.ByteOrder{binary.LittleEndian, binary.BigEndian} {
		for _, rec := range []jitdump.Record{
			jitdump.NewTier(3, jitdump.LightBlue, "Baseline"),
			jitdump.NewTier(255, 77, ""),
			jitdump.NewEmbeddedSource("a.toy", []byte("fn outer() {\n}\n")),
			jitdump.NewEmbeddedSource("empty", []byte{}),
		} {
			r := raw(t, order, rec)
			if len(r.Body)%4 != 0 {
				t.Errorf("%s has %d bytes", r.ID, len(r.Body))
			}
			if got, err := r.Decode(); err != nil || !reflect.DeepEqual(got, rec) {
				t.Errorf("wrote %+v, read %+v, %v", rec, got, err)
			}
		}
	}
	for want, rec := range map[string]jitdump.Record{
		"tier at offset 0x38: is 0":      &jitdump.Unknown{ID: jitdump.IDTier, Body: make([]byte, 10)},
		"is 256":                         &jitdump.Unknown{ID: jitdump.IDTier, Body: []byte{0, 1, 0, 0, 0, 0, 0, 0, 'x', 0}},
		"that are no padding":            &jitdump.Tier{Number: 1, Extra: []byte{0, 1}},
		"no NUL in the 1 bytes":          &jitdump.Unknown{ID: jitdump.IDTier, Body: []byte{1, 0, 0, 0, 0, 0, 0, 0, 'x'}},
		"name at offset 0x40: is empty":  &jitdump.Unknown{ID: jitdump.IDEmbeddedSource, Body: make([]byte, 9)},
		"up to 7 pad the record":         &jitdump.EmbeddedSource{Name: []byte("a"), Extra: make([]byte, 8)},
		"needs 18446744073709551615 byt": &jitdump.Unknown{ID: jitdump.IDEmbeddedSource, Body: []byte("\xff\xff\xff\xff\xff\xff\xff\xffa\x00text")},
	} {
		r := raw(t, binary.LittleEndian, rec)
		_, err := r.Tier()
		if r.ID == jitdump.IDEmbeddedSource {
			_, err = r.EmbeddedSource()
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("for %+v: got %v; want %q", rec, err, want)
		}
		if got, err := r.Decode(); err != nil || reflect.TypeOf(got) != reflect.TypeFor[*jitdump.Unknown]() {
			t.Errorf("for %+v: got %T, %v; want *jitdump.Unknown, no error", rec, got, err)
		}
	}
}

// earlyInfo is the golden tree in the prototype's form: positions with callers.
func earlyInfo() *jitdump.EarlyDebugInfo {
	return &jitdump.EarlyDebugInfo{
		CodeAddr: 0x1000,
		Offsets:  []jitdump.EarlyOffset{{Code: 0, Position: 0}, {Code: 8, Position: 2}, {Code: 0xc, Position: 4}, {Code: 0x10, Position: 2}, {Code: 0x18, Position: 4}, {Code: 0x20, Position: 0}, {Code: 0x28, Position: 6}},
		Positions: []jitdump.EarlyPosition{
			{Caller: -1, Function: 0, File: 3, StartLine: 1, StartColumn: 1, Line: 2, Column: 1},
			{Caller: -1, Function: 0, File: 3, StartLine: 1, StartColumn: 1, Line: 3, Column: 5},  // outer calls middle
			{Caller: 1, Function: 1, File: 3, StartLine: 10, StartColumn: 4, Line: 11, Column: 5}, // in middle
			{Caller: 1, Function: 1, File: 3, StartLine: 10, StartColumn: 4, Line: 11, Column: 6}, // middle calls inner
			{Caller: 3, Function: 2, File: 4, StartLine: 20, Line: 21},                            // in inner
			{Caller: -1, Function: 0, File: 3, StartLine: 1, StartColumn: 1, Line: 4, Column: 7},  // outer calls inner
			{Caller: 5, Function: 2, File: 4, StartLine: 20, Line: 22, Column: 3},                 // in it
		},
		Strings: [][]byte{[]byte("outer"), []byte("middle"), []byte("inner"), []byte("a.toy"), []byte("b.to")},
		Extra:   []byte{},
	}
}

func TestEarlyDebugInfo_OfSamply(t *testing.T) {
	for _, order := range []binary.ByteOrder{binary.LittleEndian, binary.BigEndian} {
		r := raw(t, order, earlyInfo())
		rec, err := r.Decode()
		if err != nil {
			t.Fatal(err)
		}
		early, ok := rec.(*jitdump.EarlyDebugInfo)
		if !ok {
			t.Fatalf("read as %T", rec)
		}
		got, err := early.DebugInfo2(0x30)
		if err != nil {
			t.Fatal(err)
		}
		want := golden2()
		if !reflect.DeepEqual(got.Calls, []jitdump.InlineCall{
			{Depth: 0, RangeCount: 1, Function: 1, Line: 3, Column: 4},
			{Depth: 1, RangeCount: 2, Function: 2, Line: 11, Column: 5},
			{Depth: 0, RangeCount: 1, Function: 3, Line: 4, Column: 6},
		}) || !reflect.DeepEqual(got.Ranges, want.Ranges) {
			t.Errorf("calls %+v, ranges %+v", got.Calls, got.Ranges)
		}
		if string(got.Names[got.Functions[2].Name]) != "inner" || string(got.Files[got.Lines[2].File]) != "b.to" {
			t.Errorf("functions %+v, lines %+v", got.Functions, got.Lines)
		}
		// Columns count from 1 in this record and from 0 in that one.
		for i, l := range got.Lines {
			if c := early.Positions[early.Offsets[i].Position].Column; l.Column != c-1 || c == 0 && l.Column != jitdump.NoColumn {
				t.Errorf("line %d: column %d became %#x", i, c, l.Column)
			}
		}
		for i, want := range []uint32{0, 3, jitdump.NoColumn} {
			if got := got.Functions[i].Column; got != want {
				t.Errorf("function %d starts at column %#x, want %#x", i, got, want)
			}
		}
	}
}

func TestEarlyDebugInfo_Hostile(t *testing.T) {
	long := earlyInfo() // each position called by the next one
	long.Positions = nil
	for i := range int32(100000) {
		long.Positions = append(long.Positions, jitdump.EarlyPosition{Caller: i + 1})
	}
	long.Positions[99999].Caller = -1
	for want, break_ := range map[string]func(*jitdump.EarlyDebugInfo){
		"leads back to itself":              func(e *jitdump.EarlyDebugInfo) { e.Positions[1].Caller = 4 },
		"caller at offset 0x90: of positio": func(e *jitdump.EarlyDebugInfo) { e.Positions[0].Caller = 0 },
		"caller at offset 0xac":             func(e *jitdump.EarlyDebugInfo) { e.Positions[1].Caller = -2 },
		"is 7 in a list of 7 positions":     func(e *jitdump.EarlyDebugInfo) { e.Positions[1].Caller = 7 },
		"position at offset 0x64":           func(e *jitdump.EarlyDebugInfo) { e.Offsets[1].Position = 7 },
		"function at offset 0xcc":           func(e *jitdump.EarlyDebugInfo) { e.Positions[2].Function = 5 },
		"file at offset":                    func(e *jitdump.EarlyDebugInfo) { e.Positions[2].File = 5 },
		"is less than that of the entry":    func(e *jitdump.EarlyDebugInfo) { e.Offsets[3].Code = 9 },
		"beyond the 0x30 bytes":             func(e *jitdump.EarlyDebugInfo) { e.Offsets[6].Code = 0x31 },
		"there is no outer function":        func(e *jitdump.EarlyDebugInfo) { e.Offsets = nil },
		"more than 255 calls deep":          func(e *jitdump.EarlyDebugInfo) { e.Positions = long.Positions },
		"readers accept 255": func(e *jitdump.EarlyDebugInfo) { // each one step deeper than the one before
			e.Positions = nil
			e.Offsets = nil
			for i := range int32(1000) {
				e.Positions = append(e.Positions, jitdump.EarlyPosition{Caller: i - 1})
				e.Offsets = append(e.Offsets, jitdump.EarlyOffset{Position: uint32(i)})
			}
		},
	} {
		e := earlyInfo()
		break_(e)
		r := raw(t, binary.LittleEndian, e)
		early, err := r.EarlyDebugInfo()
		if err != nil {
			t.Fatal(err)
		}
		lines, err := early.DebugInfo2(0x30)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v; want %q", err, want)
		}
		// The lines that can be believed are there all the same.
		if lines == nil || len(lines.Calls) > 0 || len(lines.Lines) != len(early.Offsets) {
			t.Errorf("%s: got %+v; want lines not nil, no calls, %d lines", want, lines, len(early.Offsets))
		}
	}
	// Each line has its own position's file, and the outer function one that is known.
	mixed := earlyInfo()
	mixed.Positions = []jitdump.EarlyPosition{{Caller: -1, File: -1}, {Caller: -1, File: 3, Line: 5, StartLine: 1}, {Caller: -1, File: 4, Line: 7}}
	mixed.Offsets = []jitdump.EarlyOffset{{Code: 0, Position: 0}, {Code: 4, Position: 1}, {Code: 8, Position: 2}}
	d, err := mixed.DebugInfo2(0x30)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"", "a.toy", "b.to"} {
		if got := string(d.Files[d.Lines[i].File]); got != want {
			t.Errorf("line %d is of %q, want %q", i, got, want)
		}
	}
	if got := string(d.Files[d.Functions[0].File]); got != "a.toy" {
		t.Errorf("the function is declared in %q", got)
	}
	// What does not add up is no early record: it may be a tier, or nothing.
	r := raw(t, binary.LittleEndian, earlyInfo())
	for at := 8; at < 32; at += 8 {
		body := bytes.Clone(r.Body)
		body[at]++
		if raw := (jitdump.Raw{ID: jitdump.IDTier, Body: body, Order: binary.LittleEndian}); raw.IsEarlyDebugInfo() {
			t.Errorf("a count at %d too large is accepted", at)
		}
	}
}

// What could not be read again is not written.
func TestWriter_Unreadable(t *testing.T) {
	for want, rec := range map[string]jitdump.Record{
		`"a\x00b" has a NUL`: &jitdump.Load{Name: []byte("a\x00b")},
		`"f\x00" has a NUL`:  &jitdump.DebugInfo2{Files: [][]byte{[]byte("f\x00")}},
		`"g\x00" has a NUL`:  &jitdump.DebugInfo2{Names: [][]byte{[]byte("g\x00")}},
		`"s\x00" has a NUL`:  jitdump.NewEmbeddedSource("s\x00", nil),
		"no name":            jitdump.NewEmbeddedSource("", nil),
		"number 0":           jitdump.NewTier(0, jitdump.Red, "t"),
	} {
		w, err := jitdump.NewWriter(io.Discard, &jitdump.Header{})
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Write(1, rec); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}
