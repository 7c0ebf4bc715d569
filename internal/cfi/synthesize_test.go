package cfi

import (
	"debug/elf"
	"encoding/binary"
	"testing"

	"github.com/jitinject/jitinject/internal/jitcode"
)

var amd64 = jitcode.Target{Machine: uint32(elf.EM_X86_64), Order: binary.LittleEndian}

// What share of the code of the recordings has rows that know something.
func TestRecordings(t *testing.T) {
	var s Synthesizer
	eachDump(t, func(t testing.TB, name string, codes [][]byte, names []string) {
		var known, all, functions, returns, jumps, popped, rows, none uint64
		for _, code := range codes {
			r := s.Synthesize(amd64, code, nil)
			functions++
			all += uint64(len(code))
			rows += uint64(len(r.Rows))
			if r.Returns {
				returns++
			} else if r.Jumps {
				jumps++
			}
			if r.Popped > 0 {
				popped++
			}
			if len(r.Rows) == 0 {
				none++
			}
			for j, row := range r.Rows {
				end := uint64(len(code))
				if j+1 < len(r.Rows) {
					end = r.Rows[j+1].Offset
				}
				if end <= row.Offset {
					t.Fatalf("rows at %d and %d of %d", row.Offset, end, len(code))
				}
				if row.Known {
					known += end - row.Offset
				}
			}
		}
		t.Logf("%s: %d functions, %d return, %d only jump, %d pop, %d have no rows; rows for %.1f%% of %d bytes, %d rows", name, functions, returns, jumps, popped, none, 100*float64(known)/float64(all), all, rows)
	})
}

func BenchmarkErlang(b *testing.B) {
	var codes [][]byte
	for _, path := range dumpsBelow(b, recording(b, "erlang")) {
		codes, _ = loads(b, read(b, path))
	}
	var s Synthesizer
	size := 0
	for _, c := range codes {
		size += len(c)
	}
	b.SetBytes(int64(size))
	b.ReportAllocs()
	for b.Loop() {
		for _, c := range codes {
			s.Synthesize(amd64, c, nil)
		}
	}
}
