package stepped

import (
	"bytes"
	"cmp"
	"context"
	"debug/elf"
	"fmt"
	"os"
	"slices"
	"testing"

	"github.com/go-delve/delve/pkg/dwarf/frame"

	"github.com/jitinject/jitinject/internal/jitcode"
	"github.com/jitinject/jitinject/internal/jitobj"
	jitdumps "github.com/jitinject/jitinject/internal/runtime/jitdump"
	"github.com/jitinject/jitinject/internal/source"
)

// A placed function is a function of a dump at an address, with the unwind tables of the
// object that jitinject makes of it.
type placed struct {
	lo, hi uint64 // addresses
	time   uint64 // of its load, in nanoseconds
	number int    // in the dump
}

// A function is the content of its object, read on first use.
type function struct {
	name string
	code []byte // valid until the end of the test
	sent bool   // the tables are the producer's
	fdes frame.FrameDescriptionEntries
}

// A dump finds the functions of a jitdump by address and time.
type dump struct {
	t       testing.TB
	reader  source.FunctionReader
	builder *jitobj.Builder
	placed  []placed // by address
	known   map[int]*function
}

// openDump reads a jitdump and derives rows like jitinject. copies are the second mappings
// of the process; host returns the interpreter's frame for the dump's traces, and may be
// nil.
func openDump(t testing.TB, path string, copies []source.Copy, host func(source.Tracer) *jitcode.FrameRow) *dump {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	src, err := jitdumps.Open(f)
	if err != nil {
		t.Fatal(err)
	}
	if err := src.Scan(context.Background()); err != nil {
		t.Fatal(err)
	}
	around := source.Surroundings{Copies: copies}
	if tracer, ok := src.(source.Tracer); ok && tracer.Interpreter() != "" && host != nil {
		around.Interpreter = host(tracer)
	}
	src.DeriveFrames(around)
	builder, err := jitobj.NewBuilder(src.Target(), jitobj.Options{})
	if err != nil {
		t.Fatal(err)
	}
	d := &dump{t: t, reader: src.Functions(), builder: builder, known: make(map[int]*function)}
	for _, e := range src.Scanned().Events {
		switch e.Kind {
		case jitcode.Load, jitcode.Move:
			if e.Size > 0 {
				d.placed = append(d.placed, placed{lo: e.Addr, hi: e.Addr + e.Size, time: e.Time, number: int(e.Function)})
			}
		}
	}
	slices.SortStableFunc(d.placed, func(a, b placed) int { return cmp.Compare(a.lo, b.lo) })
	return d
}

// maxOverlap bounds the functions checked before an address: later ones may lie inside of
// earlier ones.
const maxOverlap = 64

// at returns the function loaded last before a time at an address, and its first address,
// or nil.
func (d *dump) at(addr, time uint64) (*function, uint64) {
	n, _ := slices.BinarySearchFunc(d.placed, addr+1, func(p placed, a uint64) int { return cmp.Compare(p.lo, a) })
	var found *placed
	for i := n - 1; i >= 0 && i >= n-maxOverlap; i-- {
		if p := &d.placed[i]; addr < p.hi && p.time <= time && (found == nil || p.time > found.time) {
			found = p
		}
	}
	if found == nil {
		return nil, 0
	}
	return d.function(found.number), found.lo
}

// name returns an address as a function and an offset, if it is in one.
func (d *dump) name(addr, time uint64) string {
	if f, lo := d.at(addr, time); f != nil {
		return fmt.Sprintf("%s+%#x", f.name, addr-lo)
	}
	return fmt.Sprintf("%#x", addr)
}

func (d *dump) function(number int) *function {
	if f := d.known[number]; f != nil {
		return f
	}
	fn, err := d.reader.Function(number)
	if err != nil {
		d.t.Fatal(err)
	}
	obj, err := d.builder.Build(fn, jitobj.Place{})
	if err != nil {
		d.t.Fatal(err)
	}
	f := &function{name: string(fn.Name), code: bytes.Clone(fn.Code), sent: len(fn.Unwind.Sent.FDEs) > 0, fdes: fdesOf(d.t, obj.Bytes)}
	d.known[number] = f
	return f
}

// fdesOf reads the unwind tables of an object.
func fdesOf(t testing.TB, object []byte) frame.FrameDescriptionEntries {
	t.Helper()
	f, err := elf.NewFile(bytes.NewReader(object))
	if err != nil {
		t.Fatal(err)
	}
	s := f.Section(".eh_frame")
	if s == nil {
		return nil
	}
	data, err := s.Data()
	if err != nil {
		t.Fatal(err)
	}
	fdes, err := frame.Parse(data, f.ByteOrder, 0, 8, s.Addr)
	if err != nil {
		t.Fatal(err)
	}
	return fdes
}

// row returns the row at an offset in a function, or nil for none.
func (f *function) row(off uint64) (*frame.FrameContext, error) {
	pc := jitobj.TextOffset + off
	i := slices.IndexFunc(f.fdes, func(f *frame.FrameDescriptionEntry) bool { return f.Cover(pc) })
	if i < 0 {
		return nil, nil
	}
	return f.fdes[i].EstablishFrame(pc)
}

// hostOf returns the frame of PHP's interpreter.
func hostOf(t *testing.T, program string, tracer source.Tracer) *jitcode.FrameRow {
	t.Helper()
	f, err := elf.Open(program)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	symbols, err := f.DynamicSymbols()
	if err != nil {
		t.Fatal(err)
	}
	s := f.Section(".eh_frame")
	if s == nil {
		t.Fatalf("%s has no .eh_frame", program)
	}
	data, err := s.Data()
	if err != nil {
		t.Fatal(err)
	}
	for _, y := range symbols {
		if y.Name == tracer.Interpreter() {
			row, err := tracer.InterpreterFrame(data, s.Addr, y.Value)
			if err != nil {
				t.Fatal(err)
			}
			return row
		}
	}
	t.Fatalf("%s has no %s", program, tracer.Interpreter())
	return nil
}
