package jitdump_test

import (
	"slices"
	"testing"

	"github.com/jitinject/jitinject/jitdump"
)

// Methods of one name, overloads without their signatures or those of classes of several
// loaders, have a listing each.
func TestJ9Listing_MethodsOfOneName(t *testing.T) {
	b := newDump(t, x86)
	methods := []jitdump.JavaMethod{
		{Method: 0x100, Class: []byte("p/A"), Name: []byte("f")},
		{Method: 0x200, Class: []byte("p/A"), Name: []byte("f")},
		{Method: 0x300, Class: []byte("p/A"), Name: []byte("f 0x200")}, // as if it were the other's
	}
	b.add(j9Record(t, j9Body(t), methods, 0x1000))
	b.load("x", 0x1000, 0x40)
	fn, err := b.scan().Reader().Function(0)
	if err != nil {
		t.Fatal(err)
	}
	for at, want := range map[uint64][]frame{
		0x10: {{"p.A.f", "p.A.f 0x200.bytecode", 3}, {"p.A.f", "p.A.f.bytecode", 6}},
		0x18: {{"p.A.f 0x200", "p.A.f 0x200 0x300.bytecode", 4}, {"p.A.f", "p.A.f 0x200.bytecode", 8}, {"p.A.f", "p.A.f.bytecode", 6}},
	} {
		if got := stackAt(fn, at); !slices.Equal(got, want) {
			t.Errorf("at %#x: %v, want %v", at, got, want)
		}
	}
	want := "    0: +0x8 to +0x10\n\n\n\n\n    5:  inlines p.A.f\n\n\n\n    9:  inlines [unloaded]\n\n   11: +0x30 to +0x40\n"
	if i := slices.Index(fn.Files, "p.A.f.bytecode"); i < 0 || fn.Sources[i] != want {
		t.Errorf("files %q, texts %q", fn.Files, fn.Sources)
	}
}

// Unloaded methods cannot be told apart: their one listing says so. A body that is called as they
// are is none of them.
func TestJ9Listing_UnloadedMethods(t *testing.T) {
	b := newDump(t, x86)
	b.add(j9Record(t, j9Body(t), nil, 0x1000))
	b.load("[unloaded]", 0x1000, 0x40)
	fn, err := b.scan().Reader().Function(0)
	if err != nil {
		t.Fatal(err)
	}
	want := []frame{{"[unloaded]", "[unloaded].bytecode", 5}, {"[unloaded]", "[unloaded] 0x100.bytecode", 10}}
	if got := stackAt(fn, 0x28); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	text := "    0:  (of all methods that were unloaded)\n\n\n\n    4: +0x28 to +0x30\n"
	if i := slices.Index(fn.Files, "[unloaded].bytecode"); i < 0 || fn.Sources[i] != text {
		t.Errorf("files %q, texts %q", fn.Files, fn.Sources)
	}
}
