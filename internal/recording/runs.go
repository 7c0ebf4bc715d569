package recording

import (
	"github.com/jitinject/jitinject/perfdata"
)

// Most of a recording is samples between which nothing has to be put. The survey
// remembers where that is so, and the rewriting has the kernel copy it, unseen.

// A stretch is a run of whole records of a file.
type run struct {
	end     int64  // its offset in the file; it begins where the one before ends
	latest  uint64 // time of a record in it
	special bool   // it has records that must be looked at
}

// maxRuns bounds how many are remembered, of whatever a recording's length.
const maxRuns = 1 << 14

// runs are those of a file, from its first record on. The file may be one of
// which nothing can be copied unseen; then there are none.
type runs struct {
	begin int64
	List  []run
	size  int64 // that they should have at least
}

// MinRun is what is worth a system call of its own.
const MinRun = 1 << 20

// maxUnseen is what is copied at once, before someone looks whether to go on.
const maxUnseen = 64 << 20

// add takes in the next block.
func (s *runs) add(b *perfdata.Block, latest uint64, special bool) {
	if s.List == nil {
		s.begin, s.size = b.Offset, MinRun/4
	}
	end := b.Offset + int64(len(b.Data))
	if n := len(s.List); n > 0 {
		last, begin := &s.List[n-1], s.begin
		if n > 1 {
			begin = s.List[n-2].end
		}
		if last.end-begin < s.size {
			last.join(run{end, latest, special})
			return
		}
	}
	s.List = append(s.List, run{end, latest, special})
	if len(s.List) == maxRuns {
		for i := range maxRuns / 2 {
			s.List[i] = s.List[2*i]
			s.List[i].join(s.List[2*i+1])
		}
		s.List = s.List[:maxRuns/2]
		s.size *= 2
	}
}

func (s *run) join(next run) {
	s.end, s.latest, s.special = next.end, max(s.latest, next.latest), s.special || next.special
}

// Untouched returns the offset up to which everything from offset on, where a
// run begins, can be copied unseen if the next mapping to be put in is of the
// given time. Stretches that end there are forgotten.
func (s *runs) Untouched(offset int64, next uint64) (end int64) {
	for len(s.List) > 0 && s.List[0].end <= offset {
		s.begin, s.List = s.List[0].end, s.List[1:]
	}
	if s.begin != offset {
		return offset
	}
	end = offset
	for _, t := range s.List {
		if t.special || t.latest >= next || end-offset >= maxUnseen {
			break
		}
		end = t.end
	}
	return end
}
