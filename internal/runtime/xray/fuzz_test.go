package xray

import (
	"bytes"
	"context"
	"encoding/binary"
	"testing"

	"github.com/jitinject/jitinject/internal/calls"
	"github.com/jitinject/jitinject/internal/format/xrayfdr"
	"github.com/jitinject/jitinject/internal/format/xrayfdr/xraygen"
)

// Whatever a trace holds, its threads come to their ends, times go on, and what is counted
// fits together.
func FuzzXRay(f *testing.F) {
	for _, order := range []binary.ByteOrder{binary.LittleEndian, binary.BigEndian} {
		var b bytes.Buffer
		w, err := xraygen.NewWriter(&b, &xrayfdr.Header{Order: order, Version: xrayfdr.Version, CycleFrequency: 2_000_000_000, BufferSize: 256})
		if err != nil {
			f.Fatal(err)
		}
		for i := range uint64(3) {
			w.Begin(&xrayfdr.Block{TID: uint32(i % 2), PID: 7, TSC: 1000 * i, Seconds: 100, Microseconds: uint32(i)})
			w.Function(xrayfdr.Enter, 1, 1000*i+100)
			w.Function(xrayfdr.EnterArgs, 2, 1000*i+100)
			w.Argument(i)
			w.CustomEvent(1000*i+150, []byte("said"))
			w.Function(xrayfdr.TailExit, 2, 1000*i+200)
			w.Function(xrayfdr.Exit, 1, 1000*i+300)
		}
		if err := w.End(); err != nil {
			f.Fatal(err)
		}
		f.Add(b.Bytes())
	}
	f.Fuzz(func(t *testing.T, file []byte) {
		x, err := ReadLog(bytes.NewReader(file), int64(len(file)))
		if err != nil {
			return
		}
		world := noForks()
		world.Forks = func(pid uint32) []fork { return []fork{{pid + 1, 100_000_001_000}} }
		if _, err := Share([]*Log{x}, world); err != nil {
			t.Fatal(err)
		}
		for _, p := range x.Processes {
			p.Began()
			trace := p.Trace(Place{Function: func(id uint32) (uint64, bool) { return uint64(id), id < 100 }})
			threads, err := trace.Threads(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			m := calls.NewMerger(threads)
			last, exclusive := uint64(0), uint64(0)
			for {
				e, err := m.Next()
				if err != nil {
					break
				}
				if e.Time < last {
					t.Fatalf("%d after %d", e.Time, last)
				}
				last = e.Time
				exclusive += e.Exclusive
			}
			if c := m.Counts(); c.Traced != exclusive || c.Calls > int64(len(file)/8) {
				t.Fatalf("%d ns in calls, %+v, of %d bytes", exclusive, c, len(file))
			}
			trace.Problems()
		}
	})
}
