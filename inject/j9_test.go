package inject_test

import (
	"bytes"
	"debug/elf"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/inject"
	"github.com/jitinject/jitinject/internal/testrec"
	"github.com/jitinject/jitinject/jitdump"
)

// Metadata of OpenJ9, from the dump to what people see: what the stack maps say of
// code, found by package j9meta alone, is what all tools show of it.

// j9Code is what is known of the functions of a dump with metadata.
type j9Code struct {
	byName map[string][]*j9Function // the two parts of a body have one name
	truth  map[*j9Function][]testrec.ToyInsn
	names  map[string]bool // of all functions in it, also those that were inlined
	places map[*j9Function]j9Place
}

// A j9Place is where a function is in an object.
type j9Place struct {
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
		t.Fatal(paths, err)
	}
	c.places = make(map[*j9Function]j9Place)
	for _, path := range paths {
		names = append(names, filepath.Base(path))
		o, err := elf.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		symbols, err := o.Symbols()
		o.Close()
		if err != nil {
			t.Fatal(path, err)
		}
		for _, s := range symbols {
			for _, f := range c.byName[s.Name] {
				if s.Size == f.load.CodeSize {
					c.places[f] = j9Place{path, s.Value}
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
func (c *j9Code) ask(t *testing.T, functions []*j9Function, objects []string, n int) {
	t.Helper()
	asked, frames, listings := 0, 0, 0
	rng := rand.New(rand.NewPCG(1, 2))
	type question struct {
		addrs []uint64
		of    []*j9Function
		want  [][]testrec.Frame
	}
	for _, s := range testrec.Symbolizers(t) {
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
					if strings.HasSuffix(g.File, ".bytecode") && i%50 == 0 {
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
	if frames < 2*asked || asked < 150 || listings == 0 {
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
		t.Errorf("line %d of %s says nothing of that byte code", f.Line, f.File)
	}
}

func TestJ9Inlines(t *testing.T) {
	for _, c := range []struct {
		recording    string
		every        int // see j9Options
		cold, bundle bool
		pieces       int // of code, of each function, that symbolizers are asked about
	}{
		{"node-dwarf", 4, true, false, 20},
		{"node-dwarf", 4, true, true, 3},
		// perf 6.1 prints addresses in objects, which say nothing where two parts are in
		// objects of their own.
		{"toyjit-dwarf", 1, false, false, 20},
		{"toyjit-dwarf", 1, true, true, 20},
	} {
		t.Run(fmt.Sprintf("%s, bundle %v", c.recording, c.bundle), func(t *testing.T) {
			dir := testrec.Place(t, c.recording)
			// perf 6.12 takes a byte beyond ASCII for the end of what addr2line answers, and
			// then answers for those to other questions.
			functions := makeJ9(t, dir, j9Options{every: c.every, cold: c.cold, ascii: c.every == 1})
			code := newJ9Code(functions)
			o := inject.Options{Input: filepath.Join(dir, "perf.data"), Output: filepath.Join(dir, "out.data"), Objects: filepath.Join(dir, "objects"),
				Sources: filepath.Join(dir, "sources"), Bundle: c.bundle, DWARF: 5}
			if c.bundle {
				o.DWARF = 4
			}
			sum, err := inject.Run(t.Context(), o)
			if err != nil || !sum.Complete() || len(sum.Problems) > 0 || len(sum.Dumps[0].Repairs) > 0 {
				t.Fatalf("%+v, %v", sum, err)
			}
			names := code.find(t, o.Objects)
			if len(code.places) != len(functions) {
				t.Errorf("%d of %d functions are in objects", len(code.places), len(functions))
			}
			names = some(names, 20)
			code.ask(t, functions, names, c.pieces)
			verifyObjects(t, o.Objects, names)
			lintObjects(t, o.Objects, testrec.Tool(t, "eu-elflint"), names)
			if c.every > 1 {
				return // perf takes long for what else is in such a recording
			}
			for version, perf := range testrec.Perfs(t) {
				shown := checkPerfInlines(t, dir, perf, o.Output, code)
				t.Logf("perf %s shows %d inlined functions", version, shown)
				if shown == 0 {
					t.Errorf("perf %s shows no inlined functions", version)
				}
			}
		})
	}
}

// j9Damage are ways to spoil a record, or the body in it.
var j9Damage = []struct {
	name string
	do   func(f *j9Function) jitdump.Record
	told string // of the problem that it is; "" if it is none
}{
	{"whole", func(f *j9Function) jitdump.Record { return &f.record }, ""},
	{"cut", func(f *j9Function) jitdump.Record {
		f.record.Metadata = f.record.Metadata[:len(f.record.Metadata)/2]
		return &f.record
	}, "J9JITExceptionTable: size"},
	{"empty", func(f *j9Function) jitdump.Record { f.record.Metadata = nil; return &f.record }, "className"},
	{"noise", func(f *j9Function) jitdump.Record {
		for i := range f.record.Metadata {
			f.record.Metadata[i] = byte(i*i) ^ byte(i>>3)
		}
		return &f.record
	}, "J9JITExceptionTable"},
	{"elsewhere", func(f *j9Function) jitdump.Record { f.record.Base += 0x10000; return &f.record }, "is outside the"},
	{"other code", func(f *j9Function) jitdump.Record { f.record.Metadata[5*8+1] ^= 1; return &f.record }, "startPC"},
	{"32 bit", func(f *j9Function) jitdump.Record {
		f.record.PointerSize, f.record.HeaderSize = 4, 0
		return &f.record
	}, "J9JITExceptionTable"},
	{"circle", func(f *j9Function) jitdump.Record {
		for i := range f.body.Sites {
			f.body.Sites[i].Info.CallerIndex = len(f.body.Sites) - 1
		}
		return f.again()
	}, "leads back to it"},
	{"no site", func(f *j9Function) jitdump.Record {
		for i := range f.body.Atlas.Maps {
			f.body.Atlas.Maps[i].Info.CallerIndex = 4000
		}
		return f.again()
	}, "callerIndex"},
	{"no load", func(f *j9Function) jitdump.Record { f.record.CodeAddr++; return &f.record }, ""},
	{"somebody else's", func(f *j9Function) jitdump.Record {
		return &jitdump.Unknown{ID: jitdump.IDOpenJ9, Body: []byte("no metadata of anything")}
	}, ""},
	{"too short", func(f *j9Function) jitdump.Record {
		return &jitdump.Unknown{ID: jitdump.IDOpenJ9, Body: []byte("DM9J\x01\x00\x00\x00")}
	}, "code_addr"},
}

// again encodes the body that was changed.
func (f *j9Function) again() jitdump.Record {
	blob, err := f.body.Encode()
	if err != nil {
		panic(err)
	}
	f.record.Metadata = blob
	return &f.record
}

// Metadata that is not to be believed costs lines and inlined calls, and nothing else.
func TestJ9Damage(t *testing.T) {
	dir := testrec.Place(t, "toyjit-dwarf")
	damage := make(map[string]string) // by function
	functions := makeJ9(t, dir, j9Options{every: 1, spoil: func(i int, f *j9Function) jitdump.Record {
		d := j9Damage[i%len(j9Damage)]
		damage[string(f.load.Name)] = d.name
		return d.do(f)
	}})
	objects := filepath.Join(dir, "objects")
	sum, err := inject.Run(t.Context(), inject.Options{Input: filepath.Join(dir, "perf.data"), Output: filepath.Join(dir, "out.data"), Objects: objects})
	if err != nil || sum.Dumps[0].Functions != 13 || sum.Samples.Resolved != 101 || len(functions) < len(j9Damage) {
		t.Fatalf("%d functions, %+v, %v", len(functions), sum, err)
	}
	problems := 0
	for _, d := range j9Damage {
		if d.told == "" {
			continue
		}
		problems++
		if !slices.ContainsFunc(sum.Problems, func(p inject.Problem) bool { return strings.Contains(p.Text, d.told) && p.Offset > 0 }) {
			t.Errorf("%s: no problem is told of %q: %v", d.name, d.told, sum.Problems)
		}
	}
	if len(sum.Problems) != problems {
		t.Errorf("%d problems, expected %d", len(sum.Problems), problems)
	}
	code := newJ9Code(functions)
	code.find(t, objects)
	llvm := testrec.Symbolizers(t)[2]
	for _, f := range functions {
		p, ok := code.places[f]
		damage := damage[string(f.load.Name)]
		if !ok {
			t.Errorf("%s: %s is in no object", damage, f.load.Name)
			continue
		}
		o, err := elf.Open(p.object)
		if err != nil {
			t.Fatal(err)
		}
		text, err := o.Section(".text").Data()
		o.Close()
		if err != nil || !bytes.Equal(text, f.load.Code) {
			t.Errorf("%s: the code is another: %v", damage, err)
		}
		addrs := []uint64{p.addr, p.addr + f.load.CodeSize/2, p.addr + f.load.CodeSize - 1}
		for i, got := range llvm.Stacks(t, p.object, addrs) {
			right := len(got) == 1 && got[0].Function == string(f.load.Name)
			if damage == "whole" {
				right = sameStack(got, code.stack(string(f.load.Name), addrs[i]))
			}
			if !right {
				t.Errorf("%s: %#x of %s is %v", damage, addrs[i], f.load.Name, got)
			}
		}
	}
}
