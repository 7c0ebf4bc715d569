package engine_test

import (
	"debug/elf"
	"encoding/binary"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/jitdump"
)

// Functions in the order of their addresses, and "|" where a bundle must end. A small letter is a
// function that no sample refers to.
//
//	n, N  has no lines
//	l, L  has lines
//	x, X  has lines, and its name has letters beyond ASCII
//	f, F  has lines, and its file's name has letters beyond ASCII
//	y, Y  has no lines, and its name has letters beyond ASCII
func TestBundle_KindsOfFunctions(t *testing.T) {
	for _, want := range []string{
		"nnn", "NNN", "LLL", "lll", "L|N", "N|L|N", "nLn", "nNn", "l|N|l", "lLl", "LnL", "NnN",
		"N|lL", "Ln|N", "nL|Nn", "L|X|L", "n|X|n", "X|X", "l|F|l", "xLx", "N|x|N", "xxx", "fLf",
		"NYN", "L|Y|L", "yLy", "Lnnl|N", "N|X|N", "nn|X|n", "nlnL|N|F|l|N",
	} {
		w := newWorld(t)
		w.mark(100, 1000, "jit-100.dump")
		var recs []timed
		for i, c := range strings.ReplaceAll(want, "|", "") {
			addr, at, kind := 0x10000+uint64(i)*512, 2000+uint64(i), strings.ToLower(string(c))
			name, file := fmt.Sprint("function", i), "a.js"
			if kind == "x" || kind == "y" {
				name = fmt.Sprint("größe", i)
			}
			if kind == "f" {
				file = "größe.js"
			}
			if strings.Contains("lxf", kind) {
				recs = append(recs, timed{at, jitdump.NewDebugInfo(binary.LittleEndian, addr, []jitdump.DebugEntry{{Addr: addr, Line: 1, Name: []byte(file)}})})
			}
			recs = append(recs, load(at, 100, uint64(i), addr, name, code(64, byte(i))))
			if kind != string(c) {
				w.Sample(100, 3000+uint64(i), addr+8)
			}
		}
		w.dump("jit-100.dump", x86(100), recs...)
		w.opts.Bundle, w.opts.Objects = true, w.path("objects")
		if _, err := w.run(); err != nil {
			t.Fatal(err)
		}
		if got := w.groups(want); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// groups returns the letters of functions with "|" between those that are in different objects.
func (w *world) groups(letters string) string {
	w.t.Helper()
	objects, err := filepath.Glob(w.path("objects/*.so"))
	if err != nil {
		w.t.Fatal(err)
	}
	of := make(map[int]string)
	for _, path := range objects {
		f, err := elf.Open(path)
		if err != nil {
			w.t.Fatal(err)
		}
		symbols, err := f.Symbols()
		if err != nil {
			w.t.Fatal(err)
		}
		f.Close()
		for _, s := range symbols {
			var i int
			name := strings.TrimLeftFunc(s.Name, func(r rune) bool { return r < '0' || r > '9' })
			if _, err := fmt.Sscan(name, &i); err == nil && elf.ST_TYPE(s.Info) == elf.STT_FUNC {
				of[i] = path
			}
		}
	}
	functions := slices.DeleteFunc([]rune(letters), func(r rune) bool { return r == '|' })
	var b strings.Builder
	for i, c := range functions {
		if i > 0 && of[i] != of[i-1] {
			b.WriteByte('|')
		}
		b.WriteRune(c)
	}
	if len(of) != len(functions) {
		w.t.Errorf("got %d functions in objects, want %d", len(of), len(functions))
	}
	return b.String()
}
