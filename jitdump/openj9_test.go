package jitdump_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/jitinject/jitinject/internal/testrec"
	"github.com/jitinject/jitinject/jitdump"
)

// goldenJ9 returns what testdata/openj9.hex says.
func goldenJ9() *jitdump.OpenJ9Metadata {
	return &jitdump.OpenJ9Metadata{
		CodeAddr: 0x7f0000001000, Base: 0x7f0000400020, PointerSize: 8, HeaderSize: 232,
		Metadata: []byte("not decoded"),
		Methods: []jitdump.JavaMethod{
			{
				Method: 0x7f0000800010, Class: []byte("a/B"), Name: []byte("run"), Signature: []byte("()V"), File: []byte("a/B.java"),
				Flags: jitdump.UserFunction,
				Lines: []jitdump.JavaLine{{ByteCodeIndex: 0, Line: 10}, {ByteCodeIndex: 4, Line: 12}, {ByteCodeIndex: 9, Line: 11}},
			},
			{Method: 0x7f0000800030, Class: []byte("C"), Name: []byte("run")},
		},
	}
}

// sameJ9 reports whether two records say the same.
func sameJ9(a, b *jitdump.OpenJ9Metadata) bool {
	plain := func(m *jitdump.OpenJ9Metadata) string {
		text := fmt.Sprintf("%#x %#x %d %d %x %x", m.CodeAddr, m.Base, m.PointerSize, m.HeaderSize, m.Metadata, m.Extra)
		for _, j := range m.Methods {
			text += fmt.Sprintf("\n%#x %q %q %q %q %d %v", j.Method, j.Class, j.Name, j.Signature, j.File, j.Flags, j.Lines)
		}
		return text
	}
	return plain(a) == plain(b)
}

func TestOpenJ9Record_Golden(t *testing.T) {
	dump := testrec.Hex(t, "testdata/openj9.hex")
	h, recs, times := readAll(t, dump)
	m, ok := recs[0].(*jitdump.OpenJ9Metadata)
	if !ok || len(recs) != 1 || !sameJ9(m, goldenJ9()) {
		t.Fatalf("read %+v, want %+v", recs[0], goldenJ9())
	}
	if err := m.CheckTables(); err != nil {
		t.Error(err)
	}
	if at := m.MetadataOffset(); !bytes.HasPrefix(dump[at:], m.Metadata) {
		t.Errorf("the metadata is said to be at %#x", at)
	}
	for _, rec := range []*jitdump.OpenJ9Metadata{goldenJ9(), m} {
		if got := writeAll(t, h, []jitdump.Record{rec}, times); !bytes.Equal(got, dump) {
			t.Errorf("written\n% x\nwant\n% x", got, dump)
		}
	}
	// What was decoded may be changed, and then is written as it is now.
	m.Methods[1].Signature = []byte("(J)J")
	m.Methods = append(m.Methods, jitdump.JavaMethod{Method: 5, Class: []byte("D"), Name: []byte("run"), Lines: []jitdump.JavaLine{{Line: 3}}})
	r := raw(t, binary.LittleEndian, m)
	if again, err := r.OpenJ9Metadata(); err != nil || !sameJ9(&again, m) {
		t.Errorf("read %+v, %v; want %+v", again, err, m)
	}
}

// Records of all shapes are read as they were written, in both byte orders.
func TestOpenJ9Record_ReadAgain(t *testing.T) {
	rng := rand.New(rand.NewSource(int64(testrec.Seed(t))))
	words := []string{"", "a", "java/lang/String", "equals", "(Ljava/lang/Object;)Z", "String.java", strings.Repeat("x", 65535)}
	for i := range testrec.Rounds(2000, 200) {
		m := &jitdump.OpenJ9Metadata{CodeAddr: rng.Uint64(), Base: rng.Uint64(), PointerSize: uint16(4 << rng.Intn(2)), HeaderSize: uint16(rng.Intn(300))}
		m.Metadata = make([]byte, rng.Intn(50))
		rng.Read(m.Metadata)
		m.Extra = make([]byte, rng.Intn(8))
		for range rng.Intn(5) {
			j := jitdump.JavaMethod{Method: rng.Uint64(), Flags: jitdump.FunctionFlags(rng.Intn(2))}
			for _, s := range []*[]byte{&j.Class, &j.Name, &j.Signature, &j.File} {
				*s = []byte(words[rng.Intn(len(words)-rng.Intn(2))])
			}
			for range rng.Intn(4) {
				j.Lines = append(j.Lines, jitdump.JavaLine{ByteCodeIndex: rng.Uint32(), Line: rng.Uint32()})
			}
			m.Methods = append(m.Methods, j)
		}
		order := []binary.ByteOrder{binary.LittleEndian, binary.BigEndian}[i%2]
		r := raw(t, order, m)
		got, err := r.OpenJ9Metadata()
		if err != nil || !sameJ9(&got, m) {
			t.Fatalf("wrote %+v, read %+v, %v", m, got, err)
		}
		if again := raw(t, order, &got); !bytes.Equal(again.Body, r.Body) {
			t.Fatalf("decoded and written again it is\n% x\nit was\n% x", again.Body, r.Body)
		}
	}
}

// A string that several methods share need not be there once, and the order is free:
// what another writer wrote comes out as it was.
func TestOpenJ9Record_StringsOfOtherWriter(t *testing.T) {
	r := raw(t, binary.LittleEndian, goldenJ9())
	at := len(r.Body) - 24 // of the strings: "", a/B, run, ()V, a/B.java, C
	body := append(bytes.Clone(r.Body[:at]), "\x00C\x00run\x00run\x00()V\x00a/B\x00a/B.java\x00\x00\x00\x00\x00"...)
	binary.LittleEndian.PutUint32(body[40:], uint32(len(body)-at))
	for i, off := range []uint32{15, 3, 11, 19} {
		binary.LittleEndian.PutUint32(body[48+8+4*i:], off)
	}
	for i, off := range []uint32{1, 7, 0, 28} { // the last is one of the empty ones
		binary.LittleEndian.PutUint32(body[48+32+8+4*i:], off)
	}
	other := jitdump.Raw{ID: jitdump.IDOpenJ9, Body: body, Order: binary.LittleEndian}
	m, err := other.OpenJ9Metadata()
	if err != nil || !sameJ9(&m, goldenJ9()) {
		t.Fatalf("read %+v, %v", m, err)
	}
	if again := raw(t, binary.LittleEndian, &m); !bytes.Equal(again.Body, body) {
		t.Errorf("written again it is\n% x\nit was\n% x", again.Body, body)
	}
}

func TestOpenJ9Record_Hostile(t *testing.T) {
	whole := raw(t, binary.LittleEndian, goldenJ9()).Body
	at := func(off int, v uint32) func([]byte) []byte {
		return func(b []byte) []byte { binary.LittleEndian.PutUint32(b[off:], v); return b }
	}
	for _, tc := range []struct {
		want   string
		break_ func([]byte) []byte
	}{
		{"version at offset 0x3c: is 2; only 1 is known", at(4, 2)},
		{"metadata at offset 0xc0: needs 4294967295 bytes", at(24, 0xffffffff)},
		{"metadata at offset 0xc0: needs 1000000 bytes", at(24, 1000000)},
		{"pointer_size at offset 0x54: is 6", at(28, 6)},
		{"method_count at offset 0x58: is 4294967295", at(32, 0xffffffff)},
		{"methods at offset 0x68: of 60000 entries needs 1920000 bytes", at(32, 60000)},
		{"lines at offset 0xa8: of 4294967295 entries", func(b []byte) []byte { return at(36, 0xffffffff)(at(48+28, 0xffffffff)(b)) }},
		{"lines at offset 0xa8: are 4, but methods have 3", at(36, 4)},
		{"line_count at offset 0x84: makes 3 for the methods so far; all have 2", at(36, 2)},
		{"strings_size at offset 0x60: is 22, which is no multiple", at(40, 22)},
		{"strings at offset 0xd0: needs 28 bytes, 24 are left", at(40, 28)},
		{"reserved at offset 0x64: is 0x1", at(44, 1)},
		{"do not begin with an empty one", func(b []byte) []byte { b[len(b)-24] = 'x'; return b }},
		{"and end with a NUL", func(b []byte) []byte { b[len(b)-1] = 'x'; return b }},
		{"have none at 0x18, where method 0", at(56, 24)},
		{"have none at 0xffffffff, where method 0", at(60, 0xffffffff)},
		{"have none that begins at 0x2, where method 0", at(68, 2)},
		{"is followed by others than zero; zeros pad it", func(b []byte) []byte { b[len(b)-25] = 1; return b }},
	} {
		r := jitdump.Raw{ID: jitdump.IDOpenJ9, Body: tc.break_(bytes.Clone(whole)), Order: binary.LittleEndian, Offset: 40}
		_, err := r.OpenJ9Metadata()
		if err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("got %v; want %q", err, tc.want)
		}
		if rec, err := r.Decode(); err == nil {
			t.Errorf("%s: decoded as %+v", tc.want, rec)
		}
	}
	for n := range len(whole) {
		r := jitdump.Raw{ID: jitdump.IDOpenJ9, Body: whole[:n], Order: binary.LittleEndian, Offset: 40}
		if _, err := r.OpenJ9Metadata(); err == nil || !strings.Contains(err.Error(), "at offset 0x") {
			t.Errorf("of the first %d bytes: %v", n, err)
		}
	}
	// Without the magic it is somebody else's.
	for _, body := range [][]byte{nil, {1, 2, 3}, at(0, 0x12345678)(bytes.Clone(whole))} {
		r := jitdump.Raw{ID: jitdump.IDOpenJ9, Body: body, Order: binary.LittleEndian}
		if rec, err := r.Decode(); err != nil || reflect.TypeOf(rec) != reflect.TypeFor[*jitdump.Unknown]() {
			t.Errorf("% x is decoded as %T, %v", body, rec, err)
		}
	}
}

// Sixty thousand methods that all have the longest of names cost no more than one.
func TestOpenJ9Record_SharedNames(t *testing.T) {
	m := &jitdump.OpenJ9Metadata{PointerSize: 8}
	long := []byte(strings.Repeat("n", 65535))
	for i := range uint64(60000) {
		m.Methods = append(m.Methods, jitdump.JavaMethod{Method: i + 1, Class: long, Name: long, Signature: long, File: long})
	}
	r := raw(t, binary.LittleEndian, m)
	start := time.Now()
	got, err := r.OpenJ9Metadata()
	if err != nil || len(got.Methods) != 60000 || string(got.Methods[59999].File) != string(long) {
		t.Fatal(err)
	}
	if took := time.Since(start); took > 5*time.Second {
		t.Errorf("decoding took %v", took)
	}
}

func TestOpenJ9Record_Tables(t *testing.T) {
	for want, break_ := range map[string]func(*jitdump.OpenJ9Metadata){
		"method at offset 0x68: is 0":                                   func(m *jitdump.OpenJ9Metadata) { m.Methods[0].Method = 0 },
		"method at offset 0x88: is 0x7f0000800010, as that of method 0": func(m *jitdump.OpenJ9Metadata) { m.Methods[1].Method = m.Methods[0].Method },
		"class at offset 0x90: is empty":                                func(m *jitdump.OpenJ9Metadata) { m.Methods[1].Class = nil },
		"name at offset 0x74: is empty":                                 func(m *jitdump.OpenJ9Metadata) { m.Methods[0].Name = nil },
		"flags at offset 0x80: are 0x3":                                 func(m *jitdump.OpenJ9Metadata) { m.Methods[0].Flags = 3 },
		"bytecode_index at offset 0xb8: is 4 after 4":                   func(m *jitdump.OpenJ9Metadata) { m.Methods[0].Lines[2].ByteCodeIndex = 4 },
	} {
		m := goldenJ9()
		break_(m)
		r := raw(t, binary.LittleEndian, m)
		got, err := r.OpenJ9Metadata()
		if err != nil {
			t.Fatal(err)
		}
		if err := got.CheckTables(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v; want %q", err, want)
		}
	}
}

// Behind damage, and behind zeros, a record is found again as others are.
func TestOpenJ9Record_BehindDamage(t *testing.T) {
	for _, order := range []binary.ByteOrder{binary.LittleEndian, binary.BigEndian} {
		first := dumpOf(t, order, load("a"))
		rest := dumpOf(t, order, goldenJ9(), load("b"))[40:]
		for _, between := range [][]byte{make([]byte, 24), bytes.Repeat([]byte{0xff}, 1000)} {
			r, err := jitdump.NewReader(bytes.NewReader(append(append(bytes.Clone(first), between...), rest...)))
			if err != nil {
				t.Fatal(err)
			}
			if _, err := r.Next(); err != nil {
				t.Fatal(err)
			}
			next, err := r.Next()
			if err != nil {
				if skipped, ok := r.Resync(); !ok || skipped != int64(len(between)) {
					t.Fatalf("stepped over %d bytes of %d", skipped, len(between))
				}
				next, err = r.Next()
			}
			if err != nil || !next.IsOpenJ9Metadata() {
				t.Errorf("for %v: got %s, %v; want a record of OpenJ9's metadata", order, next.ID, err)
			}
		}
	}
}
