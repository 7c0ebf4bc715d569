package jitdump_test

import (
	"bytes"
	"encoding/binary"
	"reflect"
	"testing"

	"github.com/jitinject/jitinject/internal/testrec"
	"github.com/jitinject/jitinject/jitdump"
)

// readAll decodes every record of a dump.
func readAll(t testing.TB, dump []byte) (*jitdump.Header, []jitdump.Record, []uint64) {
	t.Helper()
	r, err := jitdump.NewReader(bytes.NewReader(dump))
	if err != nil {
		t.Fatal(err)
	}
	var recs []jitdump.Record
	var times []uint64
	for {
		raw, err := r.Next()
		if err != nil {
			if !isEOF(err) {
				t.Fatal(err)
			}
			return r.Header(), recs, times
		}
		raw.Body = bytes.Clone(raw.Body)
		rec, err := raw.Decode()
		if err != nil {
			t.Fatal(err)
		}
		recs = append(recs, rec)
		times = append(times, raw.Timestamp)
	}
}

// writeAll is the other direction.
func writeAll(t testing.TB, h *jitdump.Header, recs []jitdump.Record, times []uint64) []byte {
	t.Helper()
	var out bytes.Buffer
	w, err := jitdump.NewWriter(&out, h)
	if err != nil {
		t.Fatal(err)
	}
	for i, rec := range recs {
		if err := w.Write(times[i], rec); err != nil {
			t.Fatal(err)
		}
	}
	return out.Bytes()
}

func TestReader_Golden(t *testing.T) {
	dump := testrec.Hex(t, "testdata/spec.hex")
	h, recs, times := readAll(t, dump)
	if want := (&jitdump.Header{Order: binary.LittleEndian, Version: 1, Machine: 62, PID: 12345, Timestamp: 123456789}); !reflect.DeepEqual(h, want) {
		t.Errorf("header %+v, want %+v", h, want)
	}
	if want := []uint64{1, 2, 3, 4, 5, 6}; !reflect.DeepEqual(times, want) {
		t.Errorf("timestamps %v, want %v", times, want)
	}
	checkGolden(t, recs)
	if got := writeAll(t, h, recs, times); !bytes.Equal(got, dump) {
		t.Errorf("written again, it is\n% x\nwant\n% x", got, dump)
	}
}

func checkGolden(t *testing.T, recs []jitdump.Record) {
	t.Helper()
	want := []jitdump.Record{
		nil, // DebugInfo: below
		&jitdump.Unwinding{HeaderSize: 4, Data: []byte{1, 0x1b, 3, 0x3b, 0xaa, 0xbb, 0xcc, 0xdd}, Extra: []byte{}},
		&jitdump.Load{PID: 12345, TID: 12346, VMA: 0x1000, CodeAddr: 0x1000, CodeSize: 3, CodeIndex: 7, Name: []byte("foo"), Extra: []byte{}, Code: []byte{0x90, 0x90, 0xc3}},
		&jitdump.Move{PID: 12345, TID: 12346, VMA: 0x2000, OldCodeAddr: 0x1000, NewCodeAddr: 0x2000, CodeSize: 3, CodeIndex: 7, Extra: []byte{}},
		&jitdump.Unknown{ID: 99, Body: []byte{0xde, 0xad, 0x42}},
		&jitdump.Close{Extra: []byte{}},
	}
	if len(recs) != len(want) {
		t.Fatalf("%d records, want %d", len(recs), len(want))
	}
	for i, w := range want {
		if w != nil && !reflect.DeepEqual(recs[i], w) {
			t.Errorf("record %d is %+v, want %+v", i, recs[i], w)
		}
	}
	info, ok := recs[0].(*jitdump.DebugInfo)
	if !ok || info.CodeAddr != 0x1000 {
		t.Fatalf("record 0 is %+v", recs[0])
	}
	var entries []jitdump.DebugEntry
	for e, err := range info.Entries() {
		if err != nil {
			t.Fatal(err)
		}
		entries = append(entries, e)
	}
	if want := []jitdump.DebugEntry{
		{Addr: 0x1000, Line: 10, Discrim: 5, Name: []byte("a.js")},
		{Addr: 0x1002, Line: 11, Name: []byte(jitdump.RepeatName)},
	}; !reflect.DeepEqual(entries, want) {
		t.Errorf("entries %+v, want %+v", entries, want)
	}
}

// The same records written big endian and read again are the same records. The
// bytes of a big-endian LOAD are spelled out: reading what the writer wrote would
// not show that both are wrong.
func TestReader_BigEndian(t *testing.T) {
	h, recs, times := readAll(t, testrec.Hex(t, "testdata/spec.hex"))
	h.Order = binary.BigEndian
	info := recs[0].(*jitdump.DebugInfo)
	var entries []jitdump.DebugEntry
	for e := range info.Entries() {
		entries = append(entries, e)
	}
	swapped := jitdump.NewDebugInfo(binary.BigEndian, info.CodeAddr, entries)
	swapped.Area = append(swapped.Area, make([]byte, len(info.Area)-len(swapped.Area))...)
	recs[0] = swapped
	big := writeAll(t, h, recs, times)
	load := []byte{
		0, 0, 0, 0, 0, 0, 0, 63, 0, 0, 0, 0, 0, 0, 0, 3,
		0, 0, 0x30, 0x39, 0, 0, 0x30, 0x3a,
		0, 0, 0, 0, 0, 0, 0x10, 0, 0, 0, 0, 0, 0, 0, 0x10, 0,
		0, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0, 7,
		'f', 'o', 'o', 0, 0x90, 0x90, 0xc3,
	}
	if !bytes.HasPrefix(big, []byte("JiTD")) || !bytes.Contains(big, load) {
		t.Errorf("big endian, it is\n% x", big)
	}
	h2, recs2, _ := readAll(t, big)
	if h2.Order != binary.BigEndian || h2.PID != 12345 {
		t.Errorf("header %+v", h2)
	}
	checkGolden(t, recs2)
}
