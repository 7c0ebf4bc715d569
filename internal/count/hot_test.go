package count

import (
	"path/filepath"
	"testing"

	"github.com/jitinject/jitinject/internal/config"
	"github.com/jitinject/jitinject/internal/model"
	"github.com/jitinject/jitinject/internal/recording"
	"github.com/jitinject/jitinject/internal/testrec"
)

// Beyond maxHot addresses, samples still count for their functions.
func TestHotCounts_ManyAddresses(t *testing.T) {
	var c hotCounts
	f, other := functionID{0, 1}, functionID{1, 1}
	counter := new(int64)
	for i := range uint32(maxHot) {
		c.at(spot{counter, f, i}, 0).Add(recording.Weight{Samples: 1, Period: 2})
	}
	if c.over || len(c.addresses) != maxHot {
		t.Fatalf("got %d addresses, over %v; want %d, false", len(c.addresses), c.over, maxHot)
	}
	c.events = []recording.Weight{{}, {}}
	for i := range uint32(1000) {
		c.at(spot{counter, f, maxHot + i}, 0).Add(recording.Weight{Samples: 1, Period: 2})
		c.at(spot{counter, f, i}, 0).Add(recording.Weight{Samples: 1, Period: 2})
		c.at(spot{counter, other, i}, 0).Add(recording.Weight{Samples: 3, Period: 1})
		c.at(spot{counter, other, i}, 1).Add(recording.Weight{Samples: 500, Period: 1})
	}
	if c.at(spot{counter, nowhere, 0}, 0) != nil {
		t.Errorf("got a weight of samples in no function; want none")
	}
	in := c.functions(0)
	if want := (recording.Weight{Samples: maxHot + 2000, Period: 2 * (maxHot + 2000)}); in[f] != want {
		t.Errorf("got %+v; want %+v", in[f], want)
	}
	if want := (recording.Weight{Samples: 3000, Period: 1000}); in[other] != want {
		t.Errorf("got %+v; want %+v", in[other], want)
	}
	if !c.over || len(c.addresses) != maxHot+3 {
		t.Errorf("got %d addresses, over %v; want %d, true", len(c.addresses), c.over, maxHot+3)
	}
	if attr, _ := c.mainAttr(); attr != 1 {
		t.Errorf("got event %d; want 1, with more samples in functions", attr)
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
		p := &model.Plan{Objects: []model.Object{{Dump: d, Function: 0}, {Dump: d, Function: 1}}}
		for i := range 2 {
			p.Mappings = append(p.Mappings, model.Mapping{PID: 7, Time: 1000 + 2000*uint64(i), Addr: base, Len: 64, Object: int32(i)})
		}
		counter := Of(s, p)
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
