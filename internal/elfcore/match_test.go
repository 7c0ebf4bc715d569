package elfcore

import (
	"debug/elf"
	"maps"
	"testing"
)

func TestMatchThreads_ByNumber(t *testing.T) {
	c := &Core{Machine: elf.EM_X86_64, threads: []Thread{{TID: 10, ThreadPointer: 0x7f001000}, {TID: 11, ThreadPointer: 0x7e002000}, {TID: 12, ThreadPointer: 0x7d004000}, {TID: 13}}}
	for name, x := range map[string]struct {
		ids  []uint64
		want map[uint64]int
	}{
		"as they are":              {[]uint64{0x7d004000, 0x7f001000, 0x5000}, map[uint64]int{0x7d004000: 12, 0x7f001000: 10}},
		"all at one distance":      {[]uint64{0x7d004000 - 0x740, 0x7f001000 - 0x740, 0x7e002000 - 0x740}, map[uint64]int{0x7d004000 - 0x740: 12, 0x7f001000 - 0x740: 10, 0x7e002000 - 0x740: 11}},
		"some, and one that ended": {[]uint64{0x7d004000 - 0x740, 0x7f001000 - 0x740, 0x7c000000}, map[uint64]int{0x7d004000 - 0x740: 12, 0x7f001000 - 0x740: 10}},
		"one proves nothing":       {[]uint64{0x7d004000 - 0x740}, nil},
		"far away":                 {[]uint64{0x7d004000 - 1<<20, 0x7f001000 - 1<<20}, nil},
		"zero":                     {[]uint64{0}, nil},
		"two distances":            {[]uint64{0x7d004000 - 0x10, 0x7f001000 - 0x10, 0x7d004000 - 0x20, 0x7f001000 - 0x20}, nil},
	} {
		if got := c.MatchThreads(x.ids); !maps.Equal(got, x.want) {
			t.Errorf("%s: %v, want %v", name, got, x.want)
		}
	}
}
