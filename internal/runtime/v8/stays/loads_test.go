package stays

import "testing"

// A worker that began after the end of a cut dump has functions of the names, sizes and places of a worker that had ended.
// With the log of that one, both are of the process; without it, the functions of the dump may be its own, at other times.
func TestReconsider_MemoryOfWorkerThatEnded(t *testing.T) {
	const began, next = 1000e6, 5000e6
	worker := func(hi int64) *Log {
		l := &Log{Ends: []uint64{900e6}, Offsets: []Bounds{{0, hi}}}
		for i := range 5 {
			at := uint64(10e6 * (i + 1))
			l.Codes = append(l.Codes, Code{Key: uint64(i), Prompt: true, First: int32(i)})
			l.Stays = append(l.Stays, Stay{Code: int32(i), Addr: 0x100000 + 64*uint64(i), Size: 64, From: at, To: at})
		}
		return l
	}
	for _, c := range []struct {
		name      string
		ended, ok bool
		hi        int64
	}{
		{"with the log of the worker that ended", true, true, next},
		{"without that log", false, false, next},
		{"before the dump's end", true, false, began + 5e6},
	} {
		d := NewLoads()
		first, second := worker(2*next), worker(c.hi)
		for i, s := range first.Stays {
			d.Add(s.Addr, s.Size, first.Codes[i].Key, began+int64(s.From))
		}
		d.Add(0x200000, 64, 99, began+900e6) // of another isolate
		second.Offsets[0].Lo = began + 3e6   // no sample in it is older
		if c.ended {
			d.begin(first)
		}
		d.begin(second)
		d.Reconsider(second)
		if got := !second.Offsets[0].IsEmpty(); got != c.ok {
			t.Errorf("%s: got %v; want possible: %v", c.name, second.Offsets[0], c.ok)
		}
		if c.ok && second.Offsets[0].Lo < began+900e6-10e6-maxWindow {
			t.Errorf("%s: got %v; want a beginning after the dump's end", c.name, second.Offsets[0])
		}
	}
}
