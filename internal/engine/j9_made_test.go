package engine_test

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/internal/format/j9meta"
	"github.com/jitinject/jitinject/internal/format/j9meta/j9gen"
	"github.com/jitinject/jitinject/internal/testrec"
	"github.com/jitinject/jitinject/jitdump"
)

// A dump of OpenJ9 as there is none here: the code of another runtime's recording,
// so that there are samples of it, with metadata that is made up about it.

// A j9Shape is what a function of the dump is made into.
type j9Shape struct {
	name    string
	options j9gen.Options
	edit    func(b *j9meta.Body) // before it is laid out again
	tables  func(m []jitdump.JavaMethod) []jitdump.JavaMethod
	plain   bool // it stays as it is
}

var j9Shapes = []j9Shape{
	{name: "any"},
	{name: "deep", options: j9gen.Options{Sites: 40}},
	{name: "unloaded", options: j9gen.Options{Sites: 12, Unloaded: j9gen.Always}},
	{name: "ahead of time", options: j9gen.Options{Sites: 6}, edit: func(b *j9meta.Body) {
		for i := range b.Sites {
			b.Sites[i].Method = 1<<(8*b.Layout.PointerSize) - 1
		}
	}},
	{name: "native", options: j9gen.Options{Native: j9gen.Always}},
	{name: "other runtime's", plain: true},
	{name: "no entry map", options: j9gen.Options{Sites: 5, Maps: 7}, edit: func(b *j9meta.Body) {
		b.Atlas.Maps = b.Atlas.Maps[1:]
		b.Atlas.Maps[0].Low = max(b.Atlas.Maps[0].Low, 3)
	}},
	{name: "no tables", options: j9gen.Options{Sites: 8}, tables: func([]jitdump.JavaMethod) []jitdump.JavaMethod { return nil }},
	{name: "few tables", options: j9gen.Options{Sites: 8}, tables: func(m []jitdump.JavaMethod) []jitdump.JavaMethod { return m[:(len(m)+1)/2] }},
	{name: "no lines", options: j9gen.Options{Sites: 8}, tables: func(m []jitdump.JavaMethod) []jitdump.JavaMethod {
		for i := range m {
			m[i].Lines = nil
		}
		return m
	}},
}

// A j9Function is a load of the dump that has metadata.
type j9Function struct {
	load    jitdump.Load
	shape   string
	record  jitdump.OpenJ9Metadata
	body    *j9meta.Body
	methods []jitdump.JavaMethod
}

// j9Options say how a dump is to be made.
type j9Options struct {
	every int  // of as many functions one is left
	cold  bool // some bodies are two functions of the dump
	ascii bool // there are no other names
	// layout is that of another machine than x86-64, whose dump it then is.
	layout j9meta.Layout
	spoil  func(i int, f *j9Function) jitdump.Record
}

// makeJ9 replaces the dump in dir by one with metadata, and returns the functions that
// have some. Records are spoiled before they are written.
func makeJ9(t *testing.T, dir string, o j9Options) (functions []*j9Function) {
	t.Helper()
	if o.layout.Machine == elf.EM_NONE {
		o.layout = j9meta.Layout{Order: binary.LittleEndian, PointerSize: 8, Machine: elf.EM_X86_64}
	}
	path := testrec.Dumps(t, dir)[0]
	r, err := jitdump.NewReader(bytes.NewReader(read(t, path)))
	if err != nil {
		t.Fatal(err)
	}
	type record struct {
		time uint64
		rec  jitdump.Record
	}
	var records []record
	var loads []int // indexes of records
	n := 0
	for raw, err := r.Next(); err == nil; raw, err = r.Next() {
		raw.Body = slices.Clone(raw.Body)
		rec, err := raw.Decode()
		if err != nil {
			t.Fatal(err)
		}
		switch rec := rec.(type) {
		case *jitdump.Load:
			if n++; n%o.every != 0 {
				continue
			}
			if o.layout.PointerSize == 4 {
				rec.CodeAddr, rec.VMA = uint64(uint32(rec.CodeAddr)), uint64(uint32(rec.VMA))
			}
			loads = append(loads, len(records))
		case *jitdump.Unwinding:
			if (n+1)%o.every != 0 {
				continue
			}
		default:
			continue // what the other runtime knows of lines
		}
		records = append(records, record{raw.Timestamp, rec})
	}
	made := make(map[int]*j9Function)
	rng := rand.New(rand.NewPCG(13, 9))
	for i, at := range loads {
		load := records[at].rec.(*jitdump.Load)
		shape := j9Shapes[i%len(j9Shapes)]
		if made[at] != nil || shape.plain || load.CodeSize < 16 {
			continue
		}
		body := shape.options
		body.Layout = o.layout
		body.StartPC, body.CodeSize = load.CodeAddr, uint32(load.CodeSize)
		// The next function behind it that is near may be its cold part.
		body.Cold = j9gen.Never
		coldPart := 0
		if o.cold && i%2 == 0 {
			for _, next := range loads[i+1 : min(i+40, len(loads))] {
				l := records[next].rec.(*jitdump.Load)
				if gap := l.CodeAddr - load.CodeAddr - load.CodeSize; made[next] == nil && l.CodeSize >= 16 && l.CodeSize != load.CodeSize && l.CodeAddr > load.CodeAddr && gap < 1<<20 {
					body.Cold, body.ColdPC, body.ColdSize, coldPart = j9gen.Always, l.CodeAddr, uint32(l.CodeSize), next
					break
				}
			}
		}
		f := &j9Function{load: *load, shape: shape.name, body: j9gen.Random(rng, body)}
		if shape.edit != nil {
			shape.edit(f.body)
			j9gen.Lay(f.body)
		}
		blob, err := j9gen.Encode(f.body)
		if err != nil {
			t.Fatal(err)
		}
		f.methods = j9Tables(rng, f.body, i, o.ascii)
		load.Name = []byte(j9Name(&f.methods[0]))
		if shape.tables != nil {
			f.methods = shape.tables(f.methods)
		}
		f.record = jitdump.OpenJ9Metadata{CodeAddr: load.CodeAddr, Base: f.body.Base, PointerSize: uint16(o.layout.PointerSize), HeaderSize: uint16(f.body.Layout.HeaderSize), Metadata: blob, Methods: f.methods}
		if i%3 == 0 {
			f.record.HeaderSize = 0
		}
		f.load.Name = load.Name
		made[at] = f
		functions = append(functions, f)
		if coldPart != 0 {
			part := *f
			l := records[coldPart].rec.(*jitdump.Load)
			l.Name = load.Name
			part.load, part.record.CodeAddr = *l, l.CodeAddr
			made[coldPart] = &part
			functions = append(functions, &part)
		}
	}
	var out bytes.Buffer
	header := *r.Header()
	header.Order, header.Machine = o.layout.Order, uint32(o.layout.Machine)
	w, err := jitdump.NewWriter(&out, &header)
	if err != nil {
		t.Fatal(err)
	}
	for i, rec := range records {
		if f := made[i]; f != nil {
			var metadata jitdump.Record = &f.record
			if o.spoil != nil {
				metadata = o.spoil(slices.Index(functions, f), f)
			}
			if err := w.Write(rec.time, metadata); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Write(rec.time, rec.rec); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(path, out.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return functions
}

// j9Tables makes the tables of the n-th body. Names of outer methods are unique.
func j9Tables(rng *rand.Rand, b *j9meta.Body, n int, ascii bool) (list []jitdump.JavaMethod) {
	plain := strings.NewReplacer("ä", "ae", "ö", "oe", "ß", "ss")
	for i, m := range j9gen.Methods(rng, b) {
		if ascii {
			m.Class, m.Name, m.File = plain.Replace(m.Class), plain.Replace(m.Name), plain.Replace(m.File)
		}
		if i == 0 {
			m.Name = fmt.Sprintf("outer%d", n)
		}
		j := jitdump.JavaMethod{Method: uint64(m.Method), Class: []byte(m.Class), Name: []byte(m.Name), Signature: []byte(m.Signature)}
		if m.File != "" {
			j.File = []byte(m.Class[:strings.LastIndexByte(m.Class, '/')+1] + m.File)
		}
		for _, l := range m.Lines {
			j.Lines = append(j.Lines, jitdump.JavaLine{ByteCodeIndex: l[0], Line: l[1]})
		}
		list = append(list, j)
	}
	return list
}

// j9Name is a method's name as the agent writes it.
func j9Name(m *jitdump.JavaMethod) string {
	return strings.ReplaceAll(string(m.Class), "/", ".") + "." + string(m.Name) + string(m.Signature)
}

// truth says what the metadata says of each byte of the function's code, in the form
// that the toy JIT's truth has.
func (f *j9Function) truth() (insns []testrec.ToyInsn) {
	first := uint32(f.load.CodeAddr - f.body.Header.StartPC)
	was, ranges := -2, f.body.Ranges()
	for o := range uint32(f.load.CodeSize) {
		at := -1
		i := slices.IndexFunc(ranges, func(r j9meta.Range) bool { return first+o >= r.Start && first+o < r.End })
		if i >= 0 {
			at = ranges[i].Map
		}
		if at == was {
			insns[len(insns)-1].Length++
			continue
		}
		was = at
		stack := []testrec.Frame{f.frame(j9meta.Frame{Site: -1, Method: f.body.Header.RAMMethod, ByteCodeIndex: -1})}
		if i >= 0 {
			stack = stack[:0]
			for _, frame := range f.body.Stack(nil, ranges[i].Info) {
				stack = append(stack, f.frame(frame))
			}
		}
		insns = append(insns, testrec.ToyInsn{Offset: o, Length: 1, Stack: stack})
	}
	return insns
}

// frame is a frame as tools are to show it. A method without lines has a listing of its
// byte codes instead.
func (f *j9Function) frame(at j9meta.Frame) testrec.Frame {
	listed := func(name string) testrec.Frame {
		return testrec.Frame{Function: name, File: strings.ReplaceAll(name, "/", ".") + ".bytecode", Line: uint32(max(at.ByteCodeIndex, 0) + 1)}
	}
	if at.Unloaded {
		return listed("[unloaded]")
	}
	for i := range f.methods {
		m := &f.methods[i]
		switch {
		case m.Method != at.Method:
			continue
		case len(m.Lines) == 0:
			return listed(j9Name(m))
		}
		frame := testrec.Frame{Function: j9Name(m), File: string(m.File), Line: m.Lines[0].Line}
		if frame.File == "" {
			frame.File = string(m.Class) + ".class"
		}
		for _, l := range m.Lines {
			if int64(l.ByteCodeIndex) <= int64(at.ByteCodeIndex) {
				frame.Line = l.Line
			}
		}
		return frame
	}
	if at.Site < 0 {
		return listed(string(f.load.Name))
	}
	return listed(fmt.Sprintf("[method %#x]", at.Method))
}
