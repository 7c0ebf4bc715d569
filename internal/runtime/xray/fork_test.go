package xray

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/internal/calls"
	"github.com/jitinject/jitinject/internal/format/xrayfdr"
	"github.com/jitinject/jitinject/internal/format/xrayfdr/xraygen"
	"github.com/jitinject/jitinject/internal/testrec"
)

// noForks is a recording that tells of no process.
func noForks() *world {
	return &world{
		Forks: func(uint32) []fork { return nil },
		Exit:  func(uint32) uint64 { return math.MaxUint64 },
	}
}

// Process 7 calls function 1 at 1000 and 1010, and 8 is forked from it at 1500, or 9 at 1600.
// What either does later is in a copy of the same buffer, and in no other order of the
// traces anything else comes of it.
func TestShareXRay_ForkedBuffers(t *testing.T) {
	h := &xrayfdr.Header{Order: binary.LittleEndian, Version: 5, CycleFrequency: 1e9, BufferSize: 4096}
	type buffer struct {
		pid   uint32
		count uint64
		calls []uint64 // when, each of the function of its hundred
	}
	shared := []uint64{1000, 1010}
	open := func(later ...uint64) buffer { return buffer{7, 1000, append(slices.Clone(shared), later...)} }
	for _, test := range []struct {
		name   string
		traces [][]buffer
		ends   map[uint32]uint64
		forks  []fork
		want   string
		say    string
	}{
		{name: "no fork", traces: [][]buffer{{open(2000)}}, want: "7: 1000 1010 2000"},
		{name: "the same twice", traces: [][]buffer{{open(2000)}, {open(2000)}}, want: "7: 1000 1010 2000"},
		{name: "the child ends first", traces: [][]buffer{{open(3000, 3010)}, {open(2000, 2010, 2020)}}, ends: map[uint32]uint64{8: 2500, 7: 4000},
			forks: []fork{{8, 1500}}, want: "7: 1000 1010 3000 3010, 8: 2000 2010 2020"},
		{name: "the parent ends first", traces: [][]buffer{{open(2000)}, {open(2001, 3000)}}, ends: map[uint32]uint64{8: 4000, 7: 2500},
			forks: []fork{{8, 1500}}, want: "7: 1000 1010 2000, 8: 2001 3000"},
		{name: "side by side", traces: [][]buffer{{open(2000, 2010)}, {open(2001)}}, ends: map[uint32]uint64{8: 4000, 7: 4000},
			forks: []fork{{8, 1500}}, want: "7: 1000 1010", say: "the trace of each process is unknown"},
		{name: "side by side, with later buffers", traces: [][]buffer{{open(2000, 2010)}, {open(2001), {8, 3000, []uint64{3000}}}}, ends: map[uint32]uint64{8: 4000, 7: 4000},
			forks: []fork{{8, 1500}}, want: "7: 1000 1010 2000 2010, 8: 2001 3000"},
		{name: "two children", traces: [][]buffer{{open(1550, 3900)}, {open(1510)}, {open(1550, 2500)}}, ends: map[uint32]uint64{8: 1520, 9: 2600, 7: 4000},
			forks: []fork{{8, 1500}, {9, 1600}}, want: "7: 1000 1010 1550 3900, 8: 1510, 9: 2500"},
		{name: "the parent did nothing later", traces: [][]buffer{{open()}, {open(2000), {8, 3000, []uint64{3000}}}},
			forks: []fork{{8, 1500}}, want: "7: 1000 1010, 8: 2000 3000"},
		{name: "only the child's", traces: [][]buffer{{open(2000), {8, 3000, []uint64{3000}}}},
			forks: []fork{{8, 1500}}, want: "7: 1000 1010, 8: 2000 3000"},
		{name: "only the child's, which survived", traces: [][]buffer{{open(2000)}}, ends: map[uint32]uint64{7: 1800},
			forks: []fork{{8, 1500}}, want: "7: 1000 1010, 8: 2000"},
		{name: "only the parent's, which survived", traces: [][]buffer{{open(2000)}}, ends: map[uint32]uint64{8: 1800},
			forks: []fork{{8, 1500}}, want: "7: 1000 1010 2000"},
		{name: "only one", traces: [][]buffer{{open(2000)}}, forks: []fork{{8, 1500}}, want: "7: 1000 1010 2000", say: "this trace may be its own or its child's"},
		{name: "before the fork", traces: [][]buffer{{open(1400)}}, forks: []fork{{8, 1500}}, want: "7: 1000 1010 1400"},
	} {
		for _, reverse := range []bool{false, true} {
			var traces []*Log
			for _, buffers := range test.traces {
				traces = append(traces, madeXRay(t, h, func(w *xraygen.Writer) {
					for _, b := range buffers {
						w.Begin(&xrayfdr.Block{TID: b.pid, PID: b.pid, TSC: b.count, Seconds: 100, Microseconds: uint32(b.count / 1000)})
						for _, at := range b.calls {
							w.Function(xrayfdr.Enter, uint32(at/100), at)
						}
					}
				}))
				x := traces[len(traces)-1]
				x.Clock.Error, x.Time = 0, func(count uint64) uint64 { return count }
			}
			if reverse {
				slices.Reverse(traces)
			}
			world := noForks()
			world.Forks = func(pid uint32) []fork {
				if pid == 7 {
					return test.forks
				}
				return nil
			}
			world.Exit = func(pid uint32) uint64 {
				if end, ok := test.ends[pid]; ok {
					return end
				}
				return math.MaxUint64
			}
			problems, err := Share(traces, world)
			if err != nil {
				t.Fatal(err)
			}
			of := make(map[uint32]string)
			for _, x := range traces {
				for _, p := range x.Processes {
					trace := p.Trace(Place{Function: func(id uint32) (uint64, bool) { return uint64(id), true }})
					words := callTimes(t, trace)
					of[p.PID] += words
				}
			}
			var got []string
			for pid, words := range of {
				got = append(got, fmt.Sprintf("%d:%s", pid, words))
			}
			slices.Sort(got)
			if list := strings.Join(got, ", "); list != test.want {
				t.Errorf("%s, reversed %v: %s, want %s", test.name, reverse, list, test.want)
			}
			if len(problems) > 1 || (len(problems) == 1) != (test.say != "") || len(problems) == 1 && !strings.Contains(problems[0].Text, test.say) {
				t.Errorf("%s, reversed %v: %+v", test.name, reverse, problems)
			}
		}
	}
}

// callTimes returns when the calls of a trace began.
func callTimes(t *testing.T, trace *Trace) (words string) {
	t.Helper()
	threads, err := trace.Threads(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, thread := range threads {
		for {
			var s calls.Step
			if thread.Next(&s) != nil {
				break
			}
			words += fmt.Sprintf(" %d", s.Time)
		}
	}
	return words
}

// Traces of a program that really forked: each process has its own calls, once.
func TestShareXRay_RealForks(t *testing.T) {
	var traces []*Log
	for _, name := range []string{"child-1", "child-2", "parent"} {
		file := testrec.Gunzip(t, "../../format/xrayfdr/testdata/real/v5-fork-"+name+".xray.gz")
		x, err := ReadLog(bytes.NewReader(file), int64(len(file)))
		if err != nil {
			t.Fatal(err)
		}
		traces = append(traces, x)
	}
	parent := traces[0].Processes[0].PID
	// When each child and the parent made its last call. A child is forked 0.1 ms before it calls.
	var last [3]uint64
	for i, x := range traces {
		var err error
		if last[i], err = x.lastCall(); err != nil {
			t.Fatal(err)
		}
	}
	world := &world{
		Forks: func(pid uint32) []fork {
			return []fork{{parent + 1, last[0] - 60_000}, {parent + 2, last[1] - 60_000}}
		},
		Exit: func(pid uint32) uint64 {
			return map[uint32]uint64{parent: last[2], parent + 1: last[0], parent + 2: last[1]}[pid] + 1000
		},
	}
	if problems, err := Share(traces, world); err != nil || len(problems) > 0 {
		t.Fatalf("got %+v, %v; want no problems, no error", problems, err)
	}
	got := make(map[string]int)
	for _, x := range traces {
		for _, p := range x.Processes {
			threads, err := p.Trace(Place{Function: func(id uint32) (uint64, bool) { return uint64(id), true }}).Threads(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			for _, thread := range threads {
				for s := (calls.Step{}); thread.Next(&s) == nil; {
					if s.Kind == calls.Enter {
						got[fmt.Sprintf("%d of function %d", p.PID-parent, s.Function)]++
					}
				}
			}
		}
	}
	// Functions 1 to 3: parent_only, child_only, before.
	want := map[string]int{"0 of function 1": 7, "0 of function 3": 10, "1 of function 2": 20, "2 of function 2": 20}
	if !maps.Equal(got, want) {
		t.Errorf("calls by process:\ngot  %v\nwant %v", got, want)
	}
}
