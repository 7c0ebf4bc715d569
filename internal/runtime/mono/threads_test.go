package mono

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/internal/clock"
	"github.com/jitinject/jitinject/internal/model"
	"github.com/jitinject/jitinject/internal/report"
)

// Threads of a log and of a recording, by what both tell of them. A log's is
// "from-to name@time", a recording's is "tid:from-to name@time"; what the program called
// itself is the first of the latter. Times are in microseconds.
func TestThreads_MatchedByBoth(t *testing.T) {
	for _, test := range []struct {
		name, log, recording string
		lost                 bool // the recording may not have all threads
		want                 string
	}{
		{"one", "100-900", "1:0-1000", false, "1"},
		{"by names", "200-300 a@210, 205-300 b@211", "1:0-1000, 2:190-400 b@212, 3:191-400 a@209", false, "3 2"},
		{"by times", "100-900, 200-300, 400-450", "1:0-1000, 2:190-310, 3:390-460", false, "1 2 3"},
		{"the same name again", "200-300 w@210, 5000-5300 w@5010", "1:0-9000, 2:190-310 w@211, 3:4990-5310 w@5011", false, "2 3"},
		{"a name that only Mono knows", "100-900 Main@100", "1:0-1000", false, "1"},
		{"a thread of others", "100-900", "1:0-1000, 2:90-910 gc@95", false, "1"},
		{"too close together", "500-800, 500-800", "1:0-9000, 2:490-810, 3:490-810", false, "- -"},
		{"too close, but for one", "500-800, 700-800", "1:0-9000 main@100, 2:490-810, 3:680-810", false, "2 3"},
		{"all were there before", "100-900 Main@100, 200-5000, 300-5000 a@310", "1:0-9000, 2:0-5010, 3:0-5010 a@0", false, "1 2 3"},
		{"two of one name", "100-5000 a@110, 100-5000 a@110", "1:0-9000 x@1, 2:0-5010 a@0, 3:0-5010 a@0", false, "- -"},
		{"named before the recording", "100-5000 a@110, 105-5000 b@120", "1:0-9000, 2:0-5010 b@0, 3:0-5010 a@0", false, "3 2"},
		{"none is there", "100-900", "1:500-1000", false, "-"},
		{"nothing else is left", "100-5000, 300-4900", "1:0-90000 x@5, 2:95-6000, 3:290-6000", false, "2 3"},
		{"the recording lost some", "100-5000, 300-4900", "1:0-90000 x@5, 2:95-6000, 3:290-6000", true, "- -"},
	} {
		t.Run(test.name, func(t *testing.T) {
			d := &model.Dump{Clock: clock.Shifted(0), Match: report.Clock{Kind: report.ClockMonotonic}}
			var threads []*LogThread
			for _, text := range strings.Split(test.log, ", ") {
				th := new(LogThread)
				var name string
				fmt.Sscanf(text, "%d-%d %s", &th.First, &th.Last, &name)
				if at := strings.IndexByte(name, '@'); at >= 0 {
					th.Name = name[:at]
					fmt.Sscan(name[at+1:], &th.NamedAt)
				}
				th.First, th.Last, th.NamedAt = th.First*1000, th.Last*1000, th.NamedAt*1000
				threads = append(threads, th)
			}
			var tasks []*taskLife
			for _, text := range strings.Split(test.recording, ", ") {
				task := new(taskLife)
				var name string
				fmt.Sscanf(text, "%d:%d-%d %s", &task.tid, &task.born, &task.died, &name)
				if at := strings.IndexByte(name, '@'); at >= 0 {
					n := taskName{name: name[:at]}
					fmt.Sscan(name[at+1:], &n.time)
					n.time *= 1000
					task.names = append(task.names, n)
				}
				task.born, task.died = task.born*1000, task.died*1000
				tasks = append(tasks, task)
			}
			m := newThreadMatch(d, threads, tasks)
			m.slack = 1000
			m.match(!test.lost)
			var got []string
			for _, th := range threads {
				if task := m.task[th]; task != nil {
					got = append(got, fmt.Sprint(task.tid))
				} else {
					got = append(got, "-")
				}
			}
			if s := strings.Join(got, " "); s != test.want {
				t.Errorf("got %s, want %s", s, test.want)
			}
		})
	}
}

// A core dump knows better, of the last thread that had an address.
func TestThreads_MatchedByCore(t *testing.T) {
	d := &model.Dump{Clock: clock.Shifted(0), Match: report.Clock{Kind: report.ClockMonotonic}}
	threads := []*LogThread{{Self: 0x10, First: 500, Last: 600}, {Self: 0x20, First: 500, Last: 700}, {Self: 0x10, First: 800, Last: 900}}
	tasks := []*taskLife{{tid: 1, died: math.MaxUint64}, {tid: 2, born: 490, died: 610}, {tid: 3, born: 490, died: math.MaxUint64}, {tid: 4, born: 790, died: math.MaxUint64}}
	m := newThreadMatch(d, threads, tasks)
	m.useCore(map[uint64]uint32{0x10: 4, 0x20: 3, 0x30: 1})
	if m.task[threads[2]] != tasks[3] || m.task[threads[1]] != tasks[2] || m.task[threads[0]] != nil {
		t.Errorf("got %v; want m.task[threads[2]] = %v, m.task[threads[1]] = %v, no m.task[threads[0]]", m.task, tasks[3], tasks[2])
	}
}

// Many threads are not all compared with each other.
func TestThreads_Bounded(t *testing.T) {
	d := &model.Dump{Clock: clock.Shifted(0), Match: report.Clock{Kind: report.ClockMonotonic}}
	for _, c := range []struct {
		number  int
		stopped bool
	}{{100, false}, {20000, true}} {
		var threads []*LogThread
		tasks := []*taskLife{{tid: 1, died: math.MaxUint64}}
		for i := range c.number {
			at := uint64(i) * 1e9
			threads = append(threads, &LogThread{Self: at, First: at + 500, Last: at + 600})
			tasks = append(tasks, &taskLife{tid: uint32(2 + i), born: at + 490, died: at + 610})
		}
		m := newThreadMatch(d, threads, tasks)
		if m.match(true); m.stopped != c.stopped || !c.stopped && len(m.task) != c.number {
			t.Errorf("%d threads: got %d matches, stopped %v; want stopped %v", c.number, len(m.task), m.stopped, c.stopped)
		}
	}
}
