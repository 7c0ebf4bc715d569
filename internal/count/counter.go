package count

import (
	"cmp"
	"math"
	"sort"
	"sync"

	"github.com/jitinject/jitinject/internal/addrs"
	"github.com/jitinject/jitinject/internal/model"
	"github.com/jitinject/jitinject/internal/recording"
	"github.com/jitinject/jitinject/internal/sorting"
)

// A Counter counts the samples in jitted code, and those of them that the result shows in a
// function, as [report.JitSamples] defines. It takes one sample after the other and keeps none.
// Its size grows with the functions.
//
// perf looks an address up among the mappings that the process has made up to the time of the
// sample, the latest first. Then it looks among those that the process was forked with. It keeps
// both when the process calls exec. The sample counter does the same. Mappings that the recording
// calls anonymous are transparent if a program with a dump made them: rewriting drops them. Others
// hide the files before them.
type Counter struct {
	rec *recording.Recording
	// Processes has the state of each process, by pid.
	Processes map[uint32]*countedProcess
	// programs are the programs with jitted code, by pid.
	programs programs
	// dumps are the counts of dumps, by number.
	dumps    []*dumpCounter
	resolved map[*int64]bool // those of samples in functions
	stays    int             // number of stays of all processes
	latest   uint64          // time of the latest
	// functions has the functions and their mappings.
	functions model.Functions
	// lowest and highest are their first and last address.
	lowest, highest uint64
	Total           int64 // number of samples
	known           bool  // the histogram was enough
	// elsewhere counts samples in files.
	elsewhere int64
	// carriers are the processes with files or functions.
	carriers recording.Carriers
	seen     []seenSample // a cache; its length is a power of two
	hot      hotCounts
	attr     int       // the event with the most samples in functions
	several  bool      // other events have samples, too
	heaviest []weighed // functions of attr

	mu   sync.Mutex          // guards lost and carriers
	lost map[functionID]bool // functions without objects
}

// A dumpCounter counts samples in programs with a dump: those in functions, those in memory that
// gets a function later, those where a function was that is gone, and the others.
type dumpCounter struct{ resolved, early, left, unresolved int64 }

// A functionID is a function of a dump. Both are numbers.
type functionID struct{ dump, function int32 }

// nowhere is the function of samples that are in none.
var nowhere = functionID{-1, noFunction}

// A spot is where a sample is: its counter, and its function with the place in that.
type spot struct {
	counter  *int64
	function functionID // nowhere if it is in none
	offset   uint32     // from the start of the function, in bytes; noOffset if unknown
}

// A countedProcess is the state of a process.
type countedProcess struct {
	code         map[uint64]*page // by address/counterPage
	files        []counterFile    // in the order of their times
	places       *addrs.Timeline  // of files
	Unattributed int64            // number of samples in no file, in programs without a dump
	first, last  uint64           // the bounds of code; 0 while unknown
}

// A counterFile is a file, or anonymous memory, at addresses, from a time on.
type counterFile struct {
	addrs.Range
	time      uint64
	anonymous bool
}

// A seenSample caches the counters for an event and an address of a process, from a time to a time.
type seenSample struct {
	ip, from, to uint64
	pid, attr    uint32
	counter      *int64
	weight       *recording.Weight // nil if it is in no function
}

const (
	// counterPage is the size of pages, in bytes.
	counterPage = 16 << 10
	// noFunction is the function of a stay without code.
	noFunction = -1

	// maxStays is how many stays each mapping may have, on average: functions of 64 kB. A quarter of a million more are
	// allowed in all.
	maxStays = 4
)

// Of returns a counter of samples in functions, which must not change afterwards.
func Of(rec *recording.Recording, functions model.Functions) *Counter {
	c := &Counter{rec: rec, functions: functions, Processes: make(map[uint32]*countedProcess), lost: make(map[functionID]bool), resolved: make(map[*int64]bool), lowest: math.MaxUint64}
	c.carriers = recording.Carriers{Tree: &rec.ProcessTree, PastExec: true, Has: func(pid uint32) bool {
		p := c.Processes[pid]
		return p != nil && len(p.code)+len(p.files) > 0
	}}
	for i := range functions.Mappings {
		c.add(i)
	}
	return c
}

// add adds a mapping of a function. Mappings come in the order of their times, or nearly so.
func (c *Counter) add(i int) {
	m := &c.functions.Mappings[i]
	if m.Len == 0 || m.Addr+m.Len-1 < m.Addr {
		return
	}
	p := c.process(m.PID)
	lo, last := m.Addr, m.Addr+m.Len-1
	if m.Clear { // a range without bounds, in which few functions are
		lo, last = max(lo, c.lowest), min(last, c.highest)
	} else {
		c.lowest, c.highest = min(c.lowest, lo), max(c.highest, last)
	}
	for lo <= last && c.fits() {
		number := lo / counterPage
		end := min(last, number*counterPage+counterPage-1)
		at := p.code[number]
		if at == nil {
			at = new(page)
			p.code[number] = at
		}
		at.add(c, stay{int32(i), uint16(lo % counterPage), uint16(end % counterPage)})
		c.stays++
		if end == last {
			return
		}
		lo = end + 1
	}
}

// offsetOf returns the place in a function that is after another one, in bytes. It is noOffset if it does
// not fit.
func offsetOf(base, after uint64) uint32 {
	if base >= noOffset || after >= noOffset-base {
		return noOffset
	}
	return uint32(base + after)
}

// fits reports whether all mappings could be added.
func (c *Counter) fits() bool { return c.stays <= maxStays*len(c.functions.Mappings)+1<<18 }

// mapping returns the mapping of a stay.
func (c *Counter) mapping(s stay) *model.Mapping { return &c.functions.Mappings[s.mapping] }

// function returns the function of a mapping. Its number is noFunction if the code has left.
func (c *Counter) function(m *model.Mapping) functionID {
	f := &c.functions.List[m.Object]
	if m.Clear {
		return functionID{int32(f.Dump.Number), noFunction}
	}
	return functionID{int32(f.Dump.Number), f.Number}
}

// Lacks records that a function has no object. Any goroutine may call it. t may be nil.
func (c *Counter) Lacks(d *model.Dump, function int) {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lost[functionID{int32(d.Number), int32(function)}] = true
}

// process returns the state of a process, creating it if needed.
func (c *Counter) process(pid uint32) *countedProcess {
	p := c.Processes[pid]
	if p == nil {
		p = &countedProcess{code: make(map[uint64]*page)}
		c.Processes[pid] = p
	}
	return p
}

// prepare sets the programs of some dumps, and the files of all processes, from the present state
// of the recording. It must precede find.
func (c *Counter) prepare(dumps []*model.Dump) {
	for _, d := range dumps {
		for len(c.dumps) <= d.Number {
			counts := new(dumpCounter)
			c.dumps = append(c.dumps, counts)
			c.resolved[&counts.resolved] = true
		}
	}
	c.programs = programsOf(&c.rec.ProcessTree, dumps)
	repeats := recording.NewFileHistories(c.rec).Repeats(c.rec.ProcessTree.JitSpans(model.MarkersOf(dumps)))
	for pid, known := range c.rec.Processes {
		c.process(pid).setFiles(known, repeats, func(m *recording.FileMap) bool { return m.Name == "" && c.programs.at(pid, m.Time) != nil })
	}
}

// setFiles sets the addresses of a process's files, and of memory that is not for jitted code. Of repeated records,
// only parts stay.
func (p *countedProcess) setFiles(known *recording.Process, repeats map[int64][]addrs.Range, isJIT func(m *recording.FileMap) bool) {
	for i := range known.FileMaps {
		m := &known.FileMaps[i]
		if isJIT(m) {
			continue
		}
		parts, ok := repeats[m.Pos]
		if !ok {
			parts = []addrs.Range{{Lo: m.Lo, Hi: m.Hi}}
		}
		for _, part := range parts {
			p.files = append(p.files, counterFile{part, m.Time, m.Name == ""})
		}
	}
	for i := range known.Others {
		m := &known.Others[i]
		p.files = append(p.files, counterFile{addrs.Range{Lo: m.Lo, Hi: m.Hi}, m.Time, false})
	}
	sorting.Stable(p.files, func(a, b counterFile) int { return cmp.Compare(a.time, b.time) })
	ranges := make([]addrs.Range, len(p.files))
	for i := range p.files {
		ranges[i] = p.files[i].Range
	}
	p.places = addrs.NewTimeline(ranges)
}

// clear resets all counts.
func (c *Counter) clear() {
	c.Total, c.elsewhere, c.hot = 0, 0, hotCounts{}
	for _, d := range c.dumps {
		*d = dumpCounter{}
	}
	for _, p := range c.Processes {
		p.Unattributed = 0
	}
}

// sample counts a sample of user space.
func (c *Counter) sample(pid uint32, time, ip uint64, attr int, w recording.Weight) {
	s := &c.seen[(ip^ip>>13^uint64(pid)^uint64(attr)<<8)%uint64(len(c.seen))]
	if s.counter == nil || s.ip != ip || s.pid != pid || s.attr != uint32(attr) || time < s.from || time >= s.to {
		at, from, to := c.find(pid, time, ip)
		weight, moved := c.hot.at(at, attr)
		if moved {
			clear(c.seen)
		}
		*s = seenSample{ip, from, to, pid, uint32(attr), at.counter, weight}
	}
	*s.counter++
	if s.weight != nil {
		s.weight.Add(w)
	}
}

// find returns where a sample is, and the times from which and up to which that holds. Several goroutines may look for
// samples in different pages, of processes that are known.
func (c *Counter) find(pid uint32, time, ip uint64) (at spot, from, to uint64) {
	tree := &c.rec.ProcessTree
	from, to = tree.Program(pid, time).Since, tree.LifeEnd(pid, time)
	id, when, more := pid, time, true
	for n := 0; more && n < recording.MaxCarriers; n++ {
		if p := c.Processes[id]; p != nil {
			s, next := p.at(c, tree.Born(id, when), when, ip)
			if n == 0 {
				from, to = max(from, s.since), min(to, next)
			}
			switch {
			case s.kind == inFile:
				return spot{&c.elsewhere, nowhere, 0}, from, to
			case s.kind == inFunction && s.function.function != noFunction:
				return spot{&c.dumps[s.function.dump].resolved, s.function, s.offset}, from, to
			case s.kind == inFunction, s.kind == inMemory:
				return spot{c.unseen(pid, time, ip, s.kind == inFunction, &from, &to), nowhere, 0}, from, to
			}
		}
		c.mu.Lock()
		id, when, more = c.carriers.Next(id, when)
		c.mu.Unlock()
	}
	return spot{c.unseen(pid, time, ip, false, &from, &to), nowhere, 0}, from, to
}

// unseen returns the counter for a sample in no file and no function. left says that a function was
// there. It narrows the times for which that holds.
func (c *Counter) unseen(pid uint32, time, ip uint64, left bool, from, to *uint64) *int64 {
	in := c.programs.at(pid, time)
	if in == nil {
		return &c.process(pid).Unattributed
	}
	*from, *to = max(*from, in.from), min(*to, in.to)
	if p := c.Processes[pid]; p != nil {
		if of := p.code[ip/counterPage]; of != nil && of.loadsLater(c, time, in.to, uint16(ip%counterPage)) {
			return &c.dumps[in.dump].early
		}
	}
	if left {
		return &c.dumps[in.dump].left
	}
	return &c.dumps[in.dump].unresolved
}

// A sight is what a process has at an address: a file or a function, since a time.
type sight struct {
	kind     sightKind
	since    uint64
	function functionID
	offset   uint32 // in the function
}

// A sightKind says what is at an address.
type sightKind int

const (
	unknownSight sightKind = iota
	inFile
	inFunction
	inMemory // anonymous, in a program without a dump
)

// at returns what the process has at an address at a time. Mappings from before since do not count.
// next is when that may change.
func (p *countedProcess) at(c *Counter, since, time, ip uint64) (s sight, next uint64) {
	next = math.MaxUint64
	if of := p.code[ip/counterPage]; of != nil {
		s, next = of.at(c, since, time, ip)
	}
	if len(p.files) == 0 {
		return s, next
	}
	n := sort.Search(len(p.files), func(i int) bool { return p.files[i].time > time })
	here := addrs.Range{Lo: ip, Hi: ip + 1}
	if later := p.places.First(here, n, len(p.files)); later >= 0 {
		next = min(next, p.files[later].time)
	}
	if last := p.places.Last(here, 0, n); last >= 0 {
		// At equal times, the file is the later one and hides the function. But at time 0,
		// from before the recording, the function is the later one.
		f := &p.files[last]
		if f.time >= since && (s.kind == unknownSight || f.time > s.since || f.time == s.since && f.time > 0) {
			s = sight{kind: inFile, since: f.time}
			if f.anonymous {
				s.kind = inMemory
			}
		}
	}
	return s, next
}
