package count

import (
	"math/rand/v2"
	"path/filepath"
	"testing"

	"github.com/jitinject/jitinject/internal/config"
	"github.com/jitinject/jitinject/internal/model"
	"github.com/jitinject/jitinject/internal/recording"
	"github.com/jitinject/jitinject/internal/testrec"
)

// The counter of each sample, its function and its place in that are those that going through all mappings, all programs and all
// ancestors finds.
func TestCounter_LikeLinearSearch(t *testing.T) {
	for seed := range uint64(16) {
		r := rand.New(rand.NewPCG(seed, 1))
		rec := testrec.NewRecording()
		const processes, end, space = 6, 60, 4 * counterPage
		pid := func() uint32 { return 100 + r.Uint32N(processes) }
		time := func() uint64 { return 1000 + r.Uint64N(end) }
		addr := func() uint64 { return 1<<20 + r.Uint64N(space) }
		for range 40 {
			switch r.IntN(4) {
			case 0:
				rec.Fork(pid(), pid(), time())
			case 1:
				rec.Comm(pid(), time(), "x", true)
			default:
				rec.Mmap2(pid(), time(), addr(), 1+r.Uint64N(space/8), 0, []string{"/lib/x.so", "//anon"}[r.IntN(2)])
			}
		}
		path := filepath.Join(t.TempDir(), "perf.data")
		rec.Write(t, path)
		in, err := recording.Open(&config.Options{Input: path})
		if err != nil {
			t.Fatal(err)
		}
		defer in.Close()
		s, err := recording.Survey(t.Context(), in, false)
		if err != nil {
			t.Fatal(err)
		}
		var dumps []*model.Dump
		for n := range 3 {
			d := &model.Dump{Number: n}
			for range 1 + r.IntN(4) {
				d.Markers = append(d.Markers, recording.Marker{PID: pid(), Time: time()})
			}
			dumps = append(dumps, d)
		}
		var mappings []model.Mapping
		functions := []model.Function{{Dump: dumps[0], Number: 1}, {Dump: dumps[1], Number: 2}, {Dump: dumps[2], Number: 3}}
		for range r.IntN(200) {
			m := model.Mapping{PID: pid(), Time: time(), Addr: addr(), Len: r.Uint64N(space / 16), Excerpt: &model.Excerpt{Off: r.Uint64N(3)}, Object: r.Int32N(3), Clear: r.IntN(5) == 0}
			mappings = append(mappings, m)
		}
		c := Of(s, model.Functions{List: functions, Mappings: mappings})
		if seed%3 == 0 {
			c.Lacks(dumps[1], 2)
		}
		c.prepare(dumps)
		old := linear{Counter: c, mappings: mappings, functions: functions}
		old.setPrograms(dumps)
		for range 150 {
			pid, time, ip := pid(), time(), addr()
			got, from, to := c.find(pid, time, ip)
			if want := old.find(pid, time, ip); got != want {
				t.Fatalf("seed %d: process %d, time %d, address %#x: got %+v; want %+v", seed, pid, time, ip, got, want)
			}
			if time < from || time >= to {
				t.Fatalf("seed %d: process %d, time %d, address %#x: got a counter from %d to %d", seed, pid, time, ip, from, to)
			}
			for other := max(from, 1000); other < min(to, 1000+end); other++ {
				if want := old.find(pid, other, ip); got != want {
					t.Fatalf("seed %d: process %d, time %d, address %#x: got %+v from %d to %d; want %+v at %d", seed, pid, time, ip, got, from, to, want, other)
				}
			}
		}
	}
}

// A linear finds the counters of samples by going through everything.
type linear struct {
	*Counter
	programs  map[uint32][]linearProgram
	mappings  []model.Mapping
	functions []model.Function
}

type linearProgram struct {
	from, to, marked uint64
	dump             int
}

func (l *linear) find(pid uint32, time, ip uint64) spot {
	g := &l.rec.ProcessTree
	id, at := pid, time
	for range recording.MaxGenerations { // forks with equal times may form a circle
		switch kind, o, offset := l.sight(id, at, ip); {
		case kind == inFile:
			return spot{&l.elsewhere, nowhere, 0}
		case kind == inFunction && o != nil:
			return spot{&l.Counter.dumps[o.Dump.Number].resolved, functionID{int32(o.Dump.Number), int32(o.Number)}, uint32(offset)}
		case kind == inFunction, kind == inMemory:
			return spot{l.unseen(pid, time, ip, kind == inFunction), nowhere, 0}
		}
		b, ok := g.Fork(id, at)
		if !ok || !b.Clones {
			break
		}
		id, at = b.Parent, b.Time
	}
	return spot{l.unseen(pid, time, ip, false), nowhere, 0}
}

// sight returns what a process has at an address, and which function it is, with the place in that.
func (l *linear) sight(pid uint32, time, ip uint64) (kind sightKind, o *model.Function, offset uint64) {
	g := &l.rec.ProcessTree
	began, since := g.Born(pid, time), uint64(0)
	for i := range l.mappings {
		m := &l.mappings[i]
		lost := l.lost[functionID{int32(l.functions[m.Object].Dump.Number), int32(l.functions[m.Object].Number)}] && !m.Clear
		if m.PID == pid && m.Time >= max(began, since) && m.Time <= time && ip >= m.Addr && ip < m.Addr+m.Len && !lost {
			kind, o, since, offset = inFunction, &l.functions[m.Object], m.Time, m.Of().Off+ip-m.Addr
			if m.Clear {
				o = nil
			}
		}
	}
	if p := l.rec.Processes[pid]; p != nil {
		for i := range p.FileMaps {
			if m := &p.FileMaps[i]; (m.Name != "" || l.program(pid, m.Time) == nil) && m.Time >= max(began, since) && m.Time <= time && ip >= m.Lo && ip < m.Hi {
				kind, o, since = inFile, nil, m.Time
				if m.Name == "" {
					kind = inMemory
				}
			}
		}
	}
	return kind, o, offset
}

func (l *linear) setPrograms(dumps []*model.Dump) {
	g := &l.rec.ProcessTree
	l.programs = make(map[uint32][]linearProgram)
	for _, d := range dumps {
		for _, m := range d.Markers {
			l.programs[m.PID] = append(l.programs[m.PID], linearProgram{max(g.LastExec(m.PID, m.Time), g.Born(m.PID, m.Time)), g.LifeEnd(m.PID, m.Time), m.Time, d.Number})
		}
	}
	for _, b := range g.Forks() {
		for _, p := range l.programs[b.Parent] {
			if b.Clones && b.Time >= p.marked && b.Time < p.to {
				l.programs[b.PID] = append(l.programs[b.PID], linearProgram{b.Time, g.LifeEnd(b.PID, b.Time), b.Time, p.dump})
			}
		}
	}
}

func (l *linear) unseen(pid uint32, time, ip uint64, left bool) *int64 {
	in := l.program(pid, time)
	if in == nil {
		return &l.process(pid).Unattributed
	}
	for i := range l.mappings {
		m := &l.mappings[i]
		lost := l.lost[functionID{int32(l.functions[m.Object].Dump.Number), int32(l.functions[m.Object].Number)}]
		if m.PID == pid && !m.Clear && !lost && m.Time > time && m.Time < l.rec.ProcessTree.LifeEnd(pid, time) && ip >= m.Addr && ip < m.Addr+m.Len {
			return &l.dumps[in.dump].early
		}
	}
	if left {
		return &l.dumps[in.dump].left
	}
	return &l.dumps[in.dump].unresolved
}

// program returns the program of a process at a time if it has a dump, or nil.
func (l *linear) program(pid uint32, time uint64) (in *linearProgram) {
	for i := range l.programs[pid] {
		p := &l.programs[pid][i]
		if time >= p.from && time < p.to && (in == nil || p.marked >= in.marked) {
			in = p
		}
	}
	return in
}

// A range that is cleared costs what the functions in it do, however long it is.
func TestCounter_LongClear(t *testing.T) {
	c := Of(new(recording.Recording), model.Functions{List: []model.Function{{Dump: new(model.Dump)}}, Mappings: []model.Mapping{
		{PID: 1, Time: 1, Addr: 1 << 40, Len: counterPage}, {PID: 1, Time: 2, Addr: 1 << 20, Len: 1 << 46, Clear: true},
	}})
	if at, ok := c.Processes[1].code[1<<40/counterPage]; c.stays != 2 || !ok || at.stays[1].mapping != 1 {
		t.Errorf("got %d stays, %+v; want that of the function and that of its end", c.stays, at)
	}
}
