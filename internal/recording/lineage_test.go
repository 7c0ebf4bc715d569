package recording

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// What is found for all processes at once is what following the ancestors of one finds.
func TestLineage_LikeEachAncestor(t *testing.T) {
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 1))
		rec := new(Recording)
		const processes, end = 8, 40
		pid := func() uint32 { return r.Uint32N(processes) }
		for i := range uint32(processes) {
			p := rec.Processes.Seen(i, 0)
			if r.IntN(4) == 0 {
				p.Comm = fmt.Sprint("name", i)
			}
			if r.IntN(4) == 0 {
				p.FileMaps = []FileMap{{Name: []string{"", "/lib/x.so"}[r.IntN(2)]}}
			}
		}
		for range r.IntN(20) {
			switch b := (fork{pid(), pid(), r.Uint64N(end), r.IntN(4) > 0}); {
			case r.IntN(4) == 0:
				rec.ProcessTree.exec(b.PID, b.Time)
			case b.PID != b.Parent:
				rec.ProcessTree.fork(b)
			}
		}
		for range r.IntN(4) {
			rec.Markers = append(rec.Markers, Marker{PID: pid(), Time: r.Uint64N(end), Pos: r.Int64N(100)})
		}
		g := &rec.ProcessTree
		var markers []*Marker
		for i := range rec.Markers {
			markers = append(markers, &rec.Markers[i])
		}
		spans := g.JitSpans(markers)
		for pid := range uint32(processes) {
			line := g.Line(pid)
			ancestors := line[1:]
			named, files, dumping, hasDump := "", false, uint32(0), false
			for _, from := range line {
				p := rec.Processes[from]
				files = files || len(p.FileMaps) > 0 && p.FileMaps[0].Name != ""
				if named == "" {
					named = p.Comm
				}
			}
			marked := func(pid uint32) bool {
				return slices.ContainsFunc(rec.Markers, func(m Marker) bool { return m.PID == pid })
			}
			if i := slices.IndexFunc(ancestors, marked); i >= 0 {
				dumping = ancestors[i]
			}
			from, time := pid, uint64(math.MaxUint64)
			for range MaxGenerations { // forks with equal times may form a circle
				hasDump = hasDump || slices.ContainsFunc(rec.Markers, func(m Marker) bool {
					return m.PID == from && m.Time <= time && m.Time >= max(g.LastExec(from, time), g.Born(from, time))
				})
				b, ok := g.Fork(from, time)
				if !ok || b.Time < g.LastExec(from, time) {
					break
				}
				from, time = b.Parent, b.Time
			}
			if got := rec.CommOf(pid); got != named {
				t.Fatalf("seed %d: got name %q of process %d; want %q", seed, got, pid, named)
			}
			if got := rec.HasFiles(pid); got != files {
				t.Fatalf("seed %d: got HasFiles(%d) %v; want %v", seed, pid, got, files)
			}
			if got := rec.DumpingAncestor(pid); got != dumping {
				t.Fatalf("seed %d: got DumpingAncestor(%d) %d; want %d", seed, pid, got, dumping)
			}
			if got := rec.HasDump(pid); got != hasDump {
				t.Fatalf("seed %d: got HasDump(%d) %v; want %v", seed, pid, got, hasDump)
			}
			for time := range uint64(end + 1) {
				for _, pos := range []int64{0, 50, 100} {
					if got, want := spans[pid].Hold(time, pos), holdsLinear(rec, pid, time, pos); got != want {
						t.Fatalf("seed %d: got Hold(%d, %d) %v for process %d; want %v; spans %+v", seed, time, pos, got, pid, want, spans)
					}
				}
				want := false
				for from := range uint32(processes) {
					want = want || marked(from) && g.Descends(pid, time, from)
				}
				a := Ancestry{Tree: g, Has: func(pid uint32, _ uint64) bool { return marked(pid) }}
				if got := a.Inherits(pid, time); got != want {
					t.Fatalf("seed %d: got Inherits(%d, %d) %v; want %v", seed, pid, time, got, want)
				}
			}
		}
	}
}

// holdsLinear reports whether a process has jitted code, by going through all markers and forks.
func holdsLinear(rec *Recording, pid uint32, time uint64, pos int64) bool {
	g := &rec.ProcessTree
	spans := make(map[uint32][]Span)
	for _, m := range rec.Markers {
		spans[m.PID] = append(spans[m.PID], Span{m.Time, g.LifeEnd(m.PID, m.Time), m.Pos})
	}
	for _, b := range g.Forks() {
		for _, s := range spans[b.Parent] {
			if b.Clones && b.Time >= s.From && b.Time < s.To {
				spans[b.PID] = append(spans[b.PID], Span{b.Time, g.LifeEnd(b.PID, b.Time), -1})
				break
			}
		}
	}
	return slices.ContainsFunc(spans[pid], func(s Span) bool {
		return time < s.To && (time > s.From || time == s.From && pos > s.Pos)
	})
}

// Mappings of a parent are left out for children beyond a bound, and LeftMappings says so.
func TestFileMapsOf_TooMany(t *testing.T) {
	const mappings, enough = fewCopied, 1 + copiedPerMapping
	rec := new(Recording)
	rec.Processes.Seen(1, 0).FileMaps = make([]FileMap, mappings)
	for child := uint32(2); child < 2+enough+1; child++ {
		rec.Processes.Seen(child, 0)
		rec.ProcessTree.fork(fork{child, 1, 5, true})
	}
	for child := uint32(2); child < 2+enough+1; child++ {
		wantMaps, wantLeft := mappings, 0
		if child == 2+enough {
			wantMaps, wantLeft = 0, mappings*enough
		}
		if maps, left := len(rec.FileMapsOf(child, 9)), rec.LeftMappings(); maps != wantMaps || left != wantLeft {
			t.Errorf("child %d: got %d mappings, %d copied before some were left out; want %d, %d", child, maps, left, wantMaps, wantLeft)
		}
	}
}
