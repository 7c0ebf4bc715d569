package count

import (
	"path/filepath"
	"testing"

	"github.com/jitinject/jitinject/internal/config"
	"github.com/jitinject/jitinject/internal/model"
	"github.com/jitinject/jitinject/internal/recording"
	"github.com/jitinject/jitinject/internal/testrec"
)

// Beyond maxHot addresses, those of the functions with the fewest samples are given up, and no sample is
// lost.
func TestHotCounts_ManyAddresses(t *testing.T) {
	var c hotCounts
	hot, warm, cold := functionID{0, 1}, functionID{1, 1}, functionID{0, 2}
	counter := new(int64)
	add := func(f functionID, offset uint32, attr int, samples int64) (moved bool) {
		w, moved := c.at(spot{counter, f, offset}, attr)
		w.Add(recording.Weight{Samples: samples, Period: 2 * uint64(samples)})
		return moved
	}
	c.events = []recording.Weight{{}, {}}
	for i := range uint32(maxHot) {
		f := []functionID{hot, warm, cold, cold}[i%4]
		if add(f, i, 0, map[functionID]int64{hot: 9, warm: 5, cold: 1}[f]) {
			t.Fatalf("address %d: got a full table; want %d in it", i, maxHot)
		}
	}
	if !add(hot, maxHot, 0, 9) || len(c.addresses) != maxHot/2+1 || len(c.cold) != 1 {
		t.Fatalf("got %d addresses, %d cold functions; want %d, 1", len(c.addresses), len(c.cold), maxHot/2+1)
	}
	for i := range uint32(1000) {
		add(cold, i, 0, 1)
		add(hot, 4*i, 0, 9)
		add(warm, 4*i+1, 1, 1000)
	}
	if w, _ := c.at(spot{counter, nowhere, 0}, 0); w != nil {
		t.Errorf("got a weight of samples in no function; want none")
	}
	in := c.functions(0)
	for f, samples := range map[functionID]int64{hot: 9 * (maxHot/4 + 1001), warm: 5 * maxHot / 4, cold: maxHot/2 + 1000} {
		if want := (recording.Weight{Samples: samples, Period: 2 * uint64(samples)}); in[f] != want {
			t.Errorf("function %+v: got %+v; want %+v", f, in[f], want)
		}
	}
	if want := (hotAddress{hotFunctionOf(hot, 0), 4}); c.addresses[want].Samples != 18 || c.cold[hotFunctionOf(cold, 0)] == nil {
		t.Errorf("got %+v at an address of a hot function, cold functions %+v; want 18 samples, and the cold one", c.addresses[want], c.cold)
	}
	if attr, _ := c.mainAttr(); attr != 1 {
		t.Errorf("got event %d; want 1, with more samples in functions", attr)
	}
}

// A number has all parts of a function.
func TestHotFunction_Parts(t *testing.T) {
	for _, f := range []functionID{{0, 0}, {1<<21 - 1, 1<<31 - 1}, {3, 5}} {
		for _, attr := range []int{0, 1, recording.MaxAttr} {
			if h := hotFunctionOf(f, attr); h.id() != f || h.attr() != attr {
				t.Errorf("got %+v, %d; want %+v, %d", h.id(), h.attr(), f, attr)
			}
		}
	}
}

// One function with more than maxHot addresses is cold, too.
func TestHotCounts_LargeFunction(t *testing.T) {
	var c hotCounts
	f := functionID{0, 1}
	c.events = []recording.Weight{{}}
	for i := range uint32(3 * maxHot) {
		w, _ := c.at(spot{nil, f, i}, 0)
		w.Add(recording.Weight{Samples: 1})
	}
	if len(c.addresses) != 0 || c.functions(0)[f].Samples != 3*maxHot {
		t.Errorf("got %d addresses, %d samples; want none, %d", len(c.addresses), c.functions(0)[f].Samples, 3*maxHot)
	}
}

// Samples at an address of two functions do not make the histogram useless if they are few: the counts of
// functions lack them then, and no other does.
func TestTake_DoubtfulAddresses(t *testing.T) {
	const base = 1 << 20
	for _, c := range []struct {
		others int
		enough bool
	}{{maxDoubt - 3, false}, {2*maxDoubt - 2, true}, {10 * maxDoubt, true}} {
		rec := testrec.NewRecording()
		rec.Sample(7, 2000, base+8) // in the first function
		rec.Sample(7, 4000, base+8) // in the second
		for range c.others {
			rec.Sample(7, 4000, base+16)
		}
		path := filepath.Join(t.TempDir(), "perf.data")
		rec.Write(t, path)
		in, err := recording.Open(&config.Options{Input: path})
		if err != nil {
			t.Fatal(err)
		}
		defer in.Close()
		s, err := recording.Survey(t.Context(), in, true)
		if err != nil {
			t.Fatal(err)
		}
		d := &model.Dump{Markers: []recording.Marker{{PID: 7, Time: 500}}}
		p := &model.Functions{List: []model.Function{{Dump: d, Number: 0}, {Dump: d, Number: 1}}}
		for i := range 2 {
			p.Mappings = append(p.Mappings, model.Mapping{PID: 7, Time: 1000 + 2000*uint64(i), Addr: base, Len: 64, Object: int32(i)})
		}
		counter := Of(s, *p)
		counter.prepare([]*model.Dump{d})
		if got := counter.take(s.Histogram); got != c.enough {
			t.Fatalf("%d other samples: got %v; want %v", c.others, got, c.enough)
		}
		total, first, second := int64(c.others+2), int64(0), int64(c.others)
		if !c.enough {
			total, first, second = 0, 0, 0
		}
		inFunctions := counter.hot.functions(0)
		if counter.Total != total || counter.dumps[0].resolved != total || inFunctions[functionID{0, 0}].Samples != first || inFunctions[functionID{0, 1}].Samples != second {
			t.Errorf("%d other samples: got %d in all, %d in functions, of these %+v; want %d, %d, %d in the first, %d in the second", c.others, counter.Total, counter.dumps[0].resolved, inFunctions, total, total, first, second)
		}
	}
}
