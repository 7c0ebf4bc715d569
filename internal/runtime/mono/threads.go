package mono

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/jitinject/jitinject/internal/calls"
	"github.com/jitinject/jitinject/internal/model"
	"github.com/jitinject/jitinject/internal/recording"
	"github.com/jitinject/jitinject/internal/report"
	"github.com/jitinject/jitinject/internal/sorting"
	"github.com/jitinject/jitinject/perfdata"
)

// Threads of a Mono log and of the recording. The log identifies threads by their pthread_self, an
// address. A core dump of the process has their thread ids. Otherwise they are matched by data in
// both files: start times, end times and names. A thread that may be any of several becomes a
// synthetic thread, with an impossible number. So at least its calls are not mixed with others.

// A taskLife has a thread's data from the recording.
type taskLife struct {
	tid        uint32
	born, died uint64 // died is math.MaxUint64 for a thread that outlives the recording
	names      []taskName
}

// A taskName is a name of a thread, other than that of the program.
type taskName struct {
	name string
	time uint64 // 0 for a name from before the recording
}

// A taskEvent is a recorded event about a thread.
type taskEvent struct {
	time uint64
	typ  perfdata.RecordType
	tid  uint32
	name string
}

// tasksOf returns the threads of a process from a time on, the main thread first.
func tasksOf(ctx context.Context, rec *recording.Recording, pid uint32, since uint64) ([]*taskLife, error) {
	var events []taskEvent
	for block, err := range rec.In.Walk(ctx, report.PhaseSamples) {
		if err != nil {
			return nil, err
		}
		for _, r := range block.Records() {
			if len(events) == maxTaskEvents {
				break
			}
			switch r.Type {
			case perfdata.RecordFork, perfdata.RecordExit:
				if t, err := rec.Layouts.Task(r); err == nil && t.PID == pid && (r.Type == perfdata.RecordExit || t.PID == t.ParentPID) {
					events = append(events, taskEvent{t.Time, r.Type, t.TID, ""})
				}
			case perfdata.RecordComm:
				if c, err := rec.Layouts.Comm(r); err == nil && c.PID == pid && !c.Exec {
					events = append(events, taskEvent{rec.Time(r), r.Type, c.TID, string(c.Name)})
				}
			}
		}
	}
	sorting.Stable(events, func(a, b taskEvent) int { return cmp.Compare(a.time, b.time) })
	first := &taskLife{tid: pid, born: rec.ProgramStart(pid, since), died: math.MaxUint64}
	tasks := []*taskLife{first}
	alive := map[uint32]*taskLife{pid: first}
	program := ""
	begin := func(e *taskEvent) {
		task := &taskLife{tid: e.tid, born: e.time, died: math.MaxUint64}
		tasks = append(tasks, task)
		alive[e.tid] = task
	}
	for i := range events {
		e := &events[i]
		task := alive[e.tid]
		switch {
		case e.time < first.born && e.time > 0: // of another program
		case e.typ == perfdata.RecordFork:
			if e.tid != pid {
				begin(e)
			}
		case e.typ == perfdata.RecordExit:
			if task != nil {
				task.died = e.time
			}
		case e.time == 0: // it existed before the recording
			if e.tid == pid {
				program = e.name
			} else if task == nil {
				begin(e)
				alive[e.tid].names = []taskName{{e.name, 0}}
			}
		case task != nil:
			task.names = append(task.names, taskName{e.name, e.time})
		}
	}
	for _, task := range tasks { // the program's name is no name of its own
		task.names = slices.DeleteFunc(task.names, func(n taskName) bool { return n.time == 0 && n.name == program })
	}
	return tasks, nil
}

// maxTaskEvents bounds the number of examined events.
const maxTaskEvents = 1 << 18

// A threadMatch matches the threads of a log with those of a recording.
type threadMatch struct {
	clock   func(uint64) uint64
	slack   uint64 // possible error of times, in nanoseconds
	threads []*LogThread
	tasks   []*taskLife
	task    map[*LogThread]*taskLife // matches so far
	taken   map[*taskLife]*LogThread
	stopped bool // they were too many
}

// maxCompared bounds the comparisons of threads with threads. A round for 5,000 threads has half of these.
const maxCompared = 1 << 27

func newThreadMatch(d *model.Dump, threads []*LogThread, tasks []*taskLife) *threadMatch {
	m := &threadMatch{
		clock: d.Clock, slack: threadSlack, threads: threads, tasks: tasks,
		task: make(map[*LogThread]*taskLife), taken: make(map[*taskLife]*LogThread),
	}
	if d.Match.Kind != report.ClockMonotonic {
		m.slack = looseSlack
	}
	return m
}

const (
	threadSlack = 50e3 // ns; a thread's end is recorded late
	looseSlack  = 20e6 // ns; for an estimated clock
	nameSlack   = 2e6  // ns; between the renaming of a thread and its event in the log
	oldName     = 1e3  // ns; distance assumed for a name of unknown age
	commLength  = 15   // bytes of a name that the kernel keeps
	clearly     = 3    // minimum ratio of the second-best distance to the best
)

func (m *threadMatch) set(t *LogThread, task *taskLife) {
	m.task[t], m.taken[task] = task, t
}

// useCore adds matches from a core dump: the threads that existed at the end.
func (m *threadMatch) useCore(tids map[uint64]uint32) {
	last := make(map[uint32]*taskLife)
	for _, task := range m.tasks {
		last[task.tid] = task
	}
	for _, t := range slices.Backward(m.threads) {
		tid, ok := tids[t.Self]
		if task := last[tid]; ok && task != nil && m.taken[task] == nil {
			m.set(t, task)
		}
		delete(tids, t.Self) // earlier threads with that pthread_self are others
	}
}

// distance returns the distance between a thread of the log and one of the recording: the time, in
// nanoseconds, that the thread existed without events in the log. ok is false if they cannot be the
// same.
func (m *threadMatch) distance(t *LogThread, task *taskLife) (d uint64, ok bool) {
	first, last := m.clock(t.First), m.clock(t.Last)
	if first+m.slack < task.born || task.died != math.MaxUint64 && last > task.died+m.slack {
		return 0, false
	}
	if len(task.names) > 0 { // Mono gives some threads names that only the log has
		return m.nameDistance(t, task)
	}
	if first > task.born {
		d = first - task.born
	}
	if task.died != math.MaxUint64 && last < task.died {
		d += task.died - last
	}
	return d, true
}

// nameDistance is distance for a thread with a name in the recording. The log must have the name
// since about the same time.
func (m *threadMatch) nameDistance(t *LogThread, task *taskLife) (d uint64, ok bool) {
	named := m.clock(t.NamedAt)
	for _, n := range task.names {
		if t.Name == "" || n.name != t.Name[:min(len(t.Name), commLength)] {
			continue
		}
		apart := max(n.time, named) - min(n.time, named)
		if n.time == 0 { // the time of the name is unknown
			apart = oldName
		}
		if apart <= nameSlack+m.slack && (!ok || apart < d) {
			d, ok = apart, true
		}
	}
	return d, ok
}

// match finds threads that certainly, or almost certainly, match. First it matches threads that are
// clearly nearest to each other. Then it matches threads with only one candidate left. It stops when there are too many.
func (m *threadMatch) match(whole bool) {
	m.matchMain()
	for left := maxCompared; ; {
		changed := false
		open := len(m.threads) - len(m.task)
		if left -= open * (2*len(m.tasks) + len(m.threads)); left < 0 {
			m.stopped = true
			return
		}
		for _, t := range m.threads {
			if m.task[t] != nil {
				continue
			}
			if task, _ := m.best(t); task != nil && m.bestFor(task) == t {
				m.set(t, task)
				changed = true
			}
		}
		if !changed && !(whole && m.matchOnly()) {
			return
		}
	}
}

// mainThread is Mono's name for the main thread of a program. The kernel does not have this name.
const mainThread = "Main"

// matchMain matches the main thread, if only one thread has its name.
func (m *threadMatch) matchMain() {
	var main *LogThread
	for _, t := range m.threads {
		if t.Name == mainThread {
			if main != nil {
				return
			}
			main = t
		}
	}
	if main == nil || m.task[main] != nil || m.taken[m.tasks[0]] != nil || len(m.tasks[0].names) > 0 {
		return
	}
	if _, ok := m.distance(main, m.tasks[0]); ok {
		m.set(main, m.tasks[0])
	}
}

// matchOnly matches threads with a single candidate, if no other thread has that one as its single
// candidate. This is valid only if the recording has all threads.
func (m *threadMatch) matchOnly() (changed bool) {
	only := make(map[*taskLife]*LogThread)
	for _, t := range m.threads {
		if m.task[t] != nil {
			continue
		}
		if task, n := m.best(t); task != nil && n == 1 {
			if _, again := only[task]; again {
				only[task] = nil
			} else {
				only[task] = t
			}
		}
	}
	for task, t := range only {
		if t != nil {
			m.set(t, task)
			changed = true
		}
	}
	return changed
}

// best returns the thread of the recording that is clearly nearest to one of the log, or nil. n is
// the number of candidates.
func (m *threadMatch) best(t *LogThread) (best *taskLife, n int) {
	var near nearness
	for _, task := range m.tasks {
		if m.taken[task] != nil {
			continue
		}
		if d, ok := m.distance(t, task); ok {
			n++
			if near.add(d) {
				best = task
			}
		}
	}
	if !near.clear() {
		best = nil
	}
	return best, n
}

// bestFor is best in the other direction.
func (m *threadMatch) bestFor(task *taskLife) (best *LogThread) {
	var near nearness
	for _, t := range m.threads {
		if m.task[t] != nil {
			continue
		}
		if d, ok := m.distance(t, task); ok && near.add(d) {
			best = t
		}
	}
	if !near.clear() {
		return nil
	}
	return best
}

// A nearness decides whether the nearest distance is much less than all others.
type nearness struct {
	n             int
	nearest, next uint64
}

// add adds a distance, and reports whether it is the nearest so far.
func (s *nearness) add(d uint64) bool {
	s.n++
	if s.n == 1 || d < s.nearest {
		s.nearest, s.next = d, s.nearest
		return true
	}
	if s.n == 2 || d < s.next {
		s.next = d
	}
	return false
}

func (s *nearness) clear() bool { return s.n < 2 || s.next/clearly >= s.nearest }

// syntheticTIDs is the first impossible thread id, above PID_MAX_LIMIT of Linux.
const syntheticTIDs = 1<<22 + 1

// threadNumbers returns a number for each thread with logged calls: the recording's, or a made-up
// one.
func (m *threadMatch) threadNumbers() (tids map[*LogThread]uint32, made []calls.SyntheticThread) {
	tids = make(map[*LogThread]uint32)
	threads := slices.Clone(m.threads)
	sorting.Stable(threads, func(a, b *LogThread) int { return cmp.Compare(a.First, b.First) })
	for _, t := range threads {
		if !t.Calls() {
			continue
		}
		if task := m.task[t]; task != nil {
			tids[t] = task.tid
			continue
		}
		tid := syntheticTIDs + uint32(len(made))
		name := t.Name
		if name == "" {
			name = "mono-thread"
		}
		made = append(made, calls.SyntheticThread{TID: tid, Name: name})
		tids[t] = tid
	}
	return tids, made
}
