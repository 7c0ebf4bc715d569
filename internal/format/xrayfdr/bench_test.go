package xrayfdr

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"testing"
)

// calls writes a trace of n function records in buffers of 16 KiB, as LLVM 14
// does.
func calls(t testing.TB, n int) []byte {
	t.Helper()
	var out bytes.Buffer
	w, err := newWriter(&out, &Header{Order: binary.LittleEndian, Version: Version, CycleFrequency: 2e9, BufferSize: 16 << 10})
	if err != nil {
		t.Fatal(err)
	}
	tsc := uint64(1 << 40)
	begin := func() error { return w.Begin(&Block{TID: 1, PID: 1, TSC: tsc}) }
	err = begin()
	for i := 0; i < n && err == nil; i++ {
		tsc += 50
		if err = w.Function(Kind(i%2), uint32(i/2%1000+1), tsc); i%2000 == 1999 {
			err = begin()
		}
	}
	if err = errors.Join(err, w.End()); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func BenchmarkReader(b *testing.B) {
	const n = 1_000_000
	file := calls(b, n)
	b.SetBytes(int64(len(file)))
	b.ReportAllocs()
	for b.Loop() {
		r, err := NewReader(bytes.NewReader(file), int64(len(file)))
		if err != nil {
			b.Fatal(err)
		}
		records := 0
		for {
			if _, err := r.NextBlock(); err == io.EOF {
				break
			} else if err != nil {
				b.Fatal(err)
			}
			for {
				if _, err := r.Next(); err != nil {
					break
				}
				records++
			}
		}
		if records < n {
			b.Fatalf("%d records", records)
		}
	}
	b.ReportMetric(float64(n)*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mrecords/s")
}
