package j9meta_test

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/jitinject/jitinject/internal/format/j9meta"
	"github.com/jitinject/jitinject/internal/format/j9meta/j9gen"
	"github.com/jitinject/jitinject/internal/wire"
)

// vectorBase is the address of all vectors in testdata, of 64-bit ones.
const vectorBase = 0x7e0000000000

var fuzzMachines = []elf.Machine{elf.EM_X86_64, elf.EM_S390, elf.EM_PPC64, elf.EM_ARM}

// fuzzLayout makes a layout of a byte.
func fuzzLayout(b uint8) (l j9meta.Layout, base uint64) {
	l = j9meta.Layout{Order: binary.LittleEndian, PointerSize: 8, Machine: fuzzMachines[b>>2&3]}
	base = vectorBase
	if b&1 != 0 {
		l.Order = binary.BigEndian
	}
	if b&2 != 0 {
		l.PointerSize = 4
		base = 0x7e000000
	}
	if n := b >> 4 & 3; n > 0 {
		l.HeaderSize = j9meta.HeaderSizes(l.PointerSize)[n-1]
	}
	return l, base
}

// Whatever the bytes are: what is decoded is encoded to the same bytes, every
// offset of the code has an answer, and what is laid out anew says the same.
// What is not decoded is an error that says where.
func FuzzDecode(f *testing.F) {
	names, err := filepath.Glob("testdata/*.bin")
	if err != nil || len(names) == 0 {
		f.Fatal(len(names), err)
	}
	for _, name := range names {
		blob, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(blob, uint8(0))
	}
	for kind := range uint8(64) {
		l, base := fuzzLayout(kind)
		o := j9gen.Options{Layout: l, Base: base, CodeSize: 300, Maps: 8, Sites: int(kind%5) - 1}
		if kind%3 == 0 {
			o.CodeSize = 70000
		}
		blob, err := j9gen.Encode(j9gen.Random(rand.New(rand.NewPCG(uint64(kind), 3)), o))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(blob, kind)
	}
	f.Fuzz(func(t *testing.T, blob []byte, kind uint8) {
		l, base := fuzzLayout(kind)
		checkBlob(t, blob, base, l)
	})
}

// checkBlob checks what FuzzDecode says, and returns whether there is a body.
func checkBlob(t *testing.T, blob []byte, base uint64, l j9meta.Layout) bool {
	t.Helper()
	b, err := j9meta.Decode(blob, base, l)
	if err != nil {
		var where *wire.Error
		if !errors.As(err, &where) || where.Offset < 0 || where.Offset > int64(len(blob)) {
			t.Fatalf("error %v, of %d bytes", err, len(blob))
		}
		return false
	}
	again, err := j9gen.Encode(b)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(again, blob) {
		t.Fatalf("encoded again:\n% x\nbefore:\n% x", again, blob)
	}
	at := 0
	for _, s := range b.Sections {
		if s.Offset != at || s.Size < 0 {
			t.Fatalf("%s at %#x, expected %#x", s.Kind, s.Offset, at)
		}
		at += s.Size
	}
	if at != len(blob) {
		t.Fatalf("sections end at %#x, the blob at %#x", at, len(blob))
	}
	walk(t, b)
	return true
}

// walk asks for everything that a body can tell.
func walk(t *testing.T, b *j9meta.Body) {
	t.Helper()
	var frames []j9meta.Frame
	for _, r := range b.Ranges() {
		if r.Start >= r.End {
			t.Fatalf("range %+v", r)
		}
		frames = b.Stack(frames[:0], r.Info)
		if len(frames) > len(b.Sites)+1 {
			t.Fatalf("%d frames, there are %d sites", len(frames), len(b.Sites))
		}
		if at, ok := b.RangeAt(r.Start); !ok || at.Map != r.Map {
			t.Fatalf("at %#x: %+v, expected %+v", r.Start, at, r)
		}
	}
}
