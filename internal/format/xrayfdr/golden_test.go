package xrayfdr

import (
	"bytes"
	"testing"

	"github.com/jitinject/jitinject/internal/testrec"
)

// TestReader_GoldenTrace decodes a trace that was written by hand, and writes it again.
func TestReader_GoldenTrace(t *testing.T) {
	file := testrec.Hex(t, "testdata/events-v5.hex")
	checkGolden(t, file, []Record{
		{Offset: 32, Kind: Extents, Extents: 111},
		{Offset: 48, Kind: NewBuffer, TID: 70000},
		{Offset: 64, Kind: WallTime, Seconds: 10, Microseconds: 5},
		{Offset: 80, Kind: PID, PID: 69999},
		{Offset: 96, Kind: NewCPU, CPU: 1, TSC: 1000},
		{Offset: 112, Kind: CustomEvent, CPU: 1, TSC: 1010, Delta: 10, PayloadSize: 2, Payload: []byte("hi")},
		{Offset: 130, Kind: TypedEvent, CPU: 1, TSC: 1020, Delta: 10, Type: 0x1234, PayloadSize: 5, Payload: []byte("typed")},
		{Offset: 151, Kind: Enter, CPU: 1, TSC: 1027, Function: 1, Delta: 7},
	})
	if again, _ := copyTrace(t, file, func(*Record) {}); !bytes.Equal(again, file) {
		t.Errorf("written again:\n%x", again)
	}
}

func checkGolden(t *testing.T, file []byte, want []Record) {
	t.Helper()
	blocks, records, _, problems := readAll(t, file)
	if len(blocks) != 1 || len(problems) != 0 {
		t.Fatalf("%d blocks, %v", len(blocks), problems)
	}
	for i, rec := range records[0] {
		if i >= len(want) || !same(rec, want[i]) {
			t.Fatalf("record %d is %+v", i, rec)
		}
	}
	if len(records[0]) != len(want) {
		t.Fatalf("%d records", len(records[0]))
	}
}
