package cfi

import (
	"debug/elf"
	"encoding/binary"
	"testing"

	"github.com/jitinject/jitinject/internal/jitcode"
)

// Whatever bytes are there, rows are in order and in the function, and a Synthesizer
// that was used before gives what a fresh one does.
func FuzzSynthesize(f *testing.F) {
	for _, name := range []string{"node-dwarf", "php-dwarf", "lli-hot"} {
		for _, path := range dumpsBelow(f, recording(f, name)) {
			codes, _ := loads(f, read(f, path))
			for i, code := range codes {
				if (i%100 == 0 || len(codes) < 100) && len(code) < 2000 {
					f.Add(code, int64(0), false)
					f.Add(code, int64(160), true)
				}
			}
		}
	}
	f.Add(arm64Sample, int64(0), false)
	var used Synthesizer
	f.Fuzz(func(t *testing.T, code []byte, cfa int64, shared bool) {
		for _, machine := range []elf.Machine{elf.EM_X86_64, elf.EM_AARCH64} {
			target := jitcode.Target{Machine: uint32(machine), Order: binary.LittleEndian}
			Targets(target, code, func(to int64) {
				if to >= 0 && to < int64(len(code)) {
					t.Fatalf("target %#x is in %d bytes of code", to, len(code))
				}
			})
			var entry *Entry
			if cfa != 0 {
				_, row := CIE(target)
				row.CFA.Offset = cfa
				entry = &Entry{Row: row, Shared: shared}
			}
			var fresh Synthesizer
			want := fresh.Synthesize(target, code, entry)
			got := used.Synthesize(target, code, entry)
			if len(got.Rows) != len(want.Rows) {
				t.Fatalf("%d rows, then %d", len(want.Rows), len(got.Rows))
			}
			for i, row := range got.Rows {
				if row.Offset >= uint64(len(code)) || i > 0 && row.Offset <= got.Rows[i-1].Offset || !same(row, want.Rows[i]) {
					t.Fatalf("row %d is %+v, then %+v", i, want.Rows[i], row)
				}
				for j, s := range row.Saved {
					if j > 0 && s.Reg <= row.Saved[j-1].Reg {
						t.Fatalf("registers are not in order: %+v", row)
					}
				}
			}
		}
	})
}

func same(a, b jitcode.FrameRow) bool {
	if len(a.Saved) != len(b.Saved) {
		return false
	}
	for i := range a.Saved {
		if a.Saved[i] != b.Saved[i] {
			return false
		}
	}
	return a.Offset == b.Offset && a.Known == b.Known && a.CFA == b.CFA
}
