package monolog

import (
	"bytes"
	"fmt"
	"io"
	"reflect"
	"testing"

	"github.com/jitinject/jitinject/internal/testrec"
)

// Logs by hand.
func TestReader_LogsByHand(t *testing.T) {
	const (
		start  = 1000000000000
		method = 0x20000000
		ptr    = 0x10000000
		ptr32  = 0xf0000000
	)
	b := func(s string) []byte { return []byte(s) }
	for name, want := range map[string]struct {
		header Header
		buffer BufferHeader
		events []Event
	}{
		"v1": {
			Header{Minor: 1, Version: 1, PtrSize: 8, Size: 32},
			BufferHeader{Offset: 32, Len: 114, Time: start, PtrBase: ptr, ObjBase: 0x6000000, Thread: 0x10000900, MethodBase: method},
			[]Event{
				{Kind: KindImage, Time: start, Load: LoadEnd, Pointer: ptr + 128, Name: b("a")},
				{Kind: KindClass, Time: start + 1, Load: LoadEnd, Pointer: ptr + 256, Image: ptr + 128, Name: b("C")},
				{Kind: KindJIT, Time: start + 101, Method: method + 64, Code: ptr + 28672, Size: 300, Name: b("M()")},
				{Kind: KindEnter, Time: start + 111, Method: method + 64},
				{Kind: KindLeave, Time: start + 1135, Method: method},
				{Kind: KindExcLeave, Time: start + 1135, Method: method + 64},
				{Kind: KindAlloc, Time: start + 1136},
				{Kind: KindAlloc, Time: start + 1137},
				{Kind: KindGCEvent, Time: start + 1138},
				{Kind: KindGCResize, Time: start + 1139},
				{Kind: KindGCMove, Time: start + 1140},
				{Kind: KindThrow, Time: start + 1141},
				{Kind: KindThrow, Time: start + 1142},
				{Kind: KindClause, Time: start + 1143, Method: method + 64},
				{Kind: KindMonitor, Time: start + 1144},
				{Kind: KindMonitor, Time: start + 1145},
				{Kind: KindMonitor, Time: start + 1146},
				{Kind: KindMonitor, Time: start + 1147},
				{Kind: KindHeapStart, Time: start + 1148},
				{Kind: KindHeapObject, Time: start + 1148},
				{Kind: KindHeapEnd, Time: start + 1149},
			},
		},
		"v12": {
			Header{Major: 1, Version: 12, PtrSize: 8, Startup: 5000, TimerOverhead: 21, PID: 1234, Port: 4321, Args: "log", OS: "linux", Size: 53},
			BufferHeader{Offset: 53, Len: 102, Time: start, PtrBase: ptr, ObjBase: 0x6000000, Thread: 0x10000900, MethodBase: method},
			[]Event{
				{Kind: KindThread, Time: start + 5, Load: LoadEnd, Pointer: ptr + 2304},
				{Kind: KindThread, Time: start + 10, Load: LoadName, Pointer: ptr + 2304, Name: b("w")},
				{Kind: KindContext, Time: start + 10, Load: LoadEnd, Pointer: ptr + 2, Domain: ptr + 1},
				{Kind: KindAssembly, Time: start + 10, Load: LoadEnd, Pointer: ptr + 256, Name: b("A")},
				{Kind: KindHandleCreated, Time: start + 11},
				{Kind: KindHeapRoots, Time: start + 11},
				{Kind: KindSampleHit, Time: 1000000012345, IPs: []uint64{ptr + 28688}},
				{Kind: KindCounterDescs, Time: start + 11},
				{Kind: KindCounters, Time: start + 11},
				{Kind: KindJITHelper, Time: start + 12, Helper: HelperSpecificTrampoline, Code: ptr + 256, Size: 16, Name: b("t")},
				{Kind: KindCoverageClass, Time: start + 12},
				{Kind: KindBinary, Time: start + 13},
			},
		},
		"v17": {
			Header{Major: 3, Version: 17, PtrSize: 4, Startup: 5000, StartupTime: start, TimerOverhead: 21, PID: 1234, Port: 4321,
				Args: "log", Arch: "x86", OS: "linux", Size: 64},
			BufferHeader{Offset: 64, Len: 119, Time: start, PtrBase: ptr32, ObjBase: 0x6000000, Thread: 0xf0000900, MethodBase: method},
			[]Event{
				{Kind: KindImage, Time: start + 5, Load: LoadEnd, Pointer: ptr32 + 128, Name: b("a"), MVID: b("m")},
				{Kind: KindAssembly, Time: start + 5, Load: LoadEnd, Pointer: ptr32 + 256, Image: ptr32 + 128, Name: b("A")},
				{Kind: KindVTable, Time: start + 5, Load: LoadEnd, Pointer: ptr32 + 1280, Domain: ptr32 + 1, Class: ptr32 + 256},
				{Kind: KindThread, Time: start + 5, Load: LoadName, Pointer: ptr32 + 2304, Name: b("w")},
				{Kind: KindJIT, Time: start + 4, Method: method - 64, Code: 0, Size: 16, Name: b("M")},
				{Kind: KindAlloc, Time: start + 5},
				{Kind: KindGCEvent, Time: start + 6},
				{Kind: KindFinalizeEnd, Time: start + 7},
				{Kind: KindThrow, Time: start + 8},
				{Kind: KindClause, Time: start + 9, Method: method - 64},
				{Kind: KindMonitor, Time: start + 10},
				{Kind: KindHeapObject, Time: start + 11},
				{Kind: KindRootRegister, Time: start + 12},
				{Kind: KindJITHelper, Time: start + 13, Helper: HelperSpecificTrampoline, Code: ptr32 + 256, Size: 16, Name: b("t")},
				{Kind: KindSyncPoint, Time: start + 14},
				{Kind: KindAOTID, Time: start + 15, Name: b("i")},
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			log := testrec.Hex(t, "testdata/"+name+".hex")
			r, err := NewReader(bytes.NewReader(log))
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(*r.Header(), want.header) {
				t.Errorf("header %+v, expected %+v", *r.Header(), want.header)
			}
			buffer, err := r.NextBuffer()
			if err != nil {
				t.Fatal(err)
			}
			if *buffer != want.buffer {
				t.Errorf("buffer %+v, expected %+v", *buffer, want.buffer)
			}
			for _, want := range want.events {
				e, err := r.Next()
				if err != nil {
					t.Fatal(err)
				}
				want.Offset, want.Length, want.Type, want.Info = e.Offset, e.Length, e.Type, e.Info
				if got, want := fmt.Sprintf("%+v", *e), fmt.Sprintf("%+v", want); got != want {
					t.Errorf("got  %s\nwant %s", got, want)
				}
			}
			if e, err := r.Next(); err != io.EOF {
				t.Errorf("behind the last event: %+v, %v", e, err)
			}
		})
	}
}
