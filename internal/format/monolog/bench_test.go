package monolog_test

import (
	"bytes"
	"io"
	"testing"

	"github.com/jitinject/jitinject/internal/format/monolog"
	"github.com/jitinject/jitinject/internal/format/monolog/monogen"
)

// callsLog returns a log of about n bytes as Mono's calls mode writes it: methods that
// enter and leave in several threads, with some other events in between.
func callsLog(tb testing.TB, n int) []byte {
	tb.Helper()
	var out bytes.Buffer
	out.Grow(n + 1<<20)
	w, err := monogen.NewWriter(&out, &monolog.Header{Major: 3, Version: 17, PtrSize: 8})
	if err != nil {
		tb.Fatal(err)
	}
	writeCalls(tb, w, func() bool { return out.Len() < n })
	return out.Bytes()
}

// writeCalls writes buffers of calls as long as it is told to.
func writeCalls(tb testing.TB, w *monogen.Writer, more func() bool) {
	const base = 0x7f0000001000
	now, seed := uint64(1e12), uint32(1)
	name := []byte("System.Collections.Generic.Dictionary`2<string, object>:TryGetValue (string,object&)")
	for b := uint64(0); more(); b++ {
		if err := w.Buffer(monolog.BufferHeader{Time: now, PtrBase: base, ObjBase: base >> 3, Thread: base + b%4*4096, MethodBase: base}); err != nil {
			tb.Fatal(err)
		}
		var stack []uint64
		for i := range 4000 {
			seed = seed*1664525 + 1013904223
			now += uint64(seed>>20) % 500
			e := monolog.Event{Kind: monolog.KindEnter, Time: now, Method: base + uint64(seed>>16)%64*160}
			switch {
			case i%1000 == 0:
				e = monolog.Event{Kind: monolog.KindJIT, Time: now, Method: e.Method, Code: base + uint64(i)*64, Size: 100, Name: name}
			case seed>>30 < 2 && len(stack) > 0:
				e.Kind, e.Method = monolog.KindLeave, stack[len(stack)-1]
				stack = stack[:len(stack)-1]
			default:
				stack = append(stack, e.Method)
			}
			if err := w.Event(&e); err != nil {
				tb.Fatal(err)
			}
		}
	}
	if err := w.Flush(); err != nil {
		tb.Fatal(err)
	}
}

// walk reads a whole log and returns how many events it has.
func walk(tb testing.TB, src io.Reader) (events int) {
	tb.Helper()
	r, err := monolog.NewReader(src)
	if err != nil {
		tb.Fatal(err)
	}
	for {
		if _, err := r.NextBuffer(); err == io.EOF {
			return events
		} else if err != nil {
			tb.Fatal(err)
		}
		for {
			if _, err := r.Next(); err == io.EOF {
				break
			} else if err != nil {
				tb.Fatal(err)
			}
			events++
		}
	}
}

func BenchmarkCalls(b *testing.B) {
	log := callsLog(b, 16<<20)
	b.SetBytes(int64(len(log)))
	b.ReportAllocs()
	for b.Loop() {
		b.ReportMetric(float64(walk(b, bytes.NewReader(log))), "events/op")
	}
}
