package inject

import (
	"os"

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
	list  []stretch
	size  int64 // that they should have at least
}

// minStretch is what is worth a system call of its own.
const minStretch = 1 << 20

// maxUnseen is what is copied at once, before someone looks whether to go on.
const maxUnseen = 64 << 20

// add takes in the next block.
func (s *stretches) add(b *perfdata.Block, latest uint64, touched bool) {
	if s.list == nil {
		s.begin, s.size = b.Offset, minStretch/4
	}
	end := b.Offset + int64(len(b.Data))
	if n := len(s.list); n > 0 {
		last, begin := &s.list[n-1], s.begin
		if n > 1 {
			begin = s.list[n-2].end
		}
		if last.end-begin < s.size {
			last.join(stretch{end, latest, touched})
			return
		}
	}
	s.list = append(s.list, stretch{end, latest, touched})
	if len(s.list) == maxStretches {
		for i := range maxStretches / 2 {
			s.list[i] = s.list[2*i]
			s.list[i].join(s.list[2*i+1])
		}
		s.list = s.list[:maxStretches/2]
		s.size *= 2
	}
}

func (s *stretch) join(next stretch) {
	s.end, s.latest, s.touched = next.end, max(s.latest, next.latest), s.touched || next.touched
}

// untouched returns the offset up to which everything from offset on, where a
// stretch begins, can be copied unseen if the next mapping to be put in is of the
// given time. Stretches that end there are forgotten.
func (s *stretches) untouched(offset int64, next uint64) (end int64) {
	for len(s.list) > 0 && s.list[0].end <= offset {
		s.begin, s.list = s.list[0].end, s.list[1:]
	}
	if s.begin != offset {
		return offset
	}
	end = offset
	for _, t := range s.list {
		if t.touched || t.latest >= next || end-offset >= maxUnseen {
			break
		}
		end = t.end
	}
	return end
}

// A copier is a sink that can have the kernel copy.
type copier interface {
	CopyRange(src *os.File, offset, n int64) error
}

// copyUnseen copies what need not be looked at, if that is much.
func (r *rewriter) copyUnseen(blocks perfdata.Stream) error {
	dst, ok := r.out.(copier)
	reader, isFile := blocks.(*perfdata.BlockReader)
	if !ok || !isFile || r.rec.stretches.list == nil {
		return nil
	}
	next := ^uint64(0)
	if r.next < len(r.plan.mappings) {
		next = r.plan.mappings[r.next].time
	}
	from := reader.Offset()
	to := r.rec.stretches.untouched(from, next)
	if to-from < minStretch {
		return nil
	}
	if err := dst.CopyRange(r.rec.in.plain, from, to-from); err != nil {
		return err
	}
	return reader.SkipTo(to)
}
