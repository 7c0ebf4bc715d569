package recording

import (
	"github.com/jitinject/jitinject/perfdata"
)

// Most of a recording is samples with no mapping to insert between them. The survey remembers the
// runs where that is so. The rewriting has the kernel copy them unread.

// A run is a range of whole records of a file.
type run struct {
	end     int64  // its offset in the file; it begins where the run before ends
	latest  uint64 // the latest time of its records
	special bool   // it has records that must be read
}

// maxRuns bounds how many runs are kept, for any length of the recording.
const maxRuns = 1 << 14

// runs are the runs of a file, from its first record on. There are none if the file cannot be
// copied unread.
type runs struct {
	// begin is the offset in the file at which the first run begins.
	begin int64
	// List has the runs in the order of their offsets.
	List []run
	size int64 // the least size of a run in bytes; it grows with the file
}

// MinRun is the least number of bytes that are worth a system call of their own.
const MinRun = 1 << 20

// maxUnseen bounds how many bytes are copied at once, between checks for cancellation.
const maxUnseen = 64 << 20

// add appends a block to the last run, or begins a new run with it.
func (r *runs) add(b *perfdata.Block, latest uint64, special bool) {
	if r.List == nil {
		r.begin, r.size = b.Offset, MinRun/4
	}
	end := b.Offset + int64(len(b.Data))
	if n := len(r.List); n > 0 {
		last, begin := &r.List[n-1], r.begin
		special = special || b.Offset != last.end // records of a pipe's header are between them
		if n > 1 {
			begin = r.List[n-2].end
		}
		if last.end-begin < r.size {
			last.join(run{end, latest, special})
			return
		}
	}
	r.List = append(r.List, run{end, latest, special})
	if len(r.List) == maxRuns {
		for i := range maxRuns / 2 {
			r.List[i] = r.List[2*i]
			r.List[i].join(r.List[2*i+1])
		}
		r.List = r.List[:maxRuns/2]
		r.size *= 2
	}
}

func (r *run) join(next run) {
	r.end, r.latest, r.special = next.end, max(r.latest, next.latest), r.special || next.special
}

// Untouched returns the offset up to which everything from offset on can be copied unread. A run
// must begin at offset, or the result is offset. next is the time of the next mapping to insert.
// Runs that end at offset or before are forgotten.
func (r *runs) Untouched(offset int64, next uint64) (end int64) {
	for len(r.List) > 0 && r.List[0].end <= offset {
		r.begin, r.List = r.List[0].end, r.List[1:]
	}
	if r.begin != offset {
		return offset
	}
	end = offset
	for _, t := range r.List {
		if t.special || t.latest >= next || end-offset >= maxUnseen {
			break
		}
		end = t.end
	}
	return end
}
