package clock

import (
	"math"

	"github.com/jitinject/jitinject/internal/recording"
	"github.com/jitinject/jitinject/perfdata"
)

// A writer is a process that writes events to a dump: the one that mapped it, or a child. Processes that are
// forked with the dump append to it (PHP's workers), and all their times are of one clock. So each of them
// adds constraints: by its fork, which precedes its events, by its samples in its own functions, and by its
// end.
type writer struct {
	// since is when it mapped the dump, or was forked, and end when its program ended, or another
	// replaced it. Both are of the recording.
	since, end       uint64
	exit             uint64 // when the last of its threads ended, of those seen so far
	gone             bool   // its first thread has ended
	earliest, latest uint64 // times of its first and last events, as they are read
}

func newWriter(tree *recording.ProcessTree, pid uint32, since uint64) *writer {
	return &writer{since: since, end: tree.LifeEnd(pid, since), earliest: math.MaxUint64}
}

// findWriters fills c.writers.
func (c *Constraints) findWriters() {
	d, tree := c.dump, &c.rec.ProcessTree
	c.writers = map[uint32]*writer{d.PID: newWriter(tree, d.PID, c.marker)}
	if d.Source.PID() != d.PID { // its numbers are of another pid namespace
		return
	}
	for _, ev := range d.Source.Scanned().Events {
		if ev.PID == 0 || c.writers[ev.PID] != nil {
			continue
		}
		// With several forks, it is not known which of the processes wrote.
		if forks := tree.ForksOf(ev.PID); len(forks) == 1 && forks[0].Clones && forks[0].Time >= c.marker && tree.Descends(ev.PID, forks[0].Time, d.PID) {
			c.writers[ev.PID] = newWriter(tree, ev.PID, forks[0].Time)
		}
	}
}

// wrote adds an event at a time of the dump, as it is read.
func (w *writer) wrote(time uint64) {
	w.earliest, w.latest = min(w.earliest, time), max(w.latest, time)
}

// exited notes the end of a thread. A process ends with its first thread. Then the other threads end one
// by one.
func (w *writer) exited(t *perfdata.Task) {
	if t.Time >= w.since && t.Time < w.end {
		w.exit = max(w.exit, t.Time)
		w.gone = w.gone || t.TID == t.PID
	}
}

// ended returns when it ended, or the highest time.
func (w *writer) ended() uint64 {
	if w.gone {
		return w.exit
	}
	return w.end
}
