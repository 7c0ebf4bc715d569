package attribution

import (
	"math"
	"slices"

	"github.com/jitinject/jitinject/internal/jitcode"
	"github.com/jitinject/jitinject/internal/model"
	"github.com/jitinject/jitinject/internal/recording"
)

// Each function may be in each process. fewShared and bytesOfShared bound how often functions are given to processes
// other than their own, by the bytes of their dumps, and maxShared does in any case.
const (
	fewShared     = 1 << 16
	bytesOfShared = 8
	maxShared     = 1 << 22
)

// A Sharing gives functions to the processes that share memory. All dumps of a recording have one.
type Sharing struct {
	memory *recording.SharedMemory
	shared int
	most   int
}

// NewSharing returns the sharing of the dumps of a recording.
func NewSharing(memory *recording.SharedMemory, dumps []*model.Dump) *Sharing {
	bytes := int64(0)
	for _, d := range dumps {
		bytes += d.Bytes()
	}
	return &Sharing{memory: memory, most: int(min(fewShared+bytes/bytesOfShared, maxShared))}
}

// Overflows reports whether functions were not given to all processes that have them.
func (s *Sharing) Overflows() bool { return s.shared > s.most || s.memory.Exhausted() }

// Most is the bound at which that begins.
func (s *Sharing) Most() int { return s.most }

// sharedFile returns what shared memory an event lies in. pid is its process. A dump whose times are unknown has
// the code of children before they are born: then it is the memory of the dump's process.
func (a *Attribution) sharedFile(pid uint32, e *jitcode.Event) (f recording.SharedFile, ok bool) {
	if a.sharing.memory.IsEmpty() {
		return f, false
	}
	time := a.d.Clock(e.Time)
	if _, born := a.tree.Fork(pid, time); !born && len(a.tree.ForksOf(pid)) > 0 {
		pid = a.d.PID
	}
	return a.sharing.memory.At(pid, e.Addr, time)
}

// inSharedMemory returns the process of an event of a process that is not related to the dump's, if the event
// lies in memory that it shares with the dump's process. A number that the recording does not know, or
// that is of another pid namespace, is taken for one of those who share it: they all have the code.
func (a *Attribution) inSharedMemory(e *jitcode.Event) (pid, tid uint32, ok bool) {
	file, ok := a.sharedFile(a.d.PID, e)
	if !ok || a.d.Source.PID() != a.d.PID || a.rec.Processes[e.PID] == nil {
		return a.d.PID, a.d.PID, ok
	}
	own, ok := a.sharedFile(e.PID, e)
	return e.PID, e.TID, ok && own == file
}

// present are the programs that share a file at the time of an event. Events come in the order of their
// times, or nearly so; those that end are not looked at again.
type present struct {
	*recording.Sharers
	next  int // number of sharers that were or are there
	there []recording.Sharer
}

// at returns the programs that share the file at a time.
func (p *present) at(time uint64) []recording.Sharer {
	since := p.UpTo(time) // some of these have ended
	p.there = append(p.there, since[p.next:]...)
	p.next = len(since)
	p.there = slices.DeleteFunc(p.there, func(sharer recording.Sharer) bool { return sharer.Until <= time })
	return p.there
}

// shareMemory calls f for the processes other than pid that have the code of an event in the shared
// memory file: from the event on, or from when they map it. Children that are forked later inherit it
// from those.
func (a *Attribution) shareMemory(file recording.SharedFile, pid uint32, e *jitcode.Event, f func(pid, tid uint32, time uint64)) {
	s, time := a.sharing, a.d.Clock(e.Time)
	p := a.present[file]
	if p == nil {
		p = &present{Sharers: s.memory.SharersOf(file)}
		a.present[file] = p
	}
	there := p.at(time)
	for i := range there {
		sharer := &there[i]
		if s.Overflows() {
			return
		}
		if sharer.PID != pid && p.Has(sharer, e.Addr, time) {
			s.shared++
			f(sharer.PID, sharer.PID, time)
		}
	}
	p.Later(e.Addr, time, func(pid uint32, at uint64) bool {
		if at < math.MaxUint64 {
			s.shared++
			f(pid, pid, at+1) // after the record of the mapping, which takes effect first
		}
		return !s.Overflows()
	})
}
