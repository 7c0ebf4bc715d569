package count

import (
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/jitinject/jitinject/internal/model"
	"github.com/jitinject/jitinject/internal/quote"
	"github.com/jitinject/jitinject/internal/recording"
	"github.com/jitinject/jitinject/internal/report"
)

// A Counter counts the samples in jitted code, and those of them that the result shows in a
// function, as [report.JitSamples] defines. It takes one sample after the other and keeps none.
// Its size grows with the functions.
//
// perf looks an address up among the mappings that the process has made up to the time of the
// sample, the latest first. Then it looks among those that the process was forked with. The
// sample counter does the same. Mappings that the recording calls anonymous are transparent:
// rewriting drops them where there is jitted code.
type Counter struct {
	rec *recording.Recording
	// Processes has the state of each process, by pid.
	Processes map[uint32]*countedProcess
	// programs are the programs with jitted code, by pid.
	programs map[uint32][]jitProgram
	// dumps are the counts of dumps, by number.
	dumps []*dumpCounter
	stays int // number of stays of all processes
	// functions is the number of mappings of functions.
	functions int
	Total     int64 // number of samples
	// elsewhere counts samples in files.
	elsewhere int64
	seen      []seenSample // a cache; its length is a power of two

	mu   sync.Mutex
	lost map[lostFunction]bool // functions without objects
}

// A dumpCounter counts samples in programs with a dump: those in functions, and the others.
type dumpCounter struct{ resolved, unresolved int64 }

// A lostFunction is a function of a dump. Both are numbers.
type lostFunction struct{ dump, function int32 }

// A countedProcess is the state of a process.
type countedProcess struct {
	code         map[uint64][]stay // by address/counterPage, in the order of their times
	files        []counterFile     // in the order of their addresses
	known        int               // number of mappings of the recording that are in files
	Unattributed int64             // number of samples in no file, in programs without a dump
}

// A stay is a function at addresses of one page, from a time on.
type stay struct {
	time        uint64
	function    lostFunction // its function is noFunction if the code has left
	first, last uint16       // offsets in the page, both included
}

// A counterFile is a file at addresses, from a time on.
type counterFile struct {
	lo, hi, time uint64
	reach        uint64 // the highest hi of it and of those before it
}

// A jitProgram is a program of a process with jitted code, from a time to a time.
type jitProgram struct {
	from, to uint64
	marked   uint64 // the time from which on it has a dump
	// dump is the number of the dump.
	dump int
}

// A seenSample caches the counter for an address of a process, from a time to a time.
type seenSample struct {
	ip, from, to uint64
	pid          uint32
	counter      *int64
}

const (
	// counterPage is the size of pages, in bytes.
	counterPage = 16 << 10
	// noFunction is the function of a stay without code.
	noFunction = -1

	// maxStays is how many stays each mapping may have, on average. A million more are
	// allowed in all.
	maxStays = 16
)

// Of returns a counter of samples in the functions of a plan.
func Of(rec *recording.Recording, p *model.Plan) *Counter {
	t := New(rec)
	for i := range p.Mappings {
		t.add(&p.Mappings[i], &p.Objects[p.Mappings[i].Object])
	}
	return t
}

// New returns a counter without functions.
func New(rec *recording.Recording) *Counter {
	return &Counter{rec: rec, Processes: make(map[uint32]*countedProcess), lost: make(map[lostFunction]bool)}
}

// add adds a mapping of a function. Mappings come in the order of their times, or nearly so.
func (t *Counter) add(m *model.Mapping, o *model.Object) {
	if m.Len == 0 || m.Addr+m.Len-1 < m.Addr {
		return
	}
	f := lostFunction{int32(o.Dump.Number), int32(o.Function)}
	if m.Clear {
		f.function = noFunction
	}
	t.functions++
	p := t.process(m.PID)
	for lo, last := m.Addr, m.Addr+m.Len-1; t.fits(); {
		page := lo / counterPage
		end := min(last, page*counterPage+counterPage-1)
		list := p.code[page]
		at := len(list)
		for at > 0 && list[at-1].time > m.Time {
			at--
		}
		p.code[page] = slices.Insert(list, at, stay{m.Time, f, uint16(lo % counterPage), uint16(end % counterPage)})
		t.stays++
		if end == last {
			return
		}
		lo = end + 1
	}
}

// fits reports whether all mappings could be added.
func (t *Counter) fits() bool { return t.stays <= maxStays*t.functions+1<<20 }

// Lacks records that a function has no object. Any goroutine may call it. t may be nil.
func (t *Counter) Lacks(d *model.Dump, function int) {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.lost[lostFunction{int32(d.Number), int32(function)}] = true
}

// process returns the state of a process, creating it if needed.
func (t *Counter) process(pid uint32) *countedProcess {
	p := t.Processes[pid]
	if p == nil {
		p = &countedProcess{code: make(map[uint64][]stay)}
		t.Processes[pid] = p
	}
	return p
}

// prepare sets the programs of some dumps, and the files of all processes, from the present state
// of the recording. It must precede find.
func (t *Counter) prepare(dumps []*model.Dump) {
	g := &t.rec.ProcessTree
	t.programs = make(map[uint32][]jitProgram)
	for _, d := range dumps {
		for len(t.dumps) <= d.Number {
			t.dumps = append(t.dumps, new(dumpCounter))
		}
		for _, m := range d.Markers {
			from := max(g.LastExec(m.PID, m.Time), g.Born(m.PID, m.Time))
			t.programs[m.PID] = append(t.programs[m.PID], jitProgram{from, g.LifeEnd(m.PID, m.Time), m.Time, d.Number})
		}
	}
	if len(t.programs) > 0 {
		for _, b := range g.Forks { // by time, so a parent comes before its children
			for _, p := range t.programs[b.Parent] {
				if b.Clones && b.Time >= p.marked && b.Time < p.to {
					t.programs[b.PID] = append(t.programs[b.PID], jitProgram{b.Time, g.LifeEnd(b.PID, b.Time), b.Time, p.dump})
				}
			}
		}
	}
	for pid, known := range t.rec.Processes {
		t.process(pid).setFiles(known)
	}
}

// setFiles sets the addresses of a process's files.
func (p *countedProcess) setFiles(known *recording.Process) {
	if p.known == len(known.FileMaps)+len(known.Others) {
		return
	}
	p.known = len(known.FileMaps) + len(known.Others)
	p.files = p.files[:0]
	for i := range known.FileMaps {
		if m := &known.FileMaps[i]; m.Name != "" {
			p.files = append(p.files, counterFile{lo: m.Lo, hi: m.Hi, time: m.Time})
		}
	}
	for i := range known.Others {
		m := &known.Others[i]
		p.files = append(p.files, counterFile{lo: m.Lo, hi: m.Hi, time: m.Time})
	}
	slices.SortFunc(p.files, func(a, b counterFile) int {
		switch {
		case a.lo < b.lo:
			return -1
		case a.lo > b.lo:
			return 1
		}
		return 0
	})
	reach := uint64(0)
	for i := range p.files {
		reach = max(reach, p.files[i].hi)
		p.files[i].reach = reach
	}
}

// clear resets all counts.
func (t *Counter) clear() {
	t.Total, t.elsewhere = 0, 0
	for _, d := range t.dumps {
		*d = dumpCounter{}
	}
	for _, p := range t.Processes {
		p.Unattributed = 0
	}
}

// sample counts a sample of user space.
func (t *Counter) sample(pid uint32, time, ip uint64) {
	s := &t.seen[(ip^ip>>13^uint64(pid))%uint64(len(t.seen))]
	if s.counter == nil || s.ip != ip || s.pid != pid || time < s.from || time >= s.to {
		s.ip, s.pid = ip, pid
		s.counter, s.from, s.to = t.find(pid, time, ip)
	}
	*s.counter++
}

// find returns the counter for a sample, and the times from which and up to which that holds.
func (t *Counter) find(pid uint32, time, ip uint64) (counter *int64, from, to uint64) {
	g := &t.rec.ProcessTree
	from, to = max(g.LastExec(pid, time), g.Born(pid, time)), g.LifeEnd(pid, time)
	began, id, at := from, pid, time
	for n := range recording.MaxGenerations {
		if p := t.Processes[id]; p != nil {
			s, next := p.at(t, began, at, ip)
			if n == 0 {
				from, to = max(from, s.since), min(to, next)
			}
			switch {
			case s.kind == inFile:
				return &t.elsewhere, from, to
			case s.kind == inFunction && s.function.function != noFunction:
				return &t.dumps[s.function.dump].resolved, from, to
			case s.kind == inFunction:
				return t.unseen(pid, time, &from, &to), from, to
			}
		}
		b, ok := g.Fork(id, at)
		if !ok || !b.Clones || b.Time < g.LastExec(id, at) {
			break
		}
		id, at = b.Parent, b.Time
		began = max(g.LastExec(id, at), g.Born(id, at))
	}
	return t.unseen(pid, time, &from, &to), from, to
}

// unseen returns the counter for a sample in no file and no function. It narrows the times for
// which that holds.
func (t *Counter) unseen(pid uint32, time uint64, from, to *uint64) *int64 {
	var in *jitProgram
	for i := range t.programs[pid] {
		p := &t.programs[pid][i]
		if time >= p.from && time < p.to && (in == nil || p.marked >= in.marked) {
			in = p
		}
	}
	if in == nil {
		return &t.process(pid).Unattributed
	}
	*from, *to = max(*from, in.from), min(*to, in.to)
	return &t.dumps[in.dump].unresolved
}

// A sight is what a process has at an address: a file or a function, since a time.
type sight struct {
	kind     sightKind
	since    uint64
	function lostFunction
}

// A sightKind says what is at an address.
type sightKind int

const (
	unknownSight sightKind = iota
	inFile
	inFunction
)

// at returns what a process has at an address at a time. Mappings from before since do not count.
// next is when that may change.
func (p *countedProcess) at(t *Counter, since, time, ip uint64) (s sight, next uint64) {
	next = math.MaxUint64
	list := p.code[ip/counterPage]
	n, _ := slices.BinarySearchFunc(list, time, func(s stay, time uint64) int {
		if s.time <= time {
			return -1
		}
		return 1
	})
	if n < len(list) {
		next = list[n].time
	}
	off := uint16(ip % counterPage)
	for i := n - 1; i >= 0 && list[i].time >= since; i-- {
		if l := &list[i]; off >= l.first && off <= l.last && (len(t.lost) == 0 || !t.lost[l.function]) {
			s = sight{inFunction, l.time, l.function}
			break
		}
	}
	n, _ = slices.BinarySearchFunc(p.files, ip, func(f counterFile, ip uint64) int {
		if f.lo <= ip {
			return -1
		}
		return 1
	})
	for i := n - 1; i >= 0 && p.files[i].reach > ip; i-- {
		switch f := &p.files[i]; {
		case f.hi <= ip || f.time < since:
		case f.time > time:
			next = min(next, f.time)
		// At equal times, the file is the later one and hides the function. But at time 0,
		// from before the recording, the function is the later one.
		case s.kind == unknownSight, f.time > s.since, f.time == s.since && f.time > 0:
			s = sight{kind: inFile, since: f.time}
		}
	}
	return s, next
}

// A Result has the numbers of samples.
type Result struct {
	Samples *report.SampleSummary // nil if they were not counted
	Dumps   []*report.JitSamples  // by number
	Found   report.Findings
}

// result returns the counts. lines describe the dumps, by number.
func (t *Counter) result(lines []report.DumpSummary) (r Result) {
	if !t.fits() {
		r.Found.Note(fmt.Sprintf("%s: its samples are not counted: the functions cover too much memory", quote.Printable(t.rec.In.Path)))
		return r
	}
	r.Samples = &report.SampleSummary{Total: t.Total}
	for i := range lines {
		own := new(report.JitSamples)
		if i < len(t.dumps) {
			*own = report.JitSamples{InJIT: t.dumps[i].resolved + t.dumps[i].unresolved, Resolved: t.dumps[i].resolved}
		}
		r.Dumps = append(r.Dumps, own)
		if d, lost := &lines[i], own.InJIT-own.Resolved; d.Cut >= 0 && lost > own.InJIT/100 && !t.LacksAny(i) {
			r.Found.Problem(report.Problem{File: d.Path, Offset: d.Cut, Text: fmt.Sprintf("%s, and %d of %s are in nothing that it tells of", d.CutText(), lost, report.SamplesOf(own.InJIT)),
				Advice: d.CutAdvice()})
		}
		r.Samples.InJIT += own.InJIT
		r.Samples.Resolved += own.Resolved
	}
	for _, p := range t.Processes {
		r.Samples.WithoutDump += p.Unattributed
	}
	return r
}

// LacksAny reports whether functions of a dump have no object. dump is its number.
func (t *Counter) LacksAny(dump int) bool {
	for f := range t.lost {
		if int(f.dump) == dump {
			return true
		}
	}
	return false
}
