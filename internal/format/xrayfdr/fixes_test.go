package xrayfdr

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/internal/wire"
)

// trace writes a trace through f, little endian with buffers of 256 bytes.
func trace(t testing.TB, f func(w writer)) []byte {
	t.Helper()
	var out bytes.Buffer
	w, err := newWriter(&out, &Header{Order: binary.LittleEndian, Version: Version, CycleFrequency: 1e9, BufferSize: 256})
	if err != nil {
		t.Fatal(err)
	}
	f(w)
	if err := w.End(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
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

func TestReader_WrongExtents(t *testing.T) {
	calls := []string{"Enter 1 110", "Exit 1 120", "Enter 1 110", "Exit 1 120"}
	for _, test := range []struct {
		name   string
		change func(file []byte) []byte
		want   Fixes
		calls  []string
	}{
		{"nothing", slices.Clone[[]byte], Fixes{}, calls},
		{"extents that cut a record", func(file []byte) []byte {
			out := slices.Delete(file, 48+76, 48+80)
			binary.LittleEndian.PutUint64(out[33:], 76)
			return out
		}, Fixes{CutRecord: 1}, slices.Delete(slices.Clone(calls), 1, 2)},
		{"extents too long", func(file []byte) []byte {
			binary.LittleEndian.PutUint64(file[33:], 90)
			return file
		}, Fixes{WrongExtents: 1}, calls},
		{"extents beyond the file", func(file []byte) []byte {
			binary.LittleEndian.PutUint64(file[33:], 1<<30)
			return file
		}, Fixes{WrongExtents: 1}, calls},
		{"a cut file", func(file []byte) []byte { return file[:len(file)-3] }, Fixes{CutFile: 1}, calls[:3]},
		{"empty buffers", func(file []byte) []byte {
			return slices.Insert(file, 32, 0x0f, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
		}, Fixes{}, calls},
	} {
		t.Run(test.name, func(t *testing.T) {
			calls, fixes := one(t, test.change(trace(t, func(w writer) {
				for tid := uint32(1); tid < 3; tid++ {
					w.Begin(&Block{TID: tid, PID: 9, TSC: 100})
					w.Function(Enter, 1, 110)
					w.Function(Exit, 1, 120)
				}
			})))
			if fixes != test.want || !slices.Equal(calls, test.calls) {
				t.Errorf("fixes %v, want %v\n%q", fixes, test.want, calls)
			}
		})
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
		{"two walls", "WallTimeMarker at offset 0x50: cannot be here: PidEntry has to follow",
			func(file []byte) { file[48+32] = 9 }},
		{"a new buffer inside", "NewBuffer at offset 0x80: cannot be here",
			func(file []byte) { file[body+16] = 1 }},
		{"unknown kind", "record_kind at offset 0x70: is 99", func(file []byte) { file[body] = 99<<1 | 1 }},
		{"unknown action", "action at offset 0x70: is 5", func(file []byte) { file[body] = 5 << 1 }},
	} {
		t.Run(test.name, func(t *testing.T) {
			file := trace(t, func(w writer) {
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

func isViolation(err error) bool {
	var e *wire.Error
	return errors.As(err, &e)
}
