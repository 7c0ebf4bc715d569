package recording

import (
	"github.com/jitinject/jitinject/perfdata"
)

// Most of a recording is samples between which nothing has to be put. The survey
// remembers where that is so, and the rewriting has the kernel copy it, unseen.

// A stretch is a run of whole records of a file.
type stretch struct {
	end     int64  // its offset in the file; it begins where the one before ends
	latest  uint64 // time of a record in it
	touched bool   // it has records that must be looked at
}

// maxStretches bounds how many are remembered, of whatever a recording's length.
const maxStretches = 1 << 14

// stretches are those of a file, from its first record on. The file may be one of
// which nothing can be copied unseen; then there are none.
type stretches struct {
	begin int64
	List  []stretch
	size  int64 // that they should have at least
}

// MinStretch is what is worth a system call of its own.
const MinStretch = 1 << 20

// maxUnseen is what is copied at once, before someone looks whether to go on.
const maxUnseen = 64 << 20

// add takes in the next block.
func (s *stretches) add(b *perfdata.Block, latest uint64, touched bool) {
	if s.List == nil {
		s.begin, s.size = b.Offset, MinStretch/4
	}
	end := b.Offset + int64(len(b.Data))
	if n := len(s.List); n > 0 {
		last, begin := &s.List[n-1], s.begin
		if n > 1 {
			begin = s.List[n-2].end
		}
		if last.end-begin < s.size {
			last.join(stretch{end, latest, touched})
			return
		}
	}
	s.List = append(s.List, stretch{end, latest, touched})
	if len(s.List) == maxStretches {
		for i := range maxStretches / 2 {
			s.List[i] = s.List[2*i]
			s.List[i].join(s.List[2*i+1])
		}
		s.List = s.List[:maxStretches/2]
		s.size *= 2
	}
}

func (s *stretch) join(next stretch) {
	s.end, s.latest, s.touched = next.end, max(s.latest, next.latest), s.touched || next.touched
}

// Untouched returns the offset up to which everything from offset on, where a
// stretch begins, can be copied unseen if the next mapping to be put in is of the
// given time. Stretches that end there are forgotten.
func (s *stretches) Untouched(offset int64, next uint64) (end int64) {
	for len(s.List) > 0 && s.List[0].end <= offset {
		s.begin, s.List = s.List[0].end, s.List[1:]
	}
	if s.begin != offset {
		return offset
	}
	end = offset
	for _, t := range s.List {
		if t.touched || t.latest >= next || end-offset >= maxUnseen {
			break
		}
		end = t.end
	}
	return end
}
