package locate

import (
	"slices"

	"github.com/jitinject/jitinject/internal/recording"
	"github.com/jitinject/jitinject/internal/source"
)

// A Completer is a dump that can describe what better dumps of its process leave out.
type Completer interface {
	source.Dump

	// GiveWay leaves out functions that a better dump describes. It precedes MarkFound's marker.
	GiveWay(better source.Dump)

	// SetPID sets the process, which may have 32 bits on a machine with 64. It must follow SetMachine.
	SetPID(pid uint32)
}

// MarkFound makes a marker for the process of a file whose source is a Completer, if it has functions that
// other dumps of the process do not describe. From the start of its program on, anonymous memory counts as JIT
// code. says is where the file was found, and known says what it was known by, if not by its name.
func (f *Finder) MarkFound(pid uint32, s *SideFile, says, known string) {
	d := s.Source.(Completer)
	described, _ := f.Described(pid)
	for _, better := range described {
		d.GiveWay(better)
	}
	completes := slices.ContainsFunc(described, func(d source.Dump) bool { return !d.Traits().Registered })
	if len(described) > 0 && len(d.Scanned().Events) == 0 || completes && !IsMissed(f.Rec, pid, d, described) {
		s.Taken = true
		return
	}
	if completes {
		known = "it completes the dump of its process"
	}
	d.SetPID(pid)
	start := f.Rec.ProgramStart(pid, 0)
	if start > 0 && start == f.Rec.ProcessTree.Born(pid, start) {
		start++ // perf forgets what is mapped before the record of the fork
	}
	f.Mark(recording.Marker{PID: pid, Number: pid, Time: start, Path: s.Path, Pos: -1, Place: says, Known: known}, s)
}
