package xray

import (
	"errors"
	"fmt"
	"io"

	"github.com/jitinject/jitinject/internal/calls"
	"github.com/jitinject/jitinject/internal/format/xrayfdr"
	"github.com/jitinject/jitinject/internal/wire"
)

// An steps makes steps of the records of one thread, buffer by buffer.
type steps struct {
	trace *LogTrace
	tid   uint32
	r     pieceReader
	rest  []piece

	piece   *piece
	reading bool            // a block
	ahead   *xrayfdr.Record // was read to see whether it is an argument
	err     error           // likewise; to be dealt with
	base    uint64          // of a block without counts of its own: when it began; 0 for others
	time    uint64          // of the last step, in the recording
	entered uint32          // the function of the record before, if it was a plain entry
	args    []uint64        // of the last entry
	counted xrayfdr.Fixes   // of the reader, by the trace
}

func newXRaySteps(t *LogTrace, thread *Thread) *steps {
	tid := thread.TID
	if t.at.TID != nil {
		tid = t.at.TID(tid)
	}
	return &steps{trace: t, tid: tid, rest: thread.pieces}
}

// TID returns the thread in the recording.
func (s *steps) TID() uint32 { return s.tid }

// Next makes the next step. Where a buffer breaks off, the step is a Gap.
func (s *steps) Next(step *calls.Step) error {
	for {
		r, err := s.record()
		if err != nil {
			if gap, err := s.next(err); err != nil {
				return err
			} else if gap {
				*step = calls.Step{Kind: calls.Gap, Time: s.time}
				return nil
			}
			continue
		}
		switch r.Kind {
		case xrayfdr.Enter, xrayfdr.EnterArgs, xrayfdr.Exit, xrayfdr.TailExit:
			function, ok := s.trace.at.Function(r.Function)
			entry := r.Kind == xrayfdr.Enter || r.Kind == xrayfdr.EnterArgs
			if !ok {
				// Its exits are left out like its entries, so that all others still match.
				if entry {
					s.trace.unknownCall(r.Function)
				}
				continue
			}
			id, last := r.Function, s.time
			*step = calls.Step{Kind: xrayKinds[r.Kind], Time: s.at(r.TSC), Function: function, CPU: uint32(r.CPU)}
			if entry {
				s.entered = id
				if step.Args = s.arguments(); len(step.Args) > 0 { // r is gone now
					s.entered = 0
				}
				return nil
			}
			if s.entered == id && r.Kind == xrayfdr.Exit {
				s.trace.pairs++
				if s.time-last < threshold {
					s.trace.short++
				}
			}
			s.entered = 0
			return nil
		case xrayfdr.CustomEvent, xrayfdr.TypedEvent:
			s.entered = 0
			*step = calls.Step{Kind: calls.Note, Time: s.at(r.TSC), CPU: uint32(r.CPU), Type: uint32(r.Type), Payload: r.Payload}
			return nil
		}
	}
}

// threshold is what calls have to take at least to be logged, if the runtime is not told
// otherwise (func_duration_threshold_us), in nanoseconds.
const threshold = 5000

var xrayKinds = [...]calls.Kind{xrayfdr.Enter: calls.Enter, xrayfdr.EnterArgs: calls.Enter, xrayfdr.Exit: calls.Exit, xrayfdr.TailExit: calls.TailExit}

// record returns the next record of the block. Without a block, and behind its last one, the
// error is io.EOF.
func (s *steps) record() (*xrayfdr.Record, error) {
	if r := s.ahead; r != nil {
		s.ahead = nil
		return r, nil
	}
	if err := s.err; err != nil {
		s.err = nil
		return nil, err
	}
	if !s.reading {
		return nil, io.EOF
	}
	return s.r.next()
}

// next goes on behind the end of a block, or where it breaks off: there is a gap then, and
// the reader goes on with the next block.
func (s *steps) next(end error) (gap bool, err error) {
	var damage *wire.Error
	switch {
	case errors.As(end, &damage):
		s.reading = false
		problem := calls.Problem{Offset: damage.Offset, Text: end.Error() + "; what follows in this thread's buffer is missing"}
		if x := s.piece.x; x != s.trace.process.x {
			problem.Offset, problem.Text = -1, fmt.Sprintf("and %q, from the same process: %s", x.Path, problem.Text)
		}
		s.trace.problem(problem)
		return true, nil
	case end != io.EOF:
		return false, end
	case s.reading:
		s.reading = false
		s.trace.missing += s.r.r.Missing()
	}
	return false, s.block()
}

// block goes to the next block, or returns io.EOF.
func (s *steps) block() error {
	s.count()
	if len(s.rest) == 0 {
		return io.EOF
	}
	piece := &s.rest[0]
	s.rest = s.rest[1:]
	if s.piece == nil || s.piece.x != piece.x {
		s.counted = xrayfdr.Fixes{}
	}
	s.piece = piece
	if err := s.r.open(piece); err != nil {
		return err
	}
	s.reading, s.base = true, 0
	s.trace.read += piece.size
	if piece.base == xrayfdr.NoBase {
		s.base = uint64(max(piece.wall, 1))
	}
	return nil
}

// isXRayDamage reports whether a reader has come to bytes that mean nothing.
func isXRayDamage(err error) bool {
	var damage *wire.Error
	return errors.As(err, &damage)
}

// count hands on what the reader has set right since it was last asked.
func (s *steps) count() {
	if s.r.r == nil {
		return
	}
	now := s.r.r.Fixes()
	for i, n := range now {
		s.trace.fixes[i] += n - s.counted[i]
	}
	s.counted = now
}

// arguments reads those of an entry, and the record behind them. They are valid until the
// next entry.
func (s *steps) arguments() []uint64 {
	s.args = s.args[:0]
	for {
		r, err := s.r.next()
		if err != nil {
			s.err = err
			return s.args
		}
		if r.Kind != xrayfdr.CallArgument {
			s.ahead = r
			return s.args
		}
		if len(s.args) < maxXRayArgs {
			s.args = append(s.args, r.Argument)
		}
	}
}

// maxXRayArgs bounds the arguments of a call. Runtimes write one.
const maxXRayArgs = 64

// at returns the time of a count in the recording.
func (s *steps) at(count uint64) uint64 {
	clock := s.piece.x.Clock
	switch {
	case s.base != 0:
		count = clock.count + uint64(int64((float64(s.base)-float64(clock.time))/clock.rate)) + count
	}
	if s.trace.at.Time != nil {
		s.time = s.trace.at.Time(count)
	} else {
		s.time = clock.Time(count)
	}
	return s.time
}
