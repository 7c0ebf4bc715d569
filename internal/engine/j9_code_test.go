package engine_test

import (
	"debug/elf"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/internal/testrec"
)

// What metadata says of code, beside what tools say of the objects that become of it.

// j9Code is what is known of the functions of a dump with metadata.
type j9Code struct {
	byName map[string][]*j9Function // the two parts of a body have one name
	truth  map[*j9Function][]testrec.ToyInsn
	names  map[string]bool // of all functions in it, also those that were inlined
	places map[*j9Function]j9Spot
}

// A j9Spot is where a function is in an object.
type j9Spot struct {
	object string
	addr   uint64
}

func newJ9Code(functions []*j9Function) *j9Code {
	c := &j9Code{byName: make(map[string][]*j9Function), truth: make(map[*j9Function][]testrec.ToyInsn), names: make(map[string]bool)}
	for _, f := range functions {
		c.byName[string(f.load.Name)] = append(c.byName[string(f.load.Name)], f)
		c.truth[f] = f.truth()
		for _, insn := range c.truth[f] {
			for _, frame := range insn.Stack {
				c.names[frame.Function] = true
			}
		}
	}
	return c
}

// find finds all functions in the symbol tables of objects, and returns the names of these.
func (c *j9Code) find(t *testing.T, objects string) (names []string) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(objects, "*.so"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("got %+v, %v; want no error, some paths", paths, err)
	}
	c.places = make(map[*j9Function]j9Spot)
	for _, path := range paths {
		names = append(names, filepath.Base(path))
		o, err := elf.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		symbols, err := o.Symbols()
		o.Close()
		if err != nil {
			t.Fatalf("for %v: unexpected error: %v", path, err)
		}
		for _, s := range symbols {
			for _, f := range c.byName[s.Name] {
				if s.Size == f.load.CodeSize {
					c.places[f] = j9Spot{path, s.Value}
				}
			}
		}
	}
	return names
}

// stack returns what is at an address of a function, in memory or in an object. Which
// part of a body is meant cannot be told if these are objects of their own.
func (c *j9Code) stack(function string, ip uint64) (stack []testrec.Frame) {
	for _, f := range c.byName[function] {
		offset := ip - f.load.CodeAddr
		if p, ok := c.places[f]; offset >= f.load.CodeSize && ok {
			offset = ip - p.addr
		}
		for _, insn := range c.truth[f] {
			if uint64(insn.Offset) <= offset && offset < uint64(insn.Offset+insn.Length) {
				if stack != nil {
					return nil
				}
				stack = insn.Stack
			}
		}
	}
	return stack
}

func (c *j9Code) jitted(function string) bool { return c.names[function] }

// sameStack compares what a tool shows with what it is to show.
func sameStack(got, want []testrec.Frame) bool { return slices.EqualFunc(got, want, samePlace) }

// samePlace takes a whole path for one that ends with what it is to be.
func samePlace(got, want testrec.Frame) bool {
	return got.Function == want.Function && got.Line == want.Line && (got.File == want.File || strings.HasSuffix(got.File, "/"+want.File))
}

// ask asks symbolizers about the first and the last byte of up to n pieces of code of
// each function in some objects; gdb, which is slow, only about a tenth of the functions.
// Of all symbolizers, listings are looked up as well; else those are asked that are named.
func (c *j9Code) ask(t *testing.T, functions []*j9Function, objects []string, n int, tools ...string) {
	t.Helper()
	asked, frames, listings := 0, 0, 0
	rng := rand.New(rand.NewPCG(1, 2))
	type question struct {
		addrs []uint64
		of    []*j9Function
		want  [][]testrec.Frame
	}
	for _, s := range testrec.Symbolizers(t) {
		if len(tools) > 0 && !slices.Contains(tools, s.Name) {
			continue
		}
		questions := make(map[string]*question)
		for i, f := range functions {
			p, ok := c.places[f]
			if !ok || !slices.Contains(objects, filepath.Base(p.object)) || s.Name == "gdb" && i%10 != 0 {
				continue
			}
			q := questions[p.object]
			if q == nil {
				q = new(question)
				questions[p.object] = q
			}
			insns := c.truth[f]
			for _, k := range rng.Perm(len(insns))[:min(n, len(insns))] {
				for _, o := range []uint32{insns[k].Offset, insns[k].Offset + insns[k].Length - 1} {
					q.addrs, q.of, q.want = append(q.addrs, p.addr+uint64(o)), append(q.of, f), append(q.want, insns[k].Stack)
				}
			}
		}
		bad := 0
		for object, q := range questions {
			for i, got := range s.Stacks(t, object, q.addrs) {
				asked++
				frames += len(got)
				if !sameStack(got, q.want[i]) {
					if bad++; bad <= 3 {
						t.Errorf("%s, %s, %q: %#x is\n%v, want\n%v", s.Name, filepath.Base(object), q.of[i].shape, q.addrs[i], got, q.want[i])
					}
					continue
				}
				for _, g := range got {
					if len(tools) == 0 && strings.HasSuffix(g.File, ".bytecode") && i%50 == 0 {
						listings++
						checkListing(t, g)
					}
				}
			}
		}
		if bad > 0 {
			t.Errorf("%s: %d of %d addresses are wrong", s.Name, bad, asked)
		}
	}
	t.Logf("%d objects, %d addresses, %d frames, %d of them looked up in listings", len(objects), asked, frames, listings)
	if frames < 2*asked || asked < 150 || len(tools) == 0 && listings == 0 {
		t.Error("too few")
	}
}

// checkListing looks up a frame in the listing that stands for its source.
func checkListing(t *testing.T, f testrec.Frame) {
	t.Helper()
	t.Helper()
	if f.Line == 1 {
		return // what is known of no byte code is shown there, too
	}
	b, err := os.ReadFile(f.File)
	if err != nil {
		t.Error(err)
		return
	}
	lines := strings.Split(string(b), "\n")
	if int(f.Line) > len(lines) || !strings.HasPrefix(lines[f.Line-1], fmt.Sprintf("%5d:", f.Line-1)) {
		t.Errorf("line %d of %s does not name the frequency byte code", f.Line, f.File)
	}
}
