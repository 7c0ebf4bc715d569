package checkdump

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/internal/format/j9meta"
	jitdumps "github.com/jitinject/jitinject/internal/runtime/jitdump"
	"github.com/jitinject/jitinject/internal/source"
	"github.com/jitinject/jitinject/internal/testrec"
	"github.com/jitinject/jitinject/internal/verify"
	"github.com/jitinject/jitinject/jitdump"
)

// A verdict is about a record, by its offset in the dump, or about the whole dump, with offset -1.
type verdict struct {
	at   int64
	text string
}

// injectedVerdicts returns what inject drops of a dump, except because of the contents of OpenJ9's metadata. records are the offsets of the dump's records.
func injectedVerdicts(t *testing.T, dump []byte, records []int64) (all []verdict) {
	t.Helper()
	d, err := jitdumps.OpenFile(bytes.NewReader(dump))
	if err != nil {
		return []verdict{{-1, err.Error()}}
	}
	if err := d.Scan(context.Background()); err != nil {
		t.Fatal(err)
	}
	r := d.Reader()
	for i := range d.NumFunctions() {
		if _, err := r.Function(i); err != nil {
			t.Fatal(err)
		}
	}
	metadata := false
	for _, p := range slices.Concat(d.Problems, r.Problems) {
		if strings.HasPrefix(p.Text, j9meta.FormatName) { // names the field: verify does not look there
			metadata = true
			continue
		}
		all = append(all, verdict{recordOf(records, p.Offset), p.Text})
	}
	for _, f := range d.Fixes() {
		if !metadata || f.Name != "broken-inline-trees" {
			all = append(all, verdict{-1, f.Name})
		}
	}
	return all
}

// verifiedVerdicts returns what verify finds wrong with a dump.
func verifiedVerdicts(t *testing.T, dump []byte, records []int64) (all []verdict) {
	t.Helper()
	known := make(map[string]verify.Rule)
	for _, r := range rules {
		known[r.Name] = r
	}
	opts := verify.Options{All: true, Emit: func(d verify.Diagnostic) {
		all = append(all, verdict{recordOf(records, d.Offset), d.Rule + ": " + d.Text})
	}}
	if err := newChecker(verify.NewReporter("x", &opts, known), bytes.NewReader(dump), int64(len(dump))).check(context.Background(), "jit-1.dump"); err != nil {
		t.Fatal(err)
	}
	return all
}

// recordOf returns the start of the record with an offset, or -1 for the header.
func recordOf(records []int64, off int64) int64 {
	i, found := slices.BinarySearch(records, off)
	if !found {
		i--
	}
	if i < 0 {
		return -1
	}
	return records[i]
}

// TestAgreement_ChangedRecords: whatever inject drops of a dump, verify names, at the same record.
// inject refers to verify for the cause.
func TestAgreement_ChangedRecords(t *testing.T) {
	seeds := agreementSeeds(t)
	names := slices.Sorted(maps.Keys(seeds))
	for _, name := range names {
		dump, at := joined(seeds[name])
		for _, v := range injectedVerdicts(t, dump, at) {
			if v.text != source.DisplacedTables {
				t.Errorf("%s: inject: %s", name, v.text)
			}
		}
		for _, v := range verifiedVerdicts(t, dump, at) {
			if !strings.HasPrefix(v.text, "dump/unwind-order") {
				t.Errorf("%s: verify: %s", name, v.text)
			}
		}
	}
	rnd := rand.New(rand.NewPCG(1, 2))
	n, dropped, failed := 6000, 0, 0
	if testing.Short() {
		n = 1000
	}
	for i := range n {
		name := names[i%len(names)]
		dump, at := joined(mutated(rnd, seeds[name]))
		found := verifiedVerdicts(t, dump, at)
		for _, v := range injectedVerdicts(t, dump, at) {
			dropped++
			if !slices.ContainsFunc(found, func(f verdict) bool { return v.at < 0 || f.at == v.at }) {
				t.Errorf("%s, %d: inject says of the record at %#x: %s\nverify finds %+v\n%x", name, i, v.at, v.text, found, dump)
				if failed++; failed == 10 {
					t.FailNow()
				}
			}
		}
	}
	if dropped < n/10 {
		t.Errorf("inject drops something only %d times", dropped)
	}
}

// TestAgreement_AnyByte: if inject drops something of a dump, or refuses it, verify finds something
// wrong with it, whichever byte was changed.
func TestAgreement_AnyByte(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	failed := 0
	seeds := agreementSeeds(t)
	for _, name := range slices.Sorted(maps.Keys(seeds)) {
		whole, _ := joined(seeds[name])
		for range testrec.Rounds(300, 60) {
			dump := bytes.Clone(whole)
			for range 1 + rnd.IntN(2) {
				dump[rnd.IntN(len(dump))] = byte(rnd.Uint32())
			}
			dump = dump[:len(dump)-max(0, rnd.IntN(60)-40)]
			if dropped := injectedVerdicts(t, dump, nil); len(dropped) > 0 && len(verifiedVerdicts(t, dump, nil)) == 0 {
				t.Errorf("%s: inject says %+v\nverify finds nothing\n%x", name, dropped, dump)
				if failed++; failed == 5 {
					t.FailNow()
				}
			}
		}
	}
}

// joined returns the dump of a header and records, and the offsets of the records.
func joined(parts [][]byte) (dump []byte, at []int64) {
	for i, p := range parts {
		if i > 0 {
			at = append(at, int64(len(dump)))
		}
		dump = append(dump, p...)
	}
	return dump, at
}

// mutated returns records with some changes. The sizes of records stay right: what follows a record
// with a wrong size is another matter.
func mutated(rnd *rand.Rand, parts [][]byte) [][]byte {
	parts = slices.Clone(parts)
	for range 1 + rnd.IntN(2) {
		i := 1 + rnd.IntN(len(parts)-1)
		p := bytes.Clone(parts[i])
		order := binary.ByteOrder(binary.LittleEndian)
		if parts[0][0] == 'J' {
			order = binary.BigEndian
		}
		switch kind := rnd.IntN(20); {
		case kind == 0:
			parts = slices.Delete(parts, i, i+1)
			if len(parts) < 2 {
				return parts
			}
			continue
		case kind == 1:
			parts = slices.Insert(parts, i, p)
			continue
		case kind == 2 && i > 1:
			parts[i], parts[i-1] = parts[i-1], parts[i]
			continue
		case kind == 3:
			p = p[:16+rnd.IntN(len(p)-15)]
		case kind == 4:
			p = append(p, make([]byte, 1+rnd.IntN(12))...)
		case kind == 5:
			p = append(p, bytes.Repeat([]byte{7}, 1+rnd.IntN(12))...)
		default:
			n := len(p) - 16
			if order.Uint32(p) == 0 { // two disassemblers may read code that is none in two ways
				n = min(n, 40+2)
			}
			for range 1 + rnd.IntN(2) {
				if n == 0 {
					break
				}
				b := &p[16+rnd.IntN(n)]
				switch rnd.IntN(4) {
				case 0:
					*b = byte(rnd.Uint32())
				case 1:
					*b += []byte{1, 0xff, 4, 0xfc}[rnd.IntN(4)]
				case 2:
					*b ^= 1 << rnd.IntN(8)
				default:
					*b = []byte{0, 1, 0x7f, 0x80, 0xff}[rnd.IntN(5)]
				}
			}
		}
		order.PutUint32(p[4:], uint32(len(p)))
		parts[i] = p
	}
	return parts
}

// agreementSeeds returns dumps without faults, in parts: the header and the records.
func agreementSeeds(t *testing.T) map[string][][]byte {
	seeds := make(map[string][][]byte)
	for _, order := range []binary.ByteOrder{binary.LittleEndian, binary.BigEndian} {
		for _, machine := range []uint32{62, 183, 3} {
			if order == binary.BigEndian && machine != 183 {
				continue
			}
			for name, records := range map[string][]jitdump.Record{
				"tables":                    {tablesRecord(order, machine, 0x1000), loadRecord(1, 0x1000, "f"), tablesRecord(order, machine, 0x2000), loadRecord(2, 0x2000, "g")},
				"tables after their header": {tablesFirst(order, machine, 0x1000, 0), loadRecord(1, 0x1000, "f"), tablesFirst(order, machine, 0x2000, 0), loadRecord(2, 0x2000, "g")},
				"tables at an address":      {tablesFirst(order, machine, 0x1000, 0x9000), loadRecord(1, 0x1000, "f"), tablesFirst(order, machine, 0x2000, 0x9000), linesRecord(order, 0x2000), loadRecord(2, 0x2000, "g")},
				"metadata":                  {metadataRecord(t), &jitdump.Load{PID: 1, TID: 1, VMA: metadataCode, CodeAddr: metadataCode, Name: []byte("a.B.f(I)V"), Code: bytes.Repeat([]byte{0x90}, 0x400)}, loadRecord(2, 0x2000, "g")},
				"tree":                      {treeRecord(t, "f"), loadRecord(1, 0x1000, "f"), loadRecord(2, 0x2000, "g")},
				"lines":                     {linesRecord(order, 0x1000), loadRecord(1, 0x1000, "f"), linesRecord(order, 0x2000), loadRecord(2, 0x2000, "g")},
				"moves":                     {loadRecord(1, 0x1000, "f"), moveRecord(1, 0x1000, 0x3000), loadRecord(2, 0x2000, "g"), moveRecord(1, 0x3000, 0x1000), &jitdump.Close{}},
				"texts":                     {&jitdump.Tier{Number: 1, Name: []byte("base")}, jitdump.NewEmbeddedSource("a.c", []byte("text")), linesRecord(order, 0x1000), loadRecord(1, 0x1000, "f")},
				"all":                       {tablesRecord(order, machine, 0x1000), treeRecord(t, "f"), linesRecord(order, 0x1000), loadRecord(1, 0x1000, "f"), treeRecord(t, "g"), linesRecord(order, 0x2000), tablesRecord(order, machine, 0x2000), loadRecord(2, 0x2000, "g"), moveRecord(2, 0x2000, 0x4000)},
			} {
				if name == "metadata" && machine != 62 {
					continue
				}
				var b bytes.Buffer
				w, err := jitdump.NewWriter(&b, &jitdump.Header{Order: order, Version: 1, Machine: machine, PID: 1, Timestamp: 1})
				if err != nil {
					t.Fatal(err)
				}
				parts := [][]byte{bytes.Clone(b.Bytes())}
				for i, r := range records {
					b.Reset()
					if err := w.Write(uint64(1000+i), r); err != nil {
						t.Fatal(err)
					}
					parts = append(parts, bytes.Clone(b.Bytes()))
				}
				seeds[fmt.Sprintf("%s of machine %d, %v", name, machine, order)] = parts
			}
		}
	}
	return seeds
}

// seedCode is the size of the functions of the seeds, in bytes.
const seedCode = 64

// loadRecord has code that fits the tables of tablesAt, on x86-64: push rbp, mov rbp, rsp, nop, and
// ret before byte 32.
func loadRecord(index, addr uint64, name string) jitdump.Record {
	code := append([]byte{0x55, 0x48, 0x89, 0xe5}, bytes.Repeat([]byte{0x90}, seedCode-4)...)
	code[31] = 0xc3
	return &jitdump.Load{PID: 1, TID: 1, VMA: addr, CodeAddr: addr, CodeIndex: index, Name: []byte(name), Code: code}
}

func moveRecord(index, from, to uint64) jitdump.Record {
	return &jitdump.Move{PID: 1, TID: 1, VMA: to, OldCodeAddr: from, NewCodeAddr: to, CodeSize: seedCode, CodeIndex: index}
}

func linesRecord(order binary.ByteOrder, addr uint64) jitdump.Record {
	return jitdump.NewDebugInfo(order, addr, []jitdump.DebugEntry{
		{Addr: addr, Line: 3, Name: []byte("a.c")}, {Addr: addr + 8, Line: 4, Discrim: 1, Name: []byte("\xff")}, {Addr: addr + 32, Line: 5, Name: []byte("b.c")},
	})
}

func treeRecord(t *testing.T, name string) jitdump.Record {
	var b jitdump.InlineBuilder
	b.Function(name, "a.c", 1, 0, 0)
	middle := b.Inline(jitdump.Outer, b.Function("middle", "a.c", 10, 3, 0), 3, 4)
	inner := b.Inline(middle, b.Function("inner", "b.c", 20, 1, 0), 11, 5)
	b.At(0, jitdump.Outer, 2, 0)
	b.At(8, middle, 11, 4)
	b.At(12, inner, 21, 1)
	b.At(16, middle, 12, 0)
	b.At(32, jitdump.Outer, 4, 0)
	r, err := b.Record(seedCode)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// metadataCode is the address of the code that metadataRecord is about.
const metadataCode = 0x7f8800001020

// metadataRecord has OpenJ9's metadata.
func metadataRecord(t *testing.T) jitdump.Record {
	b, err := os.ReadFile("../../format/j9meta/testdata/epoch-232.bin")
	if err != nil {
		t.Fatal(err)
	}
	return &jitdump.OpenJ9Metadata{CodeAddr: metadataCode, Base: 0x7e0000000000, PointerSize: 8, Metadata: b, Methods: []jitdump.JavaMethod{
		{Method: 0x500000, Class: []byte("a/B"), Name: []byte("f"), Signature: []byte("(I)V"), File: []byte("a/B.java"), Lines: []jitdump.JavaLine{{Line: 3}, {ByteCodeIndex: 4, Line: 5}}},
	}}
}

// tablesRecord has tables at the place where perf expects them, as V8 writes them.
func tablesRecord(order binary.ByteOrder, machine uint32, addr uint64) *jitdump.Unwinding {
	return tablesAt(order, machine, addr, (addr+seedCode+7)&^7)
}

// tablesFirst has the header in front of the tables, with their absolute address unless it is 0, as
// LLVM's ORC writes them.
func tablesFirst(order binary.ByteOrder, machine uint32, addr, at uint64) *jitdump.Unwinding {
	u := tablesRecord(order, machine, addr)
	if at != 0 {
		u = tablesAt(order, machine, addr, at)
	}
	frames, header := u.Data[:len(u.Data)-int(u.HeaderSize)], u.Data[len(u.Data)-int(u.HeaderSize):]
	if at != 0 {
		header = []byte{1, 0x0c, 0xff, 0xff}
		if machine == 3 {
			header, _ = binary.Append([]byte{1, 0x0b, 0xff, 0xff}, order, uint32(at))
		} else {
			header, _ = binary.Append(header, order, at)
		}
	}
	return &jitdump.Unwinding{HeaderSize: uint64(len(header)), Data: append(bytes.Clone(header), frames...)}
}

// tablesAt has an .eh_frame of two CIEs and two FDEs with most kinds of instructions.
func tablesAt(order binary.ByteOrder, machine uint32, addr, at uint64) *jitdump.Unwinding {
	sp, ra := map[uint32]byte{62: 7, 3: 4, 183: 31}[machine], map[uint32]byte{62: 16, 3: 8, 183: 30}[machine]
	u32 := func(b []byte, v uint32) []byte {
		b, _ = binary.Append(b, order, v)
		return b
	}
	var frames []byte
	entry := func(body ...byte) {
		body = append(body, make([]byte, -len(body)&3)...)
		frames = append(u32(frames, uint32(len(body))), body...)
	}
	var places []uint32
	fde := func(cie int, from, size uint64, instructions ...byte) {
		places = append(places, uint32(len(frames)))
		body := u32(nil, uint32(len(frames)+4-cie))
		body = u32(body, uint32(addr+from-at-uint64(len(frames)+8)))
		body = u32(body, uint32(size))
		entry(append(append(body, 0), instructions...)...)
	}
	entry(append([]byte{0, 0, 0, 0, 1, 'z', 'R', 0, 1, 0x78, ra, 1, 0x1b}, 0x0c, sp, 8, 0x80|ra, 1)...)
	second := len(frames)
	entry(append([]byte{0, 0, 0, 0, 3, 'z', 'P', 'L', 'R', 'S', 'B', 0, 1, 0x78, ra, 7, 0x03, 1, 2, 3, 4, 0x1b, 0x1b}, 0x12, sp, 0x7f, 0x11, ra, 1, 0x0a)...)
	fde(0, 0, 32, 0x41, 0x0e, 16, 0x86, 2, 0x43, 0x0d, 6, 0x0a, 0x02, 8, 0x2e, 4, 0x0f, 3, 0x77, 8, 0x06, 0x41, 0x0b, 0xc6)
	fde(second, 32, 32, 0x05, 3, 1, 0x07, 2, 0x08, 1, 0x09, 1, 2, 0x10, 3, 2, 0x70, 0, 0x14, 4, 1, 0x15, 4, 1, 0x16, 5, 1, 0x30, 0x03, 4, 0, 0x2f, 6, 1, 0x13, 0x7e, 0x06, 3, 0x0b)
	frames = u32(frames, 0)
	header := []byte{1, 0x1b, 3, 0x3b}
	header = u32(header, uint32(-int32(len(frames)+4)))
	header = u32(header, 2)
	for i, p := range places {
		header = u32(header, uint32(addr+uint64(32*i)-at-uint64(len(frames))))
		header = u32(header, p-uint32(len(frames)))
	}
	if order == binary.BigEndian { // DW_CFA_advance_loc2 has an operand of two bytes
		i := bytes.Index(frames, []byte{0x03, 4, 0, 0x2f})
		frames[i+1], frames[i+2] = 0, 4
	}
	return &jitdump.Unwinding{HeaderSize: uint64(len(header)), Data: append(frames, header...)}
}
