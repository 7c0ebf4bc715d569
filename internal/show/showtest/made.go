package showtest

import (
	"bytes"
	"encoding/binary"
	"testing"

	"github.com/jitinject/jitinject/internal/format/monolog"
	"github.com/jitinject/jitinject/internal/format/monolog/monogen"
	"github.com/jitinject/jitinject/internal/format/xrayfdr"
	"github.com/jitinject/jitinject/internal/format/xrayfdr/xraygen"
)

// MonoLog returns a log of some version with an event of each of many kinds.
func MonoLog(t testing.TB, version uint8) []byte {
	t.Helper()
	var b bytes.Buffer
	h := monolog.Header{Version: version, PtrSize: 8, Startup: 1700000000000, StartupTime: 2_000_000_000, PID: 17, Args: "log:\"jit\"\n", Arch: "x86-64", OS: "linux"}
	h.Major, h.Minor = monogen.MonoVersion(version)
	w, err := monogen.NewWriter(&b, &h)
	if err != nil {
		t.Fatal(err)
	}
	time := uint64(2_000_001_000)
	event := func(kind monolog.Kind, set func(e *monolog.Event)) {
		time += 1000
		e := monolog.Event{Kind: kind, Time: time}
		set(&e)
		if err := w.Event(&e); err != nil {
			t.Fatal(err)
		}
	}
	buffer := func(thread uint64) {
		if err := w.Buffer(monolog.BufferHeader{Time: time, PtrBase: 0x7f0000001000, ObjBase: 0x7f0000800000 >> 3, Thread: thread, MethodBase: 0x5000}); err != nil {
			t.Fatal(err)
		}
	}
	buffer(0x7f00000fe6c0)
	event(monolog.KindClass, func(e *monolog.Event) {
		e.Load, e.Pointer, e.Image, e.Name = monolog.LoadEnd, 0x6000, 0x6100, []byte("Node<T>")
	})
	if version >= 15 {
		event(monolog.KindVTable, func(e *monolog.Event) { e.Load, e.Pointer, e.Class = monolog.LoadEnd, 0x6200, 0x6000 })
	}
	event(monolog.KindJIT, func(e *monolog.Event) {
		e.Method, e.Code, e.Size, e.Name = 0x5000, 0x7f0000001000, 48, []byte("Demo:Leaf (int)")
	})
	event(monolog.KindJIT, func(e *monolog.Event) {
		e.Method, e.Code, e.Size, e.Name = 0x5100, 0x7f0000001100, 48, []byte("Demo:\x1b[31m\xff ()")
	})
	event(monolog.KindEnter, func(e *monolog.Event) { e.Method = 0x5000 })
	event(monolog.KindLeave, func(e *monolog.Event) { e.Method = 0x5000 })
	w.Raw([]byte{0x21, 0, 0x80, 0x20}) // gc resize, which says nothing about code
	buffer(0x7f00000ff6c0)
	event(monolog.KindThread, func(e *monolog.Event) {
		e.Pointer, e.Name = 0x7f00000ff6c0, []byte("Main")
	})
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// XRayTrace returns a trace of some version with all that can be in it.
func XRayTrace(t testing.TB, order binary.ByteOrder) []byte {
	t.Helper()
	var b bytes.Buffer
	w, err := xraygen.NewWriter(&b, &xrayfdr.Header{Order: order, Version: xrayfdr.Version, ConstantTSC: true, NonstopTSC: true, CycleFrequency: 2_000_000_000, BufferSize: 512})
	must := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	must(err)
	must(w.Begin(&xrayfdr.Block{TID: 18, PID: 17, Seconds: 5, Microseconds: 1, CPU: 3, TSC: 1_000_000}))
	must(w.Function(xrayfdr.EnterArgs, 1, 1_000_000))
	must(w.Argument(42))
	must(w.CustomEvent(1_000_100, []byte("plain text")))
	must(w.TypedEvent(7, 1_000_200, []byte("\x1b[31m")))
	must(w.Function(xrayfdr.Enter, 2, 1_000_400))
	must(w.Function(xrayfdr.TailExit, 2, 1_000_800))
	must(w.CPU(4, 1_001_000))
	must(w.Function(xrayfdr.Exit, 1, 1_002_000))
	must(w.Begin(&xrayfdr.Block{TID: 19, PID: 17, Seconds: 5, Microseconds: 3, CPU: 1, TSC: 1_004_000}))
	must(w.Function(xrayfdr.Enter, 2, 1_004_000))
	must(w.Function(xrayfdr.Enter, 3, 1_005_000))
	must(w.Function(xrayfdr.Exit, 2, 5_000_000_000))
	must(w.End())
	return b.Bytes()
}
