package jitdump_test

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/internal/source"
	"github.com/jitinject/jitinject/internal/testrec"
	"github.com/jitinject/jitinject/jitdump"
)

// An objectFrame is an FDE of an object file, with the instructions of its CIE.
type objectFrame struct {
	size            uint64
	common, program []byte
}

// objectFrames returns the FDEs of an x86-64 object file by the functions they are about.
// Their places are relocations; the rest needs none. Padding is left out.
func objectFrames(t *testing.T, path string) map[string]objectFrame {
	t.Helper()
	f, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	data, err := f.Section(".eh_frame").Data()
	if err != nil {
		t.Fatal(err)
	}
	rela, err := f.Section(".rela.eh_frame").Data()
	if err != nil {
		t.Fatal(err)
	}
	symbols, err := f.Symbols()
	if err != nil {
		t.Fatal(err)
	}
	le := binary.LittleEndian
	about := make(map[uint64]uint64) // offsets in .text by places of relocations
	for ; len(rela) > 0; rela = rela[24:] {
		about[le.Uint64(rela)] = le.Uint64(rela[16:])
	}
	names := make(map[uint64]string)
	for _, s := range symbols {
		if elf.ST_TYPE(s.Info) == elf.STT_FUNC {
			names[s.Value] = s.Name
		}
	}
	frames := make(map[string]objectFrame)
	common := make(map[int][]byte)
	for at := 0; at < len(data); {
		body := data[at+4 : at+4+int(le.Uint32(data[at:]))]
		if id := int(le.Uint32(body)); id == 0 {
			common[at] = bytes.TrimRight(body[4+1+3+4+1:], "\x00") // version, "zR", factors, register, and the encoding with its length
		} else {
			frames[names[about[uint64(at+8)]]] = objectFrame{uint64(le.Uint32(body[8:])), common[at+4-id], bytes.TrimRight(body[13:], "\x00")}
		}
		at += 4 + len(body)
	}
	return frames
}

// LLVM's ORC writes one unwinding record for each object file: every function gets what
// the compiler wrote for it, and its lines.
func TestUnwindBatch_ORC(t *testing.T) {
	dir := testrec.Unpack(t, "llvm-orc")
	want := make(map[string]objectFrame)
	objects, err := filepath.Glob(filepath.Join(dir, "*.o"))
	if err != nil || len(objects) != 5 {
		t.Fatalf("objects %v, %v", objects, err)
	}
	for _, path := range objects {
		for name, f := range objectFrames(t, path) {
			want[name] = f
		}
	}
	d := scanReal(t, "llvm-orc", "jit-22347.dump")
	r := d.Reader()
	for i := range d.NumFunctions() {
		fn, err := r.Function(i)
		if err != nil {
			t.Fatal(err)
		}
		w := want[string(fn.Name)]
		table := fn.Unwind.Sent
		if len(table.FDEs) != 1 || len(table.CIEs) != 1 {
			t.Errorf("%s: %d FDEs, %d CIEs; want 1 of each", fn.Name, len(table.FDEs), len(table.CIEs))
			continue
		}
		got := objectFrame{table.FDEs[0].Size, table.CIEs[0].Instructions, table.FDEs[0].Instructions}
		if table.FDEs[0].Offset != 0 || fmt.Sprint(got) != fmt.Sprint(w) {
			t.Errorf("%s: FDE at %#x: %v, want %v", fn.Name, table.FDEs[0].Offset, got, w)
		}
		// mod3.c was compiled without -g.
		if plain := string(fn.Name) == "f3" || string(fn.Name) == "work3"; plain != (len(fn.Lines) == 0) {
			t.Errorf("%s has %d lines", fn.Name, len(fn.Lines))
		}
		if len(fn.Lines) > 0 && fn.Lines[0].Offset != 0 {
			t.Errorf("%s: the first line is at %#x, want 0", fn.Name, fn.Lines[0].Offset)
		}
	}
	if n := d.NumFunctions(); n != 14 {
		t.Errorf("%d functions, want 14", n)
	}
	if all := d.Fixes(); all[len(all)-1].Name != "unknown-flags" {
		t.Errorf("repairs %+v; want unknown-flags last", all)
	}
	if r := fixes(d); r[source.DisplacedTables] != 14 || r["skewed-lines"] != 12 || r["unusable-unwind-tables"] != 0 {
		t.Errorf("repairs %v", r)
	}
}

// batchHeader is an .eh_frame_hdr as ORC writes it.
func batchHeader(frames uint64) []byte {
	return binary.LittleEndian.AppendUint64([]byte{1, 0x0c, 0xff, 0xff}, frames)
}

// batchFDE is an FDE at an offset of .eh_frame, whose CIE is at 0, for size bytes at from.
func batchFDE(frames uint64, at uint32, from uint64, size uint32) []byte {
	le := binary.LittleEndian
	b := le.AppendUint32(nil, 20)
	b = le.AppendUint32(b, at+4)
	b = le.AppendUint32(b, uint32(from-frames-uint64(at)-8))
	b = le.AppendUint32(b, size)
	return append(b, 0, 0x44, 0x0e, 16, 0, 0, 0, 0)
}

// The header says where FDEs belong; the order of records, other functions and what else
// there is in between do not matter.
func TestUnwindBatch_Pairing(t *testing.T) {
	const at = 0x9000
	code := bytes.Repeat([]byte{0x90}, 16)
	tables := func(fdes ...uint64) []byte {
		data := append(batchHeader(at), frameCIE...)
		for i, from := range fdes {
			data = append(data, batchFDE(at, uint32(len(frameCIE)+24*i), from, 16)...)
		}
		return data
	}
	unwinding := func(data []byte) *jitdump.Unwinding { return &jitdump.Unwinding{HeaderSize: 12, Data: data} }
	lines := func(addr uint64) jitdump.Record {
		return jitdump.NewDebugInfo(binary.LittleEndian, addr, []jitdump.DebugEntry{{Addr: addr, Line: 1, Name: []byte("a.c")}})
	}
	for _, c := range []struct {
		name    string
		build   func(b *dumpBuilder)
		with    []string // functions that have tables
		problem string
	}{
		{"one for three", func(b *dumpBuilder) {
			b.add(unwinding(tables(0x1000, 0x2000, 0x3000)))
			b.add(lines(0x2000))
			b.add(lines(0x1000))
			b.code("c", 0x3000, code)
			b.code("a", 0x1000, code)
			b.code("b", 0x2000, code)
		}, []string{"a", "b", "c"}, ""},
		{"a function without", func(b *dumpBuilder) {
			b.add(unwinding(tables(0x1000)))
			b.code("naked", 0x2000, code)
			b.code("a", 0x1000, code)
		}, []string{"a"}, ""},
		{"two batches", func(b *dumpBuilder) {
			b.add(unwinding(tables(0x1000)))
			b.code("a", 0x1000, code)
			b.add(unwinding(tables(0x2000)))
			b.code("b", 0x2000, code)
		}, []string{"a", "b"}, ""},
		{"a later batch at the same place, without", func(b *dumpBuilder) {
			b.add(unwinding(tables(0x1000)))
			b.code("a", 0x1000, code)
			b.add(lines(0x1000))
			b.code("again", 0x1000, code)
		}, []string{"a"}, ""},
		{"an FDE that is larger", func(b *dumpBuilder) {
			b.add(unwinding(append(append(batchHeader(at), frameCIE...), batchFDE(at, 24, 0x1000, 32)...)))
			b.code("part", 0x1000, code)
			b.add(&jitdump.Close{})
		}, nil, "none of its FDEs is about code"},
		{"none of them", func(b *dumpBuilder) {
			b.add(unwinding(tables(0x7000)))
			b.code("a", 0x1000, code)
			b.add(unwinding(tables(0x2000)))
			b.code("b", 0x2000, code)
		}, []string{"b"}, "with .eh_frame at 0x9000"},
	} {
		b := newDump(t, x86)
		c.build(b)
		d := b.scan()
		var with []string
		r := d.Reader()
		for i := range d.NumFunctions() {
			fn, err := r.Function(i)
			if err != nil {
				t.Fatal(err)
			}
			if f := fn.Unwind.Sent.FDEs; len(f) > 0 {
				with = append(with, string(fn.Name))
				if len(f) != 1 || f[0].Offset != 0 || f[0].Size != 16 {
					t.Errorf("%s: %s has %+v", c.name, fn.Name, f)
				}
			}
		}
		if slices.Sort(with); !slices.Equal(with, c.with) {
			t.Errorf("%s: %v have tables, want %v", c.name, with, c.with)
		}
		if problems := fmt.Sprint(append(d.Problems, r.Problems...)); (len(d.Problems)+len(r.Problems) > 0) != (c.problem != "") || !strings.Contains(problems, c.problem) {
			t.Errorf("%s: problems %s, want %q", c.name, problems, c.problem)
		}
	}
}

// What is garbage costs only itself.
func TestUnwindBatch_Damage(t *testing.T) {
	good := slices.Concat(batchHeader(0x9000), frameCIE, batchFDE(0x9000, 24, 0x1000, 16), batchFDE(0x9000, 48, 0x2000, 16))
	code := bytes.Repeat([]byte{0x90}, 16)
	for at := range good {
		for _, v := range []byte{0, 1, 0x7f, 0x80, 0xff} {
			b := newDump(t, x86)
			b.add(&jitdump.Unwinding{HeaderSize: 12, Data: changed(good, at, v)})
			b.code("a", 0x1000, code)
			b.code("b", 0x2000, code)
			b.add(&jitdump.Close{})
			d := b.scan()
			r := d.Reader()
			for i := range 2 {
				fn, err := r.Function(i)
				if err != nil {
					t.Fatalf("byte %d is %#x: %v", at, v, err)
				}
				for _, f := range fn.Unwind.Sent.FDEs {
					if f.Offset >= fn.Size || f.Size > fn.Size-f.Offset {
						t.Errorf("byte %d is %#x: %+v", at, v, f)
					}
				}
			}
		}
	}
}
