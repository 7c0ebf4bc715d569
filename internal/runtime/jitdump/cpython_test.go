package jitdump_test

import (
	"bytes"
	"encoding/binary"
	"testing"

	jitdumps "github.com/jitinject/jitinject/internal/runtime/jitdump"
	"github.com/jitinject/jitinject/jitdump"
)

// salted returns how many functions have lost their last bytes.
func salted(d *jitdumps.Dump) int64 {
	for _, r := range d.Fixes() {
		if r.Name == "salted-code" {
			return r.Count
		}
	}
	return 0
}

// CPython 3.15: endbr64 is left of each trampoline, the rest is shown as no instruction.
func TestSalt_CPython(t *testing.T) {
	d := scanReal(t, "python-3.15", "jit-16146.dump")
	if n := salted(d); n != 14 {
		t.Fatalf("%d functions have a salt, want 14", n)
	}
	r := d.Reader()
	want := []byte{0xf3, 0x0f, 0x1e, 0xfa, 6, 6, 6, 6, 6, 6, 6, 6}
	for i := range d.NumFunctions() {
		fn, err := r.Function(i)
		if err != nil || !bytes.Equal(fn.Code, want) || len(fn.Unwind.Sent.FDEs) != 1 {
			t.Errorf("%s: code % x, %d FDEs, %v; want % x, 1", fn.Name, fn.Code, len(fn.Unwind.Sent.FDEs), err, want)
		}
	}
	if n := salted(scanReal(t, "python", "jit-30299.dump")); n != 0 {
		t.Errorf("CPython 3.14: %d functions have a salt, want none", n)
	}
}

// What proves a salt, and what does not.
func TestSalt_Proof(t *testing.T) {
	const pid, began = 1, 1000
	code := func(salt, index, size uint64) []byte {
		c := bytes.Repeat([]byte{0x90}, int(size))
		binary.LittleEndian.PutUint64(c[size-8:], salt^index<<32^size)
		return c
	}
	const salt = pid<<32 ^ began
	for _, c := range []struct {
		name  string
		codes [][]byte
		want  int64
	}{
		{"two", [][]byte{code(salt, 0, 16), code(salt, 1, 24)}, 2},
		{"two, of another time", [][]byte{code(77, 0, 16), code(77, 1, 24)}, 2},
		{"one", [][]byte{code(salt, 0, 16)}, 1},
		{"one of another process", [][]byte{code(salt+1<<32, 0, 16)}, 0},
		{"one of a later time", [][]byte{code(pid<<32^1<<20, 0, 16)}, 0},
		{"one without", [][]byte{code(salt, 0, 16), bytes.Repeat([]byte{0x90}, 16), code(salt, 2, 16)}, 0},
		{"equal functions without numbers", [][]byte{code(77, 0, 16), code(77, 0, 16)}, 0},
		{"short functions between", [][]byte{code(salt, 0, 16), {0x90, 0xc3}, code(salt, 2, 16)}, 2},
		{"none", [][]byte{{0xc3}}, 0},
	} {
		h := x86
		h.PID = pid
		b := newDump(t, h)
		b.time = began
		for i, code := range c.codes {
			index := uint64(i)
			if c.name == "equal functions without numbers" {
				index = 0
			}
			b.add(&jitdump.Load{PID: pid, TID: pid, VMA: uint64(0x1000 * (i + 1)), CodeAddr: uint64(0x1000 * (i + 1)), CodeIndex: index, Name: []byte("f"), Code: code})
		}
		d := b.scan()
		if n := salted(d); n != c.want {
			t.Errorf("%s: %d functions have a salt, want %d", c.name, n, c.want)
		}
		r := d.Reader()
		for i, code := range c.codes {
			fn, err := r.Function(i)
			if err != nil {
				t.Fatal(err)
			}
			if same := bytes.Equal(fn.Code, code); same != (c.want == 0 || len(code) < 8) || len(fn.Code) != len(code) {
				t.Errorf("%s: function %d has % x", c.name, i, fn.Code)
			}
		}
	}
}
