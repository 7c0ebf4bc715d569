package testrec

import "math/rand/v2"

// recording returns the perf.data of a made-up program with functions at
// addrs: each sample has a chain of callers, and half of the samples come when all
// is compiled.
func (m Made) recording(dump string, addrs []uint64) *Recording {
	r := NewRecording()
	r.SampleType |= Callchain
	rnd := rand.New(rand.NewPCG(3, 4))
	r.Comm(1, madeStart-3000, "sh", true)
	r.Fork(madePID, 1, madeStart-2000)
	r.Comm(madePID, madeStart-1000, "app", true)
	r.Marker(madePID, madeStart, dump)
	if len(addrs) == 0 {
		return r
	}
	end := m.compiled(2 * len(addrs))
	mapped, ready := madeRegion, 0
	samples := 0
	for t := madeStart + madeSampled; t < end; t += madeSampled {
		for ready < len(addrs) && m.compiled(ready) < t {
			ready++
		}
		for ready < len(addrs) && addrs[ready]+madeChunk/2 > mapped || mapped == madeRegion {
			r.Mmap2(madePID, t-2000, mapped, madeChunk, 0, "//anon")
			mapped += madeChunk
		}
		if hot := ready / madeHot; hot > 0 {
			chain := make([]uint64, 4)
			for i := range chain {
				// The sooner a function is compiled, the hotter it is, as a rule.
				u := rnd.Float64()
				chain[i] = addrs[int(u*u*float64(hot))*madeHot] + 10
			}
			r.Chain(madePID, t, chain...)
			if samples++; samples%1000 == 0 {
				r.Round()
			}
		}
	}
	r.Exit(madePID, madePID, end)
	r.Round()
	return r
}
