package producer_test

import (
	"debug/elf"
	"encoding/binary"
	"os"
	"reflect"
	"testing"

	"github.com/go-delve/delve/pkg/dwarf/frame"

	"github.com/jitinject/jitinject/internal/testrec"
	"github.com/jitinject/jitinject/jitdump"
)

// Of a program's .eh_frame, jitdump.h takes all entries about the code. At each byte they say what the
// program's say, as delve reads them.
func TestFrames_SeveralEntries(t *testing.T) {
	program, dir := modes(t), t.TempDir()
	testrec.Run(t, dir, program, "frames", dir)
	load, sent := unwound(t, dumpIn(t, dir))

	f, err := elf.Open(program)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	section, measured := f.Section(".eh_frame"), f.Section("measured")
	data, err := section.Data()
	if err != nil {
		t.Fatal(err)
	}
	of, err := frame.Parse(data, f.ByteOrder, 0, 8, section.Addr)
	if err != nil {
		t.Fatal(err)
	}
	const code = 1 << 20 // an address of the code
	order, size := binary.NativeEndian, uint64(len(load.Code))
	tables := (code + size + 7) &^ 7
	frames := sent.Data[:uint64(len(sent.Data))-sent.HeaderSize]
	got, err := frame.Parse(frames, f.ByteOrder, 0, 8, tables)
	if err != nil {
		t.Fatal(err)
	}
	if size != measured.Size || len(got) != 3 {
		t.Fatalf("got %d entries for %d bytes; want 3 for %d", len(got), size, measured.Size)
	}
	for off := range size {
		if got, want := rowAt(t, got, code+off), rowAt(t, of, measured.Addr+off); !reflect.DeepEqual(got, want) {
			t.Errorf("at +%#x: got %v, want %v", off, got, want)
		}
	}

	// The search table has them in order, relative to itself.
	header := sent.Data[len(frames):]
	begin := tables + uint64(len(frames))
	if n := order.Uint32(header[8:]); n != 3 || sent.HeaderSize != 12+3*8 {
		t.Fatalf("the table has %d entries in %d bytes", n, sent.HeaderSize)
	}
	last := uint64(0)
	for i := range 3 {
		entry := header[12+8*i:]
		pc, at := begin+uint64(int32(order.Uint32(entry))), begin+uint64(int32(order.Uint32(entry[4:])))
		if rowAt(t, got, pc) == nil || pc <= last && i > 0 {
			t.Errorf("entry %d is of %#x", i, pc)
		}
		// Its address is at +8, relative to there.
		if where := at - tables + 8; uint64(int32(order.Uint32(frames[where:])))+tables+where != pc {
			t.Errorf("entry %d points at another function's", i)
		}
		last = pc
	}
}

// rowAt returns what holds at an address, or nil between functions.
func rowAt(t *testing.T, all frame.FrameDescriptionEntries, pc uint64) []any {
	t.Helper()
	for _, fde := range all { // delve's search wants them sorted
		if fde.Cover(pc) {
			row, err := fde.EstablishFrame(pc)
			if err != nil {
				t.Fatal(err)
			}
			return []any{row.CFA, row.Regs, row.RetAddrReg, pc - fde.Begin(), fde.End() - pc}
		}
	}
	return nil
}

// unwound returns the one function of a dump, and its tables.
func unwound(t *testing.T, path string) (load *jitdump.Load, sent *jitdump.Unwinding) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r, err := jitdump.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	for raw, err := range r.Records() {
		if err != nil {
			t.Fatal(err)
		}
		rec, err := raw.Decode()
		if err != nil {
			t.Fatal(err)
		}
		switch rec := rec.(type) {
		case *jitdump.Unwinding:
			sent = rec
		case *jitdump.Load:
			load = rec
		}
	}
	if load == nil || sent == nil {
		t.Fatal("the dump has no function with tables")
	}
	return load, sent
}
