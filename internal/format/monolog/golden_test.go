package monolog

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"io"
	"reflect"
	"testing"

	"github.com/jitinject/jitinject/internal/testrec"
)

// Logs by hand, read, and written again.
func TestReader_LogsByHand(t *testing.T) {
	const (
		start  = 1000000000000
		object = 0x30000000
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
				{Kind: KindAlloc, Time: start + 1136, Class: ptr + 256, Object: object + 128, Size: 24},
				{Kind: KindAlloc, Time: start + 1137, Class: ptr + 256, Object: object - 64, Size: 24, Frames: []uint64{ptr + 64, ptr - 64}},
				{Kind: KindGCEvent, Time: start + 1138, Generation: 1},
				{Kind: KindGCResize, Time: start + 1139, Size: 1 << 20},
				{Kind: KindGCMove, Time: start + 1140, Moves: []Move{{object, object + 64}}},
				{Kind: KindThrow, Time: start + 1141, Object: object + 8},
				{Kind: KindThrow, Time: start + 1142, Object: object + 8, Frames: []uint64{ptr}},
				{Kind: KindClause, Time: start + 1143, Sub: 2, Index: 3, Method: method + 64},
				{Kind: KindMonitor, Time: start + 1144, Sub: MonitorContention, Object: object + 16},
				{Kind: KindMonitor, Time: start + 1145, Sub: MonitorContention, Object: object + 16, Frames: []uint64{ptr}},
				{Kind: KindMonitor, Time: start + 1146, Sub: MonitorDone, Object: object + 16},
				{Kind: KindMonitor, Time: start + 1147, Sub: MonitorFail, Object: object + 16},
				{Kind: KindHeapStart, Time: start + 1148},
				{Kind: KindHeapObject, Time: start + 1148, Object: object + 16, Class: ptr + 256, Size: 32, Refs: []Ref{{0, object + 24}, {0, object - 24}}},
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
				{Kind: KindHandleCreated, Time: start + 11, Sub: 2, Handle: 17, Object: object, Frames: []uint64{ptr}},
				{Kind: KindHeapRoots, Time: start + 11, Collection: 7, Roots: []Root{{Object: object, Type: 4, Extra: 77}}},
				{Kind: KindSampleHit, Time: start + 12345, Sub: 1, Thread: ptr + 2304, IPs: []uint64{ptr + 28688},
					Frames: []uint64{method}, FrameOffsets: []FrameOffset{{0, 16}}},
				{Kind: KindCounterDescs, Time: start + 11, CounterDescs: []CounterDesc{
					{Section: 256, Name: b("n"), Type: CounterInt, Unit: 24, Variance: 1, Index: 5}}},
				{Kind: KindCounters, Time: start + 11, Elapsed: 1000, Counters: []Counter{{Index: 5, Type: CounterInt, Value: ^uint64(0)}}},
				{Kind: KindJITHelper, Time: start + 12, Sub: HelperSpecificTrampoline, Code: ptr + 256, Size: 16, Name: b("t")},
				{Kind: KindCoverageClass, Time: start + 12, Texts: [][]byte{b("a"), b("c")}, Numbers: []uint64{3, 2, 1}},
				{Kind: KindBinary, Time: start + 13, Pointer: 4096, Size: 4096, Name: b("b")},
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
				{Kind: KindAlloc, Time: start + 5, VTable: ptr32 + 1280, Object: object + 128, Size: 24, Frames: []uint64{method, method - 64}},
				{Kind: KindGCEvent, Time: start + 6, Sub: 5, Generation: 1},
				{Kind: KindFinalizeEnd, Time: start + 7},
				{Kind: KindThrow, Time: start + 8, Object: object},
				{Kind: KindClause, Time: start + 9, Sub: 2, Index: 3, Method: method - 64, Object: object + 8},
				{Kind: KindMonitor, Time: start + 10, Sub: MonitorFail, Object: object + 16},
				{Kind: KindHeapObject, Time: start + 11, Object: object + 16, VTable: ptr32 + 1280, Size: 32, Generation: 1, Refs: []Ref{{16, object + 24}}},
				{Kind: KindRootRegister, Time: start + 12, Pointer: ptr32 + 4096, Size: 4096, Sub: 1, Key: ptr32, Name: b("s")},
				{Kind: KindJITHelper, Time: start + 13, Sub: HelperSpecificTrampoline, Code: ptr32 + 256, Size: 16, Name: b("t")},
				{Kind: KindSyncPoint, Time: start + 14, Sub: 1},
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
			if r, err = NewReader(bytes.NewReader(log)); err != nil {
				t.Fatal(err)
			}
			if out := again(t, r); !bytes.Equal(out, log) {
				t.Errorf("written again:\n%s\nbefore:\n%s", hex.Dump(out), hex.Dump(log))
			}
		})
	}
}
