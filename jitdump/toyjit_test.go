package jitdump_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/internal/testrec"
	"github.com/jitinject/jitinject/jitdump"
)

// The toy JIT of testdata keeps the rules of docs/formats/jitdump-extensions.txt,
// and its records say what its emitter says. The decoder here is written from that
// page and shares nothing with the package's: it is strict where that is lenient.

// Ids of the records beyond the specification.
const (
	toyDebugInfo2 = 827346259
	toyTier       = 827346260
	toySource     = 827346261
)

func TestReader_ToyJIT(t *testing.T) {
	jit := testrec.ToyJIT(t, t.TempDir())
	for name, flags := range map[string][]string{"plain": nil, "frames": {"-f"}, "lines": {"-d"}, "nothing inlined": {"-n"}} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			args := append(append(flags, dir, "0"), testrec.ToySources()...)
			out := testrec.Run(t, dir, jit, args...)
			// 567538 is what gcc makes of the same program in C.
			if f := strings.Fields(out); len(f) != 2 || f[1] != "567538" {
				t.Errorf("the program's result is %q", out)
			}
			checkToyDump(t, dir, flags)
		})
	}
}

// checkToyDump holds the dump in a directory against the rules and the truth.
func checkToyDump(t *testing.T, dir string, flags []string) {
	t.Helper()
	truth := testrec.ToyTruth(t, dir)
	paths, _ := filepath.Glob(filepath.Join(dir, "jit-*.dump"))
	if len(paths) != 1 {
		t.Fatalf("dumps %v", paths)
	}
	f, err := os.Open(paths[0])
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r, err := jitdump.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	var tree *toyTree
	var lines jitdump.DebugInfo
	var order []string // what comes in the dump
	shape := make(map[string]int)
	last := uint64(0)
	for {
		raw, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		if raw.Timestamp < last {
			t.Errorf("time goes back at offset %#x", raw.Offset)
		}
		last = raw.Timestamp
		order = append(order, fmt.Sprint(uint32(raw.ID)))
		switch raw.ID {
		case toySource:
			checkToySource(t, raw.Body)
		case toyTier:
			if want := "\x01\x00\x00\x00\x03\x00\x00\x00Toy\x00"; string(raw.Body) != want {
				t.Errorf("the tier is %q, want %q", raw.Body, want)
			}
		case toyDebugInfo2:
			if tree, err = decodeToyTree(raw.Body); err != nil {
				t.Fatal(err)
			}
		case jitdump.IDDebugInfo:
			raw.Body = bytes.Clone(raw.Body)
			if lines, err = raw.DebugInfo(); err != nil {
				t.Fatal(err)
			}
		case jitdump.IDLoad:
			load, err := raw.Load()
			if err != nil {
				t.Fatal(err)
			}
			checkToyFunction(t, &load, tree, truth[string(load.Name)], shape)
			n := 0
			for e, err := range lines.Entries() {
				if e.Addr == load.CodeAddr+load.CodeSize { // the end, for perf inject
					n++
					continue
				}
				insn := toyInsnAt(truth[string(load.Name)], uint32(e.Addr-load.CodeAddr))
				if err != nil || insn == nil || insn.Stack[0].Line != e.Line || insn.Stack[0].Column != e.Discrim || insn.Stack[0].File != string(e.Name) {
					t.Errorf("%s: the plain line %+v is not that of %+v", load.Name, e, insn)
				}
				n++
			}
			if slices.Contains(flags, "-d") && n != len(tree.lines)+1 {
				t.Errorf("%s: %d plain lines, %d in DEBUG_INFO2", load.Name, n, len(tree.lines))
			}
			delete(truth, string(load.Name))
		}
	}
	if len(truth) > 0 {
		t.Errorf("%d functions are not in the dump", len(truth))
	}
	each := map[bool]string{true: "2 ", false: ""}[slices.Contains(flags, "-d")] + "827346259 0 "
	if got, want := strings.Join(order, " "), "827346261 827346261 827346260 "+strings.Repeat(each, 13)+"3"; got != want {
		t.Errorf("records %s\nwant    %s", got, want)
	}
	// What the program is there for.
	t.Logf("%v", shape)
	for _, what := range []string{"3 levels", "split", "interleaved", "twice on a line", "itself", "real call inside", "other file"} {
		if (shape[what] == 0) != slices.Contains(flags, "-n") {
			t.Errorf("%q is %d times in the program", what, shape[what])
		}
	}
	if shape["no calls"] == 0 {
		t.Error("every function has inlined calls")
	}
}

func toyInsnAt(insns []testrec.ToyInsn, offset uint32) *testrec.ToyInsn {
	i, ok := slices.BinarySearchFunc(insns, offset, func(i testrec.ToyInsn, at uint32) int { return int(i.Offset) - int(at) })
	if !ok {
		return nil
	}
	return &insns[i]
}

func checkToySource(t *testing.T, body []byte) {
	t.Helper()
	size := binary.LittleEndian.Uint64(body)
	name, text, _ := bytes.Cut(body[8:], []byte{0})
	want, err := os.ReadFile(string(name))
	if err != nil {
		t.Fatal(err)
	}
	if uint64(len(text)) < size || !bytes.Equal(text[:size], want) || len(bytes.Trim(text[size:], "\x00")) > 0 || len(text[size:]) > 7 || len(body)%8 != 0 {
		t.Errorf("the embedded %s is %q", name, text)
	}
}

// checkToyFunction holds a function's tree against the truth at every instruction,
// and counts in shape what is in it.
func checkToyFunction(t *testing.T, load *jitdump.Load, tree *toyTree, truth []testrec.ToyInsn, shape map[string]int) {
	t.Helper()
	if tree == nil || len(truth) == 0 {
		t.Fatalf("%s: no tree or no truth", load.Name)
	}
	end := truth[len(truth)-1]
	if uint64(end.Offset+end.Length) != load.CodeSize {
		t.Errorf("%s: the truth ends at %d, the code at %d", load.Name, end.Offset+end.Length, load.CodeSize)
	}
	if err := tree.check(uint32(load.CodeSize)); err != nil {
		t.Fatalf("%s: %v", load.Name, err)
	}
	for _, insn := range truth {
		if got := tree.stack(insn.Offset); !slices.Equal(got, insn.Stack) {
			t.Errorf("%s+%d: the lists say %v, the truth is %v", load.Name, insn.Offset, got, insn.Stack)
		}
		if inner := insn.Stack[0]; len(insn.Stack) > 1 {
			if load.Code[insn.Offset] == 0xe8 {
				shape["real call inside"]++
			}
			if inner.File != insn.Stack[len(insn.Stack)-1].File {
				shape["other file"]++
			}
		}
	}
	ranges, _ := tree.rangesOf()
	sites := make(map[string]uint32)
	for i, c := range tree.calls {
		fn := tree.functions[c.Function]
		if c.Depth == 2 {
			shape["3 levels"]++
		}
		if len(ranges[i]) > 1 {
			shape["split"]++
		}
		for j := 1; j < len(ranges[i]); j++ {
			hole := truth[slices.IndexFunc(truth, func(n testrec.ToyInsn) bool { return n.Offset == ranges[i][j-1].Start+ranges[i][j-1].Size })]
			if hole.Offset+hole.Length == ranges[i][j].Start {
				shape["interleaved"]++
			}
		}
		if ranges[i][0].Size == 0 {
			t.Errorf("%s: a call of %s has no code", load.Name, tree.names[fn.Name])
		}
		if c.Function == 0 && tree.names[fn.Name] == string(load.Name) {
			shape["itself"]++
		}
		key := fmt.Sprint(c.Depth, c.Function, c.Line)
		if other, ok := sites[key]; ok && other != c.Column {
			shape["twice on a line"]++
		}
		sites[key] = c.Column
	}
	if len(tree.calls) == 0 {
		shape["no calls"]++
	}
}
