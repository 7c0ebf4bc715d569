package xrayfdr

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
)

// trace writes a trace through f, little endian with buffers of 256 bytes.
func trace(t testing.TB, version uint16, f func(w writer)) []byte {
	t.Helper()
	var out bytes.Buffer
	w, err := newWriter(&out, &Header{Order: binary.LittleEndian, Version: version, CycleFrequency: 1e9, BufferSize: 256})
	if err != nil {
		t.Fatal(err)
	}
	f(w)
	if err := w.End(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// TestReader_BlockWithoutNewCPUID: blocks without NewCPUId go on where their thread's block
// before ended, by the time of the clock and not by their order in the file.
func TestReader_BlockWithoutNewCPUID(t *testing.T) {
	file := trace(t, 1, func(w writer) {
		w.Begin(&Block{TID: 8, Seconds: 5, Base: CarriedBase}) // nothing before
		w.Function(Enter, 1, 3)
		w.Begin(&Block{TID: 7, Seconds: 3, Base: CarriedBase, TSC: 1050})
		w.Function(Exit, 2, 1060)
		w.Function(Exit, 1, 1070)
		w.Begin(&Block{TID: 7, Seconds: 1, TSC: 1000, CPU: 9})
		w.Function(Enter, 1, 1000)
		w.Function(Enter, 2, 1040)
		w.Begin(&Block{TID: 7, Seconds: 2, Base: CarriedBase, TSC: 1040})
		w.Function(Enter, 3, 1045)
		w.Function(Exit, 3, 1050)
	})
	want := [][]uint64{{3}, {1060, 1070}, {1000, 1040}, {1045, 1050}}
	bases := []Base{NoBase, CarriedBase, OwnBase, CarriedBase}
	check := func(t *testing.T, i int, b *Block, records []Record, err error) {
		t.Helper()
		var times []uint64
		for _, rec := range records {
			if rec.Kind.IsFunction() {
				times = append(times, rec.TSC)
				if b.TID == 7 && rec.CPU != 9 {
					t.Errorf("block %d: CPU %d", i, rec.CPU)
				}
			}
		}
		if err != nil || b.Base != bases[i] || !slices.Equal(times, want[i]) {
			t.Errorf("block %d: base %d, times %v, %v", i, b.Base, times, err)
		}
	}
	blocks, records, fixes, problems := readAll(t, file)
	if len(problems) > 0 || len(blocks) != 4 || fixes != (Fixes{CarriedTSC: 2, LostTSC: 1}) {
		t.Fatalf("%d blocks, %v, %v", len(blocks), fixes, problems)
	}
	for i := range blocks {
		check(t, i, &blocks[i], records[i], nil)
	}
	x, err := ReadIndex(bytes.NewReader(file), int64(len(file)))
	if err != nil || !slices.Equal(x.Blocks, blocks) {
		t.Fatalf("the index has %+v, %v", x.Blocks, err)
	}
	for i := range x.Blocks {
		records, err := readBlock(ReadBlocks(bytes.NewReader(file), x.Header, []Block{x.Blocks[i]}))
		check(t, i, &x.Blocks[i], records, err)
	}
	threads := blocksOf(x)
	if len(threads) != 2 || len(threads[1]) != 3 || threads[1][0].Seconds != 1 || threads[1][2].Seconds != 3 {
		t.Errorf("threads: %+v", threads)
	}
}

// readBlock returns the records of a reader's next block.
func readBlock(r *Reader) (records []Record, err error) {
	if _, err := r.NextBlock(); err != nil {
		return nil, err
	}
	for {
		rec, err := r.Next()
		if err == io.EOF {
			return records, nil
		}
		if err != nil {
			return records, err
		}
		records = append(records, *rec)
		records[len(records)-1].Payload = slices.Clone(rec.Payload)
	}
}

// one returns the calls of a trace that must read without problems, and what
// was repaired.
func one(t *testing.T, file []byte) (calls []string, fixes Fixes) {
	t.Helper()
	_, records, fixes, problems := readAll(t, file)
	if len(problems) > 0 {
		t.Errorf("problems: %v", problems)
	}
	for _, block := range records {
		for _, rec := range block {
			if rec.Kind.IsFunction() {
				calls = append(calls, fmt.Sprintf("%v %d %d", rec.Kind, rec.Function, rec.TSC))
			}
		}
	}
	return calls, fixes
}

func TestReader_QuirksOfOldRuntimes(t *testing.T) {
	two := func(w writer) {
		for tid := uint32(1); tid < 3; tid++ {
			w.Begin(&Block{TID: tid, PID: 9, TSC: 100})
			w.Function(Enter, 1, 110)
			w.Function(Exit, 1, 120)
		}
	}
	calls := []string{"Enter 1 110", "Exit 1 120", "Enter 1 110", "Exit 1 120"}
	for _, test := range []struct {
		name    string
		version uint16
		write   func(w writer)
		change  func(file []byte) []byte
		want    Fixes
		calls   []string
	}{
		{"nothing", 1, two, nil, Fixes{}, calls},
		{"no EndOfBuffer", 1, two, func(file []byte) []byte {
			clear(file[32+64 : 32+64+16])
			return file
		}, Fixes{NoEndOfBuffer: 1}, calls},
		{"a buffer full to its end", 1, two, func(file []byte) []byte {
			// The same two blocks, each as large as its records.
			out := append([]byte(nil), file[:32+64]...)
			out = append(out, file[32+256:32+256+64]...)
			binary.LittleEndian.PutUint64(out[16:], 64)
			return out
		}, Fixes{NoEndOfBuffer: 2}, calls},
		{"plain arguments", 1, func(w writer) {
			w.Begin(&Block{TID: 1, TSC: 1})
			w.Function(Enter, 1, 2)
			w.Argument(5)
			w.Argument(6)
		}, nil, Fixes{PlainArguments: 2}, []string{"Enter 1 2"}},
		{"wide thread ids", 3, func(w writer) { w.Begin(&Block{TID: 70000, TSC: 1}) }, nil, Fixes{WideThreadID: 1}, nil},
		{"garbage in reserved bytes", 3, two, func(file []byte) []byte {
			file[48+15], file[64+15] = 1, 2
			return file
		}, Fixes{ReservedBytes: 2}, calls},
		{"EndOfBuffer in version 3", 3, two, func(file []byte) []byte {
			copy(file[48+64:], []byte{3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0})
			return file
		}, Fixes{LateEndOfBuffer: 1}, calls[2:]},
		{"no process", 4, two, func(file []byte) []byte {
			out := slices.Delete(file, 48+32, 48+48)
			binary.LittleEndian.PutUint64(out[33:], binary.LittleEndian.Uint64(out[33:])-16)
			return out
		}, Fixes{NoPID: 1}, calls},
		{"extents that cut a record", 5, two, func(file []byte) []byte {
			out := slices.Delete(file, 48+76, 48+80)
			binary.LittleEndian.PutUint64(out[33:], 76)
			return out
		}, Fixes{CutRecord: 1}, slices.Delete(slices.Clone(calls), 1, 2)},
		{"extents too long", 5, two, func(file []byte) []byte {
			binary.LittleEndian.PutUint64(file[33:], 90)
			return file
		}, Fixes{WrongExtents: 1}, calls},
		{"extents beyond the file", 5, two, func(file []byte) []byte {
			binary.LittleEndian.PutUint64(file[33:], 1<<30)
			return file
		}, Fixes{WrongExtents: 1}, calls},
		{"a cut file", 5, two, func(file []byte) []byte { return file[:len(file)-3] }, Fixes{CutFile: 1}, calls[:3]},
		{"empty buffers", 2, two, func(file []byte) []byte {
			return slices.Insert(file, 32, 0x0f, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
		}, Fixes{}, calls},
	} {
		t.Run(test.name, func(t *testing.T) {
			file := trace(t, test.version, test.write)
			if test.change != nil {
				file = test.change(file)
			}
			calls, fixes := one(t, file)
			if fixes != test.want || !slices.Equal(calls, test.calls) {
				t.Errorf("repairs %v, want %v\n%q", fixes, test.want, calls)
			}
		})
	}
}

// TestReader_ThreadIDAsDocumented: a big-endian file that keeps to the document has the
// thread's id in two bytes.
func TestReader_ThreadIDAsDocumented(t *testing.T) {
	file := everything(t, 1, binary.BigEndian)
	for i := range 3 {
		copy(file[32+512*i+1:], []byte{0x12, 0x34, 0, 0})
	}
	blocks, _, _, problems := readAll(t, file)
	if len(problems) > 0 || len(blocks) != 3 || blocks[0].TID != 0x1234 {
		t.Errorf("got %+v, %v; want no problems, 3 blocks, blocks[0].TID = 0x1234", blocks, problems)
	}
}

// TestReader_GrammarViolated: a violation is an error with its place, and the next block goes on.
func TestReader_GrammarViolated(t *testing.T) {
	const body = 48 + 64 // the first record behind NewCPUId
	for _, test := range []struct {
		name, want string
		change     func(file []byte)
	}{
		{"argument after an exit", "CallArgument at offset 0x80: cannot be here",
			func(file []byte) { file[body+16] = 0x0d }},
		{"two walls", "WallTimeMarker at offset 0x50: cannot be here: NewCPUId or PidEntry has to follow",
			func(file []byte) { file[48+32] = 9 }},
		{"a new buffer inside", "NewBuffer at offset 0x80: cannot be here",
			func(file []byte) { file[body+16] = 1 }},
		{"unknown kind", "record_kind at offset 0x70: is 99", func(file []byte) { file[body] = 99<<1 | 1 }},
		{"unknown action", "action at offset 0x70: is 5", func(file []byte) { file[body] = 5 << 1 }},
	} {
		t.Run(test.name, func(t *testing.T) {
			file := trace(t, 5, func(w writer) {
				for tid := uint32(1); tid < 4; tid++ {
					w.Begin(&Block{TID: tid, PID: 9, TSC: 100})
					w.Function(Enter, 1, 110)
					w.Function(Exit, 1, 120)
					w.CPU(3, 130)
					w.CPU(4, 130)
				}
			})
			test.change(file)
			_, records, _, problems := readAll(t, file)
			if len(problems) != 1 || !isViolation(problems[0]) || !strings.Contains(problems[0].Error(), test.want) {
				t.Errorf("problems: %v", problems)
			}
			if len(records) != 3 || len(records[0]) >= 9 || len(records[1]) != 9 || len(records[2]) != 9 {
				t.Errorf("records: %v", records)
			}
		})
	}
	t.Run("typed event in version 2", func(t *testing.T) {
		file := trace(t, 2, func(w writer) {
			w.Begin(&Block{TID: 1, TSC: 100})
			w.CustomEvent(101, []byte("x"))
		})
		file[48+48] = 0x11
		if _, _, _, problems := readAll(t, file); len(problems) != 1 || !strings.Contains(problems[0].Error(), "version 2 has no such record") {
			t.Errorf("problems: %v", problems)
		}
	})
}

// TestReader_TypedEventsUncounted: LLVM 14 counts a typed event without its marker, so that a
// block lacks 16 bytes at its end for each; llvm-xray refuses the trace.
func TestReader_TypedEventsUncounted(t *testing.T) {
	if unpacked(t, "v5-llvm14-typed.yaml") != nil {
		t.Fatal("llvm-xray reads the trace")
	}
	blocks, records, fixes, problems := readAll(t, unpacked(t, "v5-llvm14-typed.xray"))
	if len(problems) > 0 || len(blocks) != 6 || fixes[TypedExtents] != 6 || fixes[CutRecord] != 0 {
		t.Fatalf("%d blocks, %v, %v", len(blocks), fixes, problems)
	}
	typed, custom := 0, 0
	for _, block := range records {
		for _, rec := range block {
			switch rec.Kind {
			case TypedEvent:
				typed++
				if rec.Type != 7 || !bytes.HasPrefix(rec.Payload, []byte("event-")) || !bytes.HasSuffix(rec.Payload, []byte{0}) {
					t.Errorf("typed event %+v", rec)
				}
			case CustomEvent:
				custom++
				if !bytes.HasPrefix(rec.Payload, []byte("event-")) {
					t.Errorf("custom event %+v", rec)
				}
			}
		}
	}
	// The program says 40 things in each of two threads, in both ways; some are
	// in the bytes that are missing.
	if typed != 74 || custom != 72 {
		t.Errorf("%d typed events, %d custom events", typed, custom)
	}

	// What is known to be missing fills the buffers of 4096 bytes that were full,
	// up to a record that did not fit.
	file := unpacked(t, "v5-llvm14-typed.xray")
	r, err := NewReader(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	full := 0
	for {
		b, err := r.NextBlock()
		if err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		size := b.Size - metadataSize
		for err == nil {
			_, err = r.Next()
		}
		if r.Missing() < 3*metadataSize || size+r.Missing() > 4096 {
			t.Errorf("a block of %d bytes lacks %d", size, r.Missing())
		}
		if size+r.Missing() > 4096-64 {
			full++
		}
	}
	if full != 4 {
		t.Errorf("%d blocks are full", full)
	}
}
