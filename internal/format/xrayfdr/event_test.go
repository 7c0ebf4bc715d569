package xrayfdr

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"testing"
)

// chatty writes blocks in which a program enters, says something and leaves,
// n times, and returns the times of what it said.
func chatty(t testing.TB, order binary.ByteOrder, n int, payload func(i int) []byte) (file []byte, said []uint64) {
	t.Helper()
	var out bytes.Buffer
	w, err := newWriter(&out, &Header{Order: order, Version: Version, BufferSize: 4096})
	if err != nil {
		t.Fatal(err)
	}
	tsc := uint64(1 << 33)
	used := 0
	begin := func() {
		used = 4 * metadataSize
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
		if i%2 == 1 {
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

// TestReader_PayloadsOfEverySize reads events of all sizes.
func TestReader_PayloadsOfEverySize(t *testing.T) {
	fill := map[string]func(i int) byte{
		"text":  func(i int) byte { return "the program said this. "[i%23] },
		"zeros": func(int) byte { return 0 },
		"ones":  func(int) byte { return 1 },
	}
	for _, order := range orders() {
		for name, f := range fill {
			for size := 1; size <= 72; size++ {
				payload := make([]byte, size)
				for i := range payload {
					payload[i] = f(i)
				}
				checkPayloads(t, fmt.Sprintf("%v, %d bytes of %s", order, size, name), order, payload)
			}
		}
	}
}

func checkPayloads(t *testing.T, what string, order binary.ByteOrder, payload []byte) {
	t.Helper()
	const n = 60
	file, said := chatty(t, order, n, func(int) []byte { return payload })
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
				if !bytes.Equal(rec.Payload, payload) {
					t.Fatalf("%s: event %d says %q", what, events, rec.Payload)
				}
				events++
			}
		}
	}
	if events != n || calls != 4*n || fixes != (Fixes{}) {
		t.Fatalf("%s: %d events, %d calls, repairs %v", what, events, calls, fixes)
	}
}

// TestReader_EventTooLarge: a size that the block cannot have is an error with its
// place.
func TestReader_EventTooLarge(t *testing.T) {
	file := everything(t, binary.LittleEndian)
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
