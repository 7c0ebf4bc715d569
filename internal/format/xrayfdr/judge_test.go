package xrayfdr

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/internal/testrec"
)

// chatty writes blocks in which a program enters, says something and leaves,
// n times, and returns the times of what it said.
func chatty(t testing.TB, version uint16, order binary.ByteOrder, lose bool, n int, payload func(i int) []byte) (file []byte, said []uint64) {
	t.Helper()
	var out bytes.Buffer
	w, err := newWriter(&out, &Header{Order: order, Version: version, BufferSize: 4096})
	if err != nil {
		t.Fatal(err)
	}
	if lose {
		w.Lose()
	}
	tsc := uint64(1 << 33)
	used := 0
	begin := func() {
		if used = 3 * metadataSize; version >= 3 {
			used += metadataSize
		}
		if err := w.Begin(&Block{TID: 7, PID: 5, Seconds: int64(tsc >> 30), TSC: tsc}); err != nil {
			t.Fatal(err)
		}
	}
	begin()
	for i := range n {
		if 4096-used < 100+len(payload(i)) {
			begin()
		}
		used += 4*functionSize + metadataSize + len(payload(i))
		w.Function(Enter, uint32(1+i%30), tsc+10)
		w.Function(Enter, 31, tsc+20)
		said = append(said, tsc+30)
		if i%2 == 1 && version >= 3 {
			err = w.TypedEvent(uint16(i), tsc+30, payload(i))
		} else {
			err = w.CustomEvent(tsc+30, payload(i))
		}
		if err != nil {
			t.Fatal(err)
		}
		w.Function(Exit, 31, tsc+40)
		if err := w.Function(Exit, uint32(1+i%30), tsc+50); err != nil {
			t.Fatal(err)
		}
		tsc += 1000
	}
	if err := w.End(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes(), said
}

// TestReader_PayloadsOfEverySize reads events of all sizes, kept and overwritten, without being
// told which: multiples of eight keep a wrong reading in step with the records.
func TestReader_PayloadsOfEverySize(t *testing.T) {
	fill := map[string]func(i int) byte{
		"text":  func(i int) byte { return "the program said this. "[i%23] },
		"zeros": func(int) byte { return 0 },
		"ones":  func(int) byte { return 1 },
	}
	for version := uint16(1); version <= MaxVersion; version++ {
		for _, order := range orders() {
			for _, lose := range []bool{false, true} {
				if lose && version > lastOverwriting {
					continue
				}
				for name, f := range fill {
					for size := 1; size <= 72; size++ {
						payload := make([]byte, size)
						for i := range payload {
							payload[i] = f(i)
						}
						what := fmt.Sprintf("version %d, %v, %d bytes of %s, overwritten: %v", version, order, size, name, lose)
						checkPayloads(t, what, version, order, lose, payload)
					}
				}
			}
		}
	}
}

func checkPayloads(t *testing.T, what string, version uint16, order binary.ByteOrder, lose bool, payload []byte) {
	t.Helper()
	const n = 60
	file, said := chatty(t, version, order, lose, n, func(int) []byte { return payload })
	_, records, fixes, problems := readAll(t, file)
	if len(problems) > 0 {
		t.Fatalf("%s: got %v; want no problems", what, problems)
	}
	events, calls := 0, 0
	for _, block := range records {
		for _, rec := range block {
			switch {
			case rec.Kind.IsFunction():
				calls++
			case rec.Kind == CustomEvent || rec.Kind == TypedEvent:
				if rec.TSC != said[events] || rec.PayloadSize != uint32(len(payload)) {
					t.Fatalf("%s: event %d is %+v", what, events, rec)
				}
				if lose != (rec.Payload == nil) || !lose && !bytes.Equal(rec.Payload, payload) {
					t.Fatalf("%s: event %d says %q", what, events, rec.Payload)
				}
				events++
			}
		}
	}
	want := Fixes{}
	if lose {
		want[OverwrittenPayload] = n
	}
	if events != n || calls != 4*n || fixes != want {
		t.Fatalf("%s: %d events, %d calls, repairs %v", what, events, calls, fixes)
	}
}

// TestReader_PayloadAtEndOfBlock: behind the last event of a block its data is still there.
func TestReader_PayloadAtEndOfBlock(t *testing.T) {
	var out bytes.Buffer
	w, err := newWriter(&out, &Header{Order: binary.LittleEndian, Version: 2, BufferSize: 4096})
	if err != nil {
		t.Fatal(err)
	}
	w.Lose()
	w.Begin(&Block{TID: 1, TSC: 100})
	for i := range uint64(10) {
		w.Function(Enter, 3, 110+100*i)
		w.CustomEvent(120+100*i, []byte("some words"))
		if i < 9 {
			w.Function(Exit, 3, 130+100*i)
		}
	}
	if err := w.End(); err != nil {
		t.Fatal(err)
	}
	_, records, fixes, problems := readAll(t, out.Bytes())
	if len(problems) > 0 || len(records) != 1 || fixes != (Fixes{OverwrittenPayload: 9}) {
		t.Fatalf("%d blocks, %v, %v", len(records), fixes, problems)
	}
	last := records[0][len(records[0])-1]
	if last.Kind != CustomEvent || string(last.Payload) != "some words" {
		t.Errorf("the last record is %+v", last)
	}
}

// TestReader_TraceThatLLVMRefuses shows what is in a trace of LLVM 5 that llvm-xray refuses: the
// program called these functions so often, said four times something, and threw
// one exception in each thread.
func TestReader_TraceThatLLVMRefuses(t *testing.T) {
	if unpacked(t, "v1-llvm5-events.yaml") != nil {
		t.Fatal("llvm-xray reads the trace")
	}
	_, records, fixes, problems := readAll(t, unpacked(t, "v1-llvm5-events.xray"))
	if len(problems) > 0 || len(records) != 2 || fixes[OverwrittenPayload] != 4 {
		t.Fatalf("%d blocks, %v, %v", len(records), fixes, problems)
	}
	// Ids of leaf, mid, fib(6) and its calls, outer, … in the order of the program.
	want := map[uint32]int{1: 10, 2: 2, 3: 50, 4: 2, 5: 2, 6: 2, 7: 2, 8: 2, 9: 2, 10: 1, 12: 1, 13: 1}
	for i, block := range records {
		entered, left := map[uint32]int{}, map[uint32]int{}
		var calls callStack
		var now uint64
		odd := 0
		for _, rec := range block {
			switch rec.Kind {
			case Enter:
				entered[rec.Function]++
			case Exit, TailExit:
				left[rec.Function]++
			}
			if rec.Kind.IsFunction() {
				odd += calls.step(&rec)
			}
			if rec.TSC > 0 && rec.TSC < now {
				t.Errorf("block %d: time runs backwards to %+v", i, rec)
			}
			now = max(now, rec.TSC)
		}
		for id, n := range entered {
			if n != want[id] {
				t.Errorf("block %d: function %d was entered %d times, not %d", i, id, n, want[id])
			}
			thrown := 0
			if id == 9 {
				thrown = 1
			}
			if left[id] != n-thrown {
				t.Errorf("block %d: function %d was entered %d times and left %d times", i, id, n, left[id])
			}
		}
		if odd != 1 { // the exception
			t.Errorf("block %d: %d calls out of order", i, odd)
		}
		if len(entered) < 10 || calls.n != 0 {
			t.Errorf("block %d: %d functions, %d open at the end", i, len(entered), calls.n)
		}
	}
}

// TestReader_ConformingEvents: data that is kept and could be records: zeros in version 1, a number,
// text at a block's end.
func TestReader_ConformingEvents(t *testing.T) {
	for name, want := range map[string]string{
		"v1-minimal-zero16": "9 entries, 5 exits, 1 events of 16 bytes",
		"v1-zero-payload":   "499 entries, 481 exits, 78 events of 2572 bytes",
		"v2-u64-payload":    "52 entries, 41 exits, 5 events of 40 bytes",
		"v3-text-payload":   "41 entries, 33 exits, 5 events of 196 bytes",
	} {
		file := testrec.Gunzip(t, filepath.Join("testdata", "events", name+".xray.gz"))
		_, records, fixes, problems := readAll(t, file)
		entries, exits, events, size := 0, 0, 0, 0
		for _, rec := range slices.Concat(records...) {
			switch rec.Kind {
			case Enter:
				entries++
			case Exit:
				exits++
			case CustomEvent:
				events++
				size += len(rec.Payload)
			}
		}
		if got := fmt.Sprintf("%d entries, %d exits, %d events of %d bytes", entries, exits, events, size); got != want || fixes != (Fixes{}) || len(problems) > 0 {
			t.Errorf("%s: %s, %v, %v; want %s", name, got, fixes, problems, want)
		}
	}
}

// TestReader_EventTooLarge: a size that the block cannot have is an error with its
// place.
func TestReader_EventTooLarge(t *testing.T) {
	file := everything(t, 5, binary.LittleEndian)
	at := bytes.Index(file, []byte("custom")) - metadataSize
	binary.LittleEndian.PutUint32(file[at+1:], 5000)
	_, records, _, problems := readAll(t, file)
	if len(problems) != 1 || len(records) != 3 {
		t.Fatalf("%d blocks, %v", len(records), problems)
	}
	text := problems[0].Error()
	if !isViolation(problems[0]) || !strings.Contains(text, fmt.Sprintf("CustomEventMarker: event_size at offset %#x", at+1)) {
		t.Errorf("error: %s", text)
	}
	if errors.Is(problems[0], ErrNotXRay) {
		t.Error("the file is called no trace")
	}
}
