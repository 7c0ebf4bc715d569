package producer_test

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"reflect"
	"testing"

	"github.com/go-delve/delve/pkg/dwarf/frame"

	"github.com/jitinject/jitinject/internal/testrec"
	"github.com/jitinject/jitinject/jitdump"
)

// jitdump.h copies all entries about the code from a program's .eh_frame. At each byte of the code, delve
// reads the same row from the copy and from the original.
func TestFrames_SeveralEntries(t *testing.T) {
	program, dir := modes(t), t.TempDir()
	testrec.Run(t, dir, program, "frames", dir)
	bytesOfCode, sent, headerSize := unwound(t, dumpIn(t, dir))

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
	order, size := binary.NativeEndian, uint64(len(bytesOfCode))
	tables := (code + size + 7) &^ 7
	frames := sent[:uint64(len(sent))-headerSize]
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
	header := sent[len(frames):]
	begin := tables + uint64(len(frames))
	if n := order.Uint32(header[8:]); n != 3 || headerSize != 12+3*8 {
		t.Fatalf("the table has %d entries in %d bytes", n, headerSize)
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

// unwound returns the code of the one function of a dump, its tables, and the size of their header.
func unwound(t *testing.T, path string) (code, tables []byte, header uint64) {
	t.Helper()
	eachRecord(t, path, func(_ jitdump.RecordID, rec jitdump.Record) {
		switch rec := rec.(type) {
		case *jitdump.Unwinding:
			tables, header = bytes.Clone(rec.Data), rec.HeaderSize
		case *jitdump.Load:
			code = bytes.Clone(rec.Code)
		}
	})
	if len(code) == 0 || uint64(len(tables)) < header {
		t.Fatalf("the dump has %d bytes of code, and %d of tables", len(code), len(tables))
	}
	return code, tables, header
}
