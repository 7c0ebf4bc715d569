package xray

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/jitinject/jitinject/internal/calls"
	"github.com/jitinject/jitinject/internal/report"
)

// A forked process inherits its parent's buffers, and continues the current one of its thread. It
// writes all of them into its own trace. So the parent's records up to the fork are in both traces.
// Later records in a child's trace are the child's, although the buffer names the parent. A trace
// with later buffers that name the child is the child's. Without such buffers, the end times of the
// processes decide.

// A fork is the start of a process with the memory of another one.
type fork struct {
	PID  uint32
	Time uint64 // in the recording
}

// A world has the recorded data about the processes of traces.
type world struct {
	Forks func(pid uint32) []fork // from a process, in the order of time
	Exit  func(pid uint32) uint64 // end of a process; math.MaxUint64 if unknown

	// Time converts a count of a trace to a time in the recording.
	Time func(x *Log, count uint64) uint64
}

// A problem is a fault in one of several traces.
type problem struct {
	X *Log
	calls.Problem
	Note bool // nothing is known to be missing
}

// Share assigns the contents of traces to the processes that wrote them. It must be called once.
func Share(traces []*Log, w *world) (problems []problem, err error) {
	s := &sharing{world: w, traces: slices.Clone(traces), owner: make(map[*Log]uint32), torn: make(map[*Log]bool), copyOf: make(map[*Log]*Log), owners: make(map[uint32]int), forks: make(map[uint32][]fork)}
	// The result must not depend on the order in which the traces were named.
	slices.SortStableFunc(s.traces, func(a, b *Log) int {
		return cmp.Or(cmp.Compare(len(a.pieces), len(b.pieces)), cmp.Compare(a.size, b.size), cmp.Compare(a.pieces[0].tsc, b.pieces[0].tsc))
	})
	if err := s.findCopies(); err != nil {
		return nil, err
	}
	if err := s.findOwners(); err != nil {
		return nil, err
	}
	if err := s.share(); err != nil {
		return nil, err
	}
	for _, x := range traces {
		x.arrange()
	}
	return s.problems, nil
}

type sharing struct {
	world    *world
	traces   []*Log
	copyOf   map[*Log]*Log   // first file with the same contents
	owner    map[*Log]uint32 // process that wrote the trace
	torn     map[*Log]bool   // traces with an unknown writer
	problems []problem

	owners   map[uint32]int    // how many traces a process owns
	forks    map[uint32][]fork // by the parent
	compared int               // pairs of a fork and a trace so far, and 64 for each that was read, and for each KB
}

// maxCompared bounds the search for the writers of traces of a program that forks often.
const maxCompared = 1 << 19

// A bufferKey identifies a buffer. Its copies have the same key.
type bufferKey struct {
	pid, tid uint32
	tsc      uint64
	wall     int64
}

func (p *piece) key() bufferKey { return bufferKey{p.pid, p.tid, p.tsc, p.wall} }

// findOwners finds the process that wrote each trace.
func (s *sharing) findOwners() error {
	// Traces that name one process only, and last until after its first fork.
	open := make(map[uint32][]*Log)
	for _, x := range s.traces {
		latest := slices.MaxFunc(x.pieces, func(a, b piece) int { return cmp.Compare(a.wall, b.wall) })
		if s.copyOf[x] != nil {
			continue
		}
		s.own(x, latest.pid)
		if len(x.Processes) > 1 {
			continue
		}
		if forks := s.forksOf(latest.pid); len(forks) > 0 {
			last, err := s.last(x)
			if err != nil {
				return err
			}
			if last+uint64(x.Clock.Error) >= forks[0].Time {
				open[latest.pid] = append(open[latest.pid], x)
			}
		}
	}
	for _, x := range s.traces {
		pid := s.owner[x]
		files := open[pid]
		byKey := make(map[bufferKey][]int)
		for i, f := range files {
			for k := range f.pieces {
				key := f.pieces[k].key()
				byKey[key] = append(byKey[key], i)
			}
		}
		taken := make([]bool, len(files))
		for i, f := range files {
			if taken[i] {
				continue
			}
			taken[i] = true
			members := []int{i}
			for k := range f.pieces {
				for _, other := range byKey[f.pieces[k].key()] {
					if !taken[other] {
						taken[other] = true
						members = append(members, other)
					}
				}
			}
			slices.Sort(members)
			var cluster []*Log
			for _, m := range members {
				cluster = append(cluster, files[m])
			}
			if err := s.decide(pid, cluster); err != nil {
				return err
			}
		}
		delete(open, pid)
	}
	for x, first := range s.copyOf {
		s.owner[x], s.torn[x] = s.owner[first], s.torn[first]
	}
	return nil
}

// maxTries bounds the search for the writers of traces.
const maxTries = 10_000

// decide finds the owners of traces with buffers of pid, some of them shared. The owner of each is
// pid or one of its children. A child must have begun before the trace ended, and must not have
// ended by then.
func (s *sharing) decide(pid uint32, files []*Log) error {
	may := make([][]uint32, len(files))
files:
	for i, x := range files {
		last, err := s.last(x)
		if err != nil {
			return err
		}
		slack := uint64(x.Clock.Error)
		if end := s.world.Exit(pid); end == math.MaxUint64 || last <= end+slack {
			may[i] = append(may[i], pid)
		}
		for _, f := range s.forksOf(pid) {
			if s.compared++; s.compared > maxCompared {
				may = nil
				break files
			}
			if f.Time > last+slack || s.owners[f.PID] > 0 {
				continue
			}
			if end := s.world.Exit(f.PID); end == math.MaxUint64 || last <= end+slack {
				if inside, err := s.runs(x, f.Time); err != nil {
					return err
				} else if inside {
					may[i] = append(may[i], f.PID)
				}
			}
		}
	}
	tries, found := 0, 0
	var is, answer []uint32
	var search func(i int)
	search = func(i int) {
		if tries++; tries > maxTries || found > 1 {
			return
		}
		if i == len(files) {
			if len(files) == 1 || slices.Contains(is, pid) {
				found++
				answer = slices.Clone(is)
			}
			return
		}
		for _, p := range may[i] {
			if !slices.Contains(is, p) {
				is = append(is, p)
				search(i + 1)
				is = is[:i]
			}
		}
	}
	if may != nil {
		search(0)
	}
	if found == 1 && tries <= maxTries {
		for i, x := range files {
			s.own(x, answer[i])
		}
		return nil
	}
	if len(files) == 1 {
		if may == nil || len(may[0]) > 1 {
			s.problems = append(s.problems, problem{X: files[0], Note: true, Problem: calls.Problem{
				Offset: -1, Text: fmt.Sprintf("process %d forked while it logged; this trace may be its own or its child's, and is used as its own", pid),
				Advice: "name the traces of both with " + report.MentionedFile(Kind, "", ""),
			}})
		}
		return nil
	}
	for _, x := range files {
		s.torn[x] = true
	}
	s.problems = append(s.problems, problem{X: files[0], Problem: calls.Problem{
		Offset: -1, Text: fmt.Sprintf("it and %d more traces share buffers of process %d, which forked while it logged; the trace of each process is unknown, so the calls after the fork are left out", len(files)-1, pid),
		Advice: "record a run in which the processes end one after the other",
	}})
	return nil
}

// own notes the owner of a trace.
func (s *sharing) own(x *Log, pid uint32) {
	if old, ok := s.owner[x]; ok {
		s.owners[old]--
	}
	s.owner[x] = pid
	s.owners[pid]++
}

// forksOf returns the forks by a process, which the world is asked for once.
func (s *sharing) forksOf(pid uint32) []fork {
	forks, ok := s.forks[pid]
	if !ok {
		forks = s.world.Forks(pid)
		s.forks[pid] = forks
	}
	return forks
}

// when returns the time of a record in a piece.
func (s *sharing) when(p *piece, tsc uint64) uint64 { return s.world.Time(p.x, tsc) }

// last returns the time of the last record of a trace.
func (s *sharing) last(x *Log) (last uint64, err error) {
	for i := range x.Processes {
		for _, t := range x.Processes[i].Threads {
			p := &t.pieces[len(t.pieces)-1]
			if p.base != 0 {
				continue
			}
			err = eachRecord(p, func(_ int64, tsc uint64, function bool) bool {
				if function {
					last = max(last, s.when(p, tsc))
				}
				return true
			})
			if err != nil {
				return 0, err
			}
		}
	}
	return last, nil
}

// runs reports whether a buffer of the trace was in use at a time.
func (s *sharing) runs(x *Log, time uint64) (bool, error) {
	for _, t := range x.Processes[0].Threads {
		for i := range t.pieces {
			p := &t.pieces[i]
			if p.base != 0 || s.when(p, p.tsc) > time || i+1 < len(t.pieces) && s.when(p, t.pieces[i+1].tsc) < time {
				continue
			}
			s.compared += 64 + int(p.size>>10)
			if at, err := s.splitAt(p, time); err != nil || at < p.end() {
				return err == nil, err
			}
		}
	}
	return false, nil
}

// splitAt returns the offset of the first call in a buffer at or after a time, or its end.
func (s *sharing) splitAt(p *piece, time uint64) (at int64, err error) {
	at = p.end()
	err = eachRecord(p, func(offset int64, tsc uint64, function bool) bool {
		if function && s.when(p, tsc) >= time {
			at = offset
			return false
		}
		return true
	})
	return at, err
}

// eachRecord calls visit for each record of a buffer, until visit returns false. It also ends at
// damage.
func eachRecord(p *piece, visit func(offset int64, tsc uint64, function bool) bool) error {
	var r pieceReader
	if err := r.open(p); err != nil {
		return err
	}
	for {
		rec, err := r.next()
		if err == io.EOF || isXRayDamage(err) {
			return nil
		}
		if err != nil {
			return err
		}
		if !visit(rec.Offset, rec.TSC, rec.Kind.IsFunction()) {
			return nil
		}
	}
}

// share assigns the pieces of all traces to their processes.
func (s *sharing) share() error {
	copies := make(map[bufferKey][]*piece)
	for _, x := range s.traces {
		for i := range x.pieces {
			p := &x.pieces[i]
			if len(s.traces) > 1 || s.owner[x] != p.pid {
				copies[p.key()] = append(copies[p.key()], p)
			}
		}
	}
	dropped := make(map[*piece]bool)
	for key, same := range copies {
		if len(same) == 1 && s.owner[same[0].x] == key.pid {
			continue
		}
		if err := s.shareBuffer(key, same, dropped); err != nil {
			return err
		}
	}
	for _, x := range s.traces {
		kept := x.pieces[:0:0]
		for i := range x.pieces {
			if p := &x.pieces[i]; !dropped[p] {
				kept = append(kept, *p)
			}
		}
		x.pieces = append(kept, x.tails...)
		x.tails = nil
	}
	return nil
}

// shareBuffer assigns the copies of a buffer to their processes. The parent gets its own copy. Each
// other process gets the part that no other copy has.
func (s *sharing) shareBuffer(key bufferKey, same []*piece, dropped map[*piece]bool) error {
	forks := s.forksOf(key.pid)
	born := func(pid uint32) uint64 {
		i := slices.IndexFunc(forks, func(f fork) bool { return f.PID == pid })
		switch {
		case pid == key.pid:
			return 0
		case i < 0:
			return math.MaxUint64
		}
		return forks[i].Time
	}
	slices.SortStableFunc(same, func(a, b *piece) int {
		return cmp.Or(cmp.Compare(born(s.owner[a.x]), born(s.owner[b.x])), cmp.Compare(s.owner[a.x], s.owner[b.x]), cmp.Compare(b.size, a.size))
	})
	first := same[0]
	switch owner := s.owner[first.x]; {
	case s.torn[first.x]:
		// The common part belongs to the parent.
		common := first.end()
		for _, p := range same[1:] {
			at, err := commonEnd(first, p)
			if err != nil {
				return err
			}
			common = min(common, at)
		}
		first.size = common - first.offset
	case owner != key.pid && born(owner) != math.MaxUint64:
		// The parent's trace is missing.
		at, err := s.splitAt(first, born(owner))
		if err != nil {
			return err
		}
		first.tail(at, owner)
		first.size = at - first.offset
	}
	for i, p := range same[1:] {
		dropped[p] = true
		owner := s.owner[p.x]
		if s.torn[p.x] || owner == s.owner[first.x] {
			continue // unknown writer, or the same trace once more
		}
		at := int64(0)
		for _, other := range same[:i+1] {
			end, err := commonEnd(p, other)
			if err != nil {
				return err
			}
			at = max(at, end)
		}
		p.tail(at, owner)
	}
	return nil
}

// tail assigns the end of a buffer, from an offset on, to a process.
func (p *piece) tail(at int64, pid uint32) {
	if at < p.end() {
		t := *p
		t.from, t.pid, t.tid = at, pid, pid
		p.x.tails = append(p.x.tails, t)
	}
}

// commonEnd returns the offset in p of the first record that q, a copy of it, does not have.
func commonEnd(p, q *piece) (int64, error) {
	const extents = 16 // bytes with the length of the buffer
	a, b := make([]byte, 16<<10), make([]byte, 16<<10)
	// Pieces may have been shortened: compare the buffers as they are in the files.
	n := min(p.whole, q.whole)
	same := int64(extents)
	for same < n {
		want := int(min(int64(len(a)), n-same))
		if _, err := p.x.src.ReadAt(a[:want], p.offset+same); err != nil && !errors.Is(err, io.EOF) {
			return 0, err
		}
		if _, err := q.x.src.ReadAt(b[:want], q.offset+same); err != nil && !errors.Is(err, io.EOF) {
			return 0, err
		}
		i := 0
		for i < want && a[i] == b[i] {
			i++
		}
		same += int64(i)
		if i < want {
			break
		}
	}
	if same == p.whole {
		return p.end(), nil
	}
	limit, at := p.offset+same, p.offset
	err := eachRecord(p, func(offset int64, _ uint64, _ bool) bool {
		if offset <= limit {
			at = offset
		}
		return offset <= limit
	})
	return at, err
}
