package xrayfdr

import (
	"bytes"
	"testing"

	"github.com/jitinject/jitinject/internal/testrec"
)

// TestReader_GoldenTraces decodes the golden traces of the document, in both byte orders, and
// writes them again.
func TestReader_GoldenTraces(t *testing.T) {
	want := []Record{
		{Offset: 32, Kind: NewBuffer, TID: 12345},
		{Offset: 48, Kind: WallTime, Seconds: 123456789, Microseconds: 123456},
		{Offset: 64, Kind: NewCPU, CPU: 7, TSC: 4096},
		{Offset: 80, Kind: EnterArgs, CPU: 7, TSC: 4096, Function: 1},
		{Offset: 88, Kind: CallArgument, Argument: 0xdeadbeef},
		{Offset: 104, Kind: Enter, CPU: 7, TSC: 4196, Function: 1<<28 - 1, Delta: 100},
		{Offset: 112, Kind: CustomEvent, CPU: 7, TSC: 4224, PayloadSize: 2, Payload: []byte("hi")},
		{Offset: 130, Kind: TSCWrap, CPU: 7, TSC: 1 << 32},
		{Offset: 146, Kind: Exit, CPU: 7, TSC: 1<<32 + 1, Function: 1<<28 - 1, Delta: 1},
		{Offset: 154, Kind: TailExit, CPU: 7, TSC: 1<<32 + 3, Function: 1, Delta: 2},
		{Offset: 162, Kind: EndOfBuffer},
	}
	for _, name := range []string{"spec", "spec-big"} {
		t.Run(name, func(t *testing.T) {
			file := testrec.Hex(t, "testdata/"+name+".hex")
			h, err := ParseHeader(file)
			if err != nil || h.Version != 1 || !h.ConstantTSC || !h.NonstopTSC || h.OtherFlags != 0 || h.CycleFrequency != 3e9 || h.BufferSize != 160 || h.Emulated() {
				t.Errorf("header %+v, %v", h, err)
			}
			checkGolden(t, file, want)
			if name == "spec" {
				again, fixes := copyTrace(t, file, func(*Record) {})
				if !bytes.Equal(again, file) || fixes != (Fixes{}) {
					t.Errorf("repairs %v, written again:\n%x", fixes, again)
				}
			}
		})
	}
}

// TestReader_EventsOfEveryVersion decodes the records that no document has.
func TestReader_EventsOfEveryVersion(t *testing.T) {
	for version := uint16(3); version <= 5; version++ {
		name := "testdata/events-v" + string(rune('0'+version)) + ".hex"
		cpu, last := uint16(1), uint64(1007)
		custom := Record{Offset: 112, Kind: CustomEvent, CPU: 1, TSC: 1010, PayloadSize: 2, Payload: []byte("hi")}
		typed := Record{Offset: 130, Kind: TypedEvent, CPU: 1, TSC: 1020, Type: 0x1234, PayloadSize: 5, Payload: []byte("typed")}
		switch version {
		case 4:
			custom.CPU = 2
		case 5:
			custom.Delta, typed.Delta, last = 10, 10, 1027
		}
		file := testrec.Hex(t, name)
		checkGolden(t, file, []Record{
			{Offset: 32, Kind: Extents, Extents: 111},
			{Offset: 48, Kind: NewBuffer, TID: 70000},
			{Offset: 64, Kind: WallTime, Seconds: 10, Microseconds: 5},
			{Offset: 80, Kind: PID, PID: 69999},
			{Offset: 96, Kind: NewCPU, CPU: 1, TSC: 1000},
			custom, typed,
			{Offset: 151, Kind: Enter, CPU: cpu, TSC: last, Function: 1, Delta: 7},
		})
		again, _ := copyTrace(t, file, func(*Record) {})
		if !bytes.Equal(again, file) {
			t.Errorf("version %d written again:\n%x", version, again)
		}
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
