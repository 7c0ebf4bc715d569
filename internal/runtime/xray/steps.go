package xray

import (
	"errors"
	"fmt"
	"io"

	"github.com/jitinject/jitinject/internal/calls"
	"github.com/jitinject/jitinject/internal/format/xrayfdr"
	"github.com/jitinject/jitinject/internal/wire"
)

// A steps converts the records of one thread to steps, buffer by buffer.
type steps struct {
	trace *LogTrace
	tid   uint32
	r     pieceReader
	rest  []piece

	piece   *piece
	reading bool            // a block is open
	ahead   *xrayfdr.Record // record that was read ahead, in search of an argument
	err     error           // error of reading ahead, not yet handled
	base    uint64          // start of a block without counts of its own; 0 for other blocks
	time    uint64          // of the last step, in the recording
	entered uint32          // function of the record before, if that was a plain entry
	args    []uint64        // of the last entry
	counted xrayfdr.Fixes   // fixes of the reader that the trace has counted
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

// Next returns the next step. If a buffer breaks off, the step is a Gap.
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
				// Drop its exits like its entries, so that all others still match.
				if entry {
					s.trace.unknownCall(r.Function)
				}
				continue
			}
			id, last := r.Function, s.time
			*step = calls.Step{Kind: xrayKinds[r.Kind], Time: s.at(r.TSC), Function: function, CPU: uint32(r.CPU)}
			if entry {
				s.entered = id
				if step.Args = s.arguments(); len(step.Args) > 0 { // r is invalid now
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

// threshold is the minimum duration of calls that the runtime logs by default
// (func_duration_threshold_us), in nanoseconds.
const threshold = 5000

var xrayKinds = [...]calls.Kind{xrayfdr.Enter: calls.Enter, xrayfdr.EnterArgs: calls.Enter, xrayfdr.Exit: calls.Exit, xrayfdr.TailExit: calls.TailExit}

// record returns the next record of the block. Without a block, and after its last record, the
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

// next goes on after the end of a block. If the block breaks off, it reports a gap, and goes on
// with the next block.
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

// block moves to the next block, or returns io.EOF.
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

// isXRayDamage reports whether an error of a reader is about meaningless bytes.
func isXRayDamage(err error) bool {
	var damage *wire.Error
	return errors.As(err, &damage)
}

// count adds the reader's new fixes to the trace's.
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

// arguments reads the arguments of an entry, and the record after them. They are valid until the
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
