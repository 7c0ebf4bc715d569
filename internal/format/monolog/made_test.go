package monolog

import "math"

const (
	madePtr    = 0x10000000 // bases; they fit in 4 bytes, too
	madeMethod = 0x20000000
	madeObj    = 0x30000000
)

// madeHeader returns a header with all that a version has.
func madeHeader(version, ptrSize uint8) *Header {
	h := &Header{Version: version, PtrSize: ptrSize, Startup: 1289149508000, TimerOverhead: 21, PID: 1234, Port: 4321, SysID: 7}
	h.Major, h.Minor = monoVersion(version)
	if h.Major >= 1 {
		h.SysID, h.Args, h.Arch, h.OS = 0, "log:calls", "x86-64", "linux"
	}
	if h.Major >= 3 {
		h.StartupTime = 1e12
	}
	return h
}

// madeEvents returns events of all kinds that a version has, with fields as a
// reader sets them, but for Offset and Length.
func madeEvents(v uint8) []Event {
	var es []Event
	now := uint64(1e12)
	add := func(e Event) {
		since, until := kindVersions(e.Kind)
		if v < since || v > until {
			return
		}
		now += 1000 + uint64(len(es))*7
		if e.Time = now; v < 13 {
			switch e.Kind {
			case KindHeapObject, KindHeapRoots, KindSymbol, KindCounterDescs, KindCounters,
				KindCoverageAssembly, KindCoverageMethod, KindCoverageStatement, KindCoverageClass:
				now = last(es) // they have none
				e.Time = now
			case KindSampleHit:
				now = last(es)
				e.Time = 1e12 + 12345
			}
		}
		es = append(es, e)
	}
	class := func(e Event) Event {
		if v >= 15 {
			e.VTable = madePtr + 0x500
		} else {
			e.Class = madePtr + 0x100
		}
		return e
	}
	image := func(e Event, since uint8) Event {
		if v >= since {
			e.Image = madePtr + 0x80
		}
		return e
	}
	frames := []uint64{madeMethod + 0x40, madeMethod - 0x80, madeMethod}
	if v < 13 {
		frames = []uint64{madePtr + 0x40, madePtr - 0x80, madePtr}
	}

	// What others refer to comes first.
	add(image(Event{Kind: KindClass, Load: LoadEnd, Pointer: madePtr + 0x100, Name: []byte("Some.Class")}, 1))
	add(Event{Kind: KindVTable, Load: LoadEnd, Pointer: madePtr + 0x500, Domain: madePtr, Class: madePtr + 0x100})
	add(Event{Kind: KindJIT, Method: madeMethod, Code: madePtr + 0x7000, Size: 100, Name: []byte("Some.Class:Method (int)")})
	add(Event{Kind: KindJIT, Method: madeMethod + 0x40, Code: 0, Size: 0, Name: []byte("Some.Class:Ünsized ()")})
	add(Event{Kind: KindJIT, Method: madeMethod - 0x80, Code: madePtr - 0x7000, Size: 0x7fffffff, Name: nil})

	add(class(Event{Kind: KindAlloc, Object: madeObj, Size: 24}))
	add(class(Event{Kind: KindAlloc, Info: exAllocBacktrace, Object: madeObj - 800, Size: 1 << 20, Frames: frames}))
	add(class(Event{Kind: KindAlloc, Info: exAllocBacktrace, Object: madeObj + 8, Size: 8}))
	add(Event{Kind: KindGCEvent, Info: exGCEvent, Sub: 0, Generation: 1})
	add(Event{Kind: KindGCEvent, Info: exGCEvent, Sub: 5, Generation: 1})
	add(Event{Kind: KindGCResize, Size: 1 << 33})
	add(Event{Kind: KindGCMove, Moves: []Move{{madeObj, madeObj + 64}, {madeObj + 64, madeObj - 64}}})
	add(Event{Kind: KindGCMove})
	add(Event{Kind: KindHandleCreated, Sub: 2, Handle: 17, Object: madeObj + 16})
	add(Event{Kind: KindHandleDestroyed, Sub: 3, Handle: 9})
	if v >= 11 {
		add(Event{Kind: KindHandleCreated, Info: exHandleCreatedBT, Sub: 0, Handle: 1, Object: madeObj, Frames: frames})
		add(Event{Kind: KindHandleDestroyed, Info: exHandleDestroyedBT, Sub: 1, Handle: 2, Frames: frames})
	}
	add(Event{Kind: KindFinalizeStart})
	add(Event{Kind: KindFinalizeObjectStart, Object: madeObj})
	add(Event{Kind: KindFinalizeObjectEnd, Object: madeObj})
	add(Event{Kind: KindFinalizeEnd})

	mvid := Event{Kind: KindImage, Load: LoadEnd, Pointer: madePtr + 0x80, Name: []byte("/some/image.exe")}
	if v >= 16 {
		mvid.MVID = []byte("01234567-89AB-CDEF-0123-456789ABCDEF")
	}
	add(mvid)
	add(Event{Kind: KindThread, Load: LoadName, Pointer: madePtr + 0x900, Name: []byte("worker")})
	if v >= 11 {
		add(image(Event{Kind: KindAssembly, Load: LoadEnd, Pointer: madePtr + 0x90, Name: []byte("image, Version=1")}, 14))
		add(Event{Kind: KindDomain, Load: LoadEnd, Pointer: madePtr + 1})
		add(Event{Kind: KindDomain, Load: LoadName, Pointer: madePtr + 1, Name: []byte("domain")})
		add(Event{Kind: KindDomain, Load: UnloadEnd, Pointer: madePtr + 1})
		add(Event{Kind: KindThread, Load: LoadEnd, Pointer: madePtr + 0x900})
		add(Event{Kind: KindThread, Load: UnloadEnd, Pointer: madePtr + 0x900})
		add(Event{Kind: KindContext, Load: LoadEnd, Pointer: madePtr + 2, Domain: madePtr + 1})
	}

	add(Event{Kind: KindEnter, Method: madeMethod + 0x40})
	add(Event{Kind: KindEnter, Method: madeMethod})
	add(Event{Kind: KindExcLeave, Method: madeMethod})
	add(Event{Kind: KindLeave, Method: madeMethod + 0x40})
	add(Event{Kind: KindThrow, Object: madeObj})
	add(Event{Kind: KindThrow, Info: Backtrace, Object: madeObj, Frames: frames})
	clause := Event{Kind: KindClause, Sub: 2, Index: 3, Method: madeMethod}
	if v >= 14 {
		clause.Object = madeObj
	}
	add(clause)
	add(Event{Kind: KindMonitor, Sub: MonitorContention, Object: madeObj})
	add(Event{Kind: KindMonitor, Info: Backtrace, Sub: MonitorContention, Object: madeObj, Frames: frames})
	add(Event{Kind: KindMonitor, Sub: MonitorDone, Object: madeObj})
	add(Event{Kind: KindMonitor, Sub: MonitorFail, Object: madeObj})
	if v >= 14 {
		add(Event{Kind: KindMonitor, Info: Backtrace, Sub: MonitorFail, Object: madeObj, Frames: frames})
	}

	add(Event{Kind: KindHeapStart})
	refs := []Ref{{16, madeObj + 24}, {24, madeObj - 24}}
	if v < 2 {
		refs = []Ref{{0, madeObj + 24}, {0, madeObj - 24}}
	}
	object := class(Event{Kind: KindHeapObject, Object: madeObj, Size: 32, Refs: refs})
	if v >= 16 {
		object.Generation = 1
	}
	add(object)
	if v >= 15 {
		add(Event{Kind: KindHeapRoots, Roots: []Root{{Address: madePtr + 0x1000, Object: madeObj}, {Address: madePtr, Object: madeObj + 8}}})
	} else {
		add(Event{Kind: KindHeapRoots, Collection: 5, Roots: []Root{{Object: madeObj, Type: 1, Extra: 77}, {Object: madeObj + 8, Type: 4}}})
	}
	add(Event{Kind: KindHeapEnd})
	add(Event{Kind: KindRootRegister, Pointer: madePtr + 0x2000, Size: 4096, Sub: 1, Key: madePtr, Name: []byte("Thread Stack")})
	add(Event{Kind: KindRootUnregister, Pointer: madePtr + 0x2000})

	hit := Event{Kind: KindSampleHit, IPs: []uint64{madePtr + 0x7010}}
	if v < 14 {
		hit.Sub = 1
	}
	if v >= 11 {
		hit.Thread = madePtr + 0x900
	}
	if v >= 6 {
		hit.Frames = []uint64{madeMethod, madeMethod + 0x40}
		if v < 13 {
			hit.FrameOffsets = []FrameOffset{{0, 16}, {-1, 1 << 40}}
		}
	}
	add(hit)
	add(Event{Kind: KindSymbol, Pointer: madePtr + 0x10000, Size: 64, Name: []byte("some_symbol")})
	add(Event{Kind: KindBinary, Pointer: madePtr + 0x20000, FileOffset: 0x1000, Size: 0x2000, Name: []byte("/lib/some.so")})
	add(Event{Kind: KindCounterDescs, CounterDescs: []CounterDesc{
		{Section: 1 << 8, Name: []byte("Methods"), Type: CounterInt, Unit: 3, Variance: 1, Index: 1},
		{Section: counterPerfSection, SectionName: []byte("Processor"), Name: []byte("% Time"), Type: CounterDouble, Variance: 4, Index: 2},
	}})
	counters := Event{Kind: KindCounters, Counters: []Counter{
		{Index: 1, Type: CounterInt, Value: ^uint64(4)},
		{Index: 2, Type: CounterDouble, Value: math.Float64bits(0.5)},
		{Index: 3, Type: CounterString, Text: []byte("text")},
		{Index: 4, Type: CounterString},
		{Index: 5, Type: CounterUlong, Value: 1 << 63},
		{Index: 6, Type: CounterLong, Value: 1 << 63},
		{Index: 7, Type: CounterUint, Value: 3}, {Index: 8, Type: CounterWord, Value: 3}, {Index: 9, Type: CounterTimeInterval, Value: 3},
	}}
	if v < 13 {
		counters.Elapsed = 1000
	}
	add(counters)

	add(Event{Kind: KindJITHelper, Sub: HelperMethodTrampoline, Code: madePtr + 0x8000, Size: 32})
	add(Event{Kind: KindJITHelper, Sub: HelperSpecificTrampoline, Code: madePtr + 0x8020, Size: 48, Name: []byte("generic_trampoline_jit")})
	add(Event{Kind: KindJITHelper, Sub: HelperExceptionHandling, Code: madePtr + 0x8050, Size: 8})
	if v < 14 {
		add(Event{Kind: KindJITHelper, Sub: HelperUnknown, Code: madePtr + 0x8058, Size: 8})
	}
	texts := func(s ...string) (b [][]byte) {
		for _, s := range s {
			b = append(b, []byte(s))
		}
		return b
	}
	add(Event{Kind: KindCoverageAssembly, Texts: texts("assembly", "guid", "file"), Numbers: []uint64{3, 2, 1}})
	add(Event{Kind: KindCoverageMethod, Texts: texts("assembly", "class", "name", "()", "file.cs"), Numbers: []uint64{0x6000001, 1, 2}})
	add(Event{Kind: KindCoverageStatement, Numbers: []uint64{1, 2, 3, 4, 5}})
	add(Event{Kind: KindCoverageClass, Texts: texts("assembly", "class"), Numbers: []uint64{3, 2, 1}})
	add(Event{Kind: KindSyncPoint, Sub: 1})
	add(Event{Kind: KindAOTID, Name: []byte("0123456789ABCDEF")})

	// A clock that goes backwards, and the most that numbers can be.
	now -= 50000
	add(Event{Kind: KindGCResize, Size: math.MaxUint64})
	return es
}

// last returns the time that the reader has summed up at the end of es.
func last(es []Event) uint64 {
	for i := len(es) - 1; i >= 0; i-- {
		if es[i].Kind != KindSampleHit || es[i].Time != 1e12+12345 {
			return es[i].Time
		}
	}
	return 1e12
}
