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
	"github.com/jitinject/jitinject/perfdata"
)

// Which thread of the recording is one of a Mono log? The log calls threads by their
// pthread_self, an address. A core dump of the process says which thread that is. Else it
// is found out by what both files tell of threads: when they began and ended, and what
// they were called. Where that may be any of several, nobody knows; such threads are put
// in under numbers that no thread can have, so that at least their calls are not mixed.

// A taskLife is what a recording tells of a thread.
type taskLife struct {
	tid        uint32
	born, died uint64 // math.MaxUint64 if it outlives the recording
	names      []taskName
}

// A taskName is a name that a thread was given, other than that of the program.
type taskName struct {
	name string
	time uint64 // 0 if it had it before the recording
}

// A taskEvent is one of those that a recording tells of a thread.
type taskEvent struct {
	time uint64
	typ  perfdata.RecordType
	tid  uint32
	name string
}

// tasksOf returns the threads that a process has from a time on, the first thread first.
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
	slices.SortStableFunc(events, func(a, b taskEvent) int { return cmp.Compare(a.time, b.time) })
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
		case e.time == 0: // it was there before the recording
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
	for _, task := range tasks { // what threads are called that have no name of their own
		task.names = slices.DeleteFunc(task.names, func(n taskName) bool { return n.time == 0 && n.name == program })
	}
	return tasks, nil
}

// maxTaskEvents bounds how much is looked at.
const maxTaskEvents = 1 << 18

// A threadMatch finds the threads of a log in a recording.
type threadMatch struct {
	clock   func(uint64) uint64
	slack   uint64 // by how much times may be wrong, in nanoseconds
	threads []*LogThread
	tasks   []*taskLife
	task    map[*LogThread]*taskLife // what has been found
	taken   map[*taskLife]*LogThread
}

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
	threadSlack = 50e3 // a thread is told of when it is all but gone
	looseSlack  = 20e6 // the clock is an estimate
	nameSlack   = 2e6  // between the renaming of a thread and what the log says of it
	oldName     = 1e3  // what counts as that where nobody knows when it was
	commLength  = 15   // what the kernel keeps of a name
	clearly     = 3    // how many times better than the next one the best must be
)

func (m *threadMatch) set(t *LogThread, task *taskLife) {
	m.task[t], m.taken[task] = task, t
}

// useCore takes in what a core dump says: the threads that were there at the end.
func (m *threadMatch) useCore(tids map[uint64]uint32) {
	for i := len(m.threads) - 1; i >= 0; i-- {
		t := m.threads[i]
		tid, ok := tids[t.Self]
		if !ok {
			continue
		}
		delete(tids, t.Self) // an earlier one with that pthread_self was another
		for j := len(m.tasks) - 1; j >= 0; j-- {
			if m.tasks[j].tid == tid {
				if m.taken[m.tasks[j]] == nil {
					m.set(t, m.tasks[j])
				}
				break
			}
		}
	}
}

// distance says how far a thread of the log is from one of the recording: how long it was
// there without a word in the log. ok is false if they cannot be the same.
func (m *threadMatch) distance(t *LogThread, task *taskLife) (d uint64, ok bool) {
	first, last := m.clock(t.First), m.clock(t.Last)
	if first+m.slack < task.born || task.died != math.MaxUint64 && last > task.died+m.slack {
		return 0, false
	}
	if len(task.names) > 0 { // Mono calls some threads by names that they have nowhere else
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

// nameDistance is distance where the recording has a name: the log must have it since the
// same time.
func (m *threadMatch) nameDistance(t *LogThread, task *taskLife) (d uint64, ok bool) {
	named := m.clock(t.NamedAt)
	for _, n := range task.names {
		if t.Name == "" || n.name != t.Name[:min(len(t.Name), commLength)] {
			continue
		}
		apart := max(n.time, named) - min(n.time, named)
		if n.time == 0 { // nobody knows since when
			apart = oldName
		}
		if apart <= nameSlack+m.slack && (!ok || apart < d) {
			d, ok = apart, true
		}
	}
	return d, ok
}

// match finds what is certain, or as good as that: threads that are clearly nearest to each
// other, and then those for which only one is left that they can be.
func (m *threadMatch) match(whole bool) {
	m.matchMain()
	for {
		changed := false
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

// mainThread is what Mono calls the first thread of a program, which it does not tell the
// kernel.
const mainThread = "Main"

// matchMain sets the first thread, if only one is called so.
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

// matchOnly sets the threads that can be no other than one, if the same is true of none
// else. That is so only if the recording tells of all threads.
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

// best returns the thread of the recording that one of the log is clearly nearest to, or
// nil; and how many it can be.
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

// bestFor is best the other way round.
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

// A nearness tells whether the nearest is much nearer than all others.
type nearness struct {
	n             int
	nearest, next uint64
}

// add takes in a distance, and reports whether it is the nearest so far.
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

// syntheticTIDs is where numbers are that no thread can have: PID_MAX_LIMIT of Linux.
const syntheticTIDs = 1<<22 + 1

// threadNumbers gives a number to each thread of the log that has logged calls: its own,
// or one that is made up.
func (m *threadMatch) threadNumbers() (tids map[*LogThread]uint32, made []calls.SyntheticThread) {
	tids = make(map[*LogThread]uint32)
	threads := slices.Clone(m.threads)
	slices.SortStableFunc(threads, func(a, b *LogThread) int { return cmp.Compare(a.First, b.First) })
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
