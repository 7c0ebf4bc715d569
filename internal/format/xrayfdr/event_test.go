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
func chatty(t testing.TB, version uint16, order binary.ByteOrder, n int, payload func(i int) []byte) (file []byte, said []uint64) {
	t.Helper()
	var out bytes.Buffer
	w, err := newWriter(&out, &Header{Order: order, Version: version, BufferSize: 4096})
	if err != nil {
		t.Fatal(err)
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

// TestReader_PayloadsOfEverySize reads events of all sizes.
func TestReader_PayloadsOfEverySize(t *testing.T) {
	fill := map[string]func(i int) byte{
		"text":  func(i int) byte { return "the program said this. "[i%23] },
		"zeros": func(int) byte { return 0 },
		"ones":  func(int) byte { return 1 },
	}
	for version := uint16(1); version <= MaxVersion; version++ {
		for _, order := range orders() {
			for name, f := range fill {
				for size := 1; size <= 72; size++ {
					payload := make([]byte, size)
					for i := range payload {
						payload[i] = f(i)
					}
					checkPayloads(t, fmt.Sprintf("version %d, %v, %d bytes of %s", version, order, size, name), version, order, payload)
				}
			}
		}
	}
}

func checkPayloads(t *testing.T, what string, version uint16, order binary.ByteOrder, payload []byte) {
	t.Helper()
	const n = 60
	file, said := chatty(t, version, order, n, func(int) []byte { return payload })
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
