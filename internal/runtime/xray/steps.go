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
	trace *Trace
	tid   uint32
	r     pieceReader
	rest  []piece

	piece   *piece
	reading bool            // a buffer is open, and sound so far
	ahead   *xrayfdr.Record // record that was read ahead, in search of an argument
	err     error           // error of reading ahead, not yet handled
	time    uint64          // of the last step, in the recording
	entered uint32          // function of the record before, if that was a plain entry
	args    []uint64        // of the last entry
}

// TID returns the thread in the recording.
func (s *steps) TID() uint32 { return s.tid }

// Next returns the next step. If a buffer breaks off, the step is a Gap.
func (s *steps) Next(step *calls.Step) error {
	for {
		r, err := s.record()
		switch {
		case err == io.EOF:
			if !s.next() {
				return io.EOF
			}
		case isDamage(err):
			s.damaged(err)
			*step = calls.Step{Kind: calls.Gap, Time: s.time}
			return nil
		case err != nil:
			return err
		case s.step(r, step):
			return nil
		}
	}
}

// step sets step to that of a record. It returns false if the record has none.
func (s *steps) step(r *xrayfdr.Record, step *calls.Step) bool {
	*step = calls.Step{CPU: uint32(r.CPU)}
	switch r.Kind {
	case xrayfdr.Enter, xrayfdr.EnterArgs:
		step.Kind = calls.Enter
	case xrayfdr.Exit:
		step.Kind = calls.Exit
	case xrayfdr.TailExit:
		step.Kind = calls.TailExit
	case xrayfdr.CustomEvent, xrayfdr.TypedEvent:
		step.Kind, step.Type, step.Payload = calls.Note, uint32(r.Type), r.Payload
		step.Time, s.entered = s.at(r.TSC), 0
		return true
	default:
		return false
	}
	var known bool
	if step.Function, known = s.trace.at.Function(r.Function); !known {
		// Drop its exits like its entries, so that all others still match.
		if step.Kind == calls.Enter {
			s.trace.unknownCall(r.Function)
		}
		return false
	}
	last := s.time
	step.Time = s.at(r.TSC)
	if s.entered == r.Function && step.Kind == calls.Exit {
		s.trace.pairs++
		if s.time-last < threshold {
			s.trace.short++
		}
	}
	s.entered = 0
	switch r.Kind {
	case xrayfdr.Enter:
		s.entered = r.Function
	case xrayfdr.EnterArgs:
		step.Args = s.arguments()
	}
	return true
}

// threshold is the minimum duration of calls that the runtime logs by default
// (func_duration_threshold_us), in nanoseconds.
const threshold = 5000

// record returns the next record of the buffer. Without a buffer, and after its last record, the
// error is io.EOF.
func (s *steps) record() (*xrayfdr.Record, error) {
	r, err := s.ahead, s.err
	s.ahead, s.err = nil, nil
	switch {
	case r != nil || err != nil:
		return r, err
	case !s.reading:
		return nil, io.EOF
	}
	return s.r.next()
}

// damaged notes that the buffer breaks off.
func (s *steps) damaged(err error) {
	s.reading = false
	problem := calls.Problem{Offset: -1, Text: err.Error() + "; what follows in this thread's buffer is missing"}
	var damage *wire.Error
	if x := s.piece.x; x != s.trace.process.x {
		problem.Text = fmt.Sprintf("and %q, from the same process: %s", x.Path, problem.Text)
	} else if errors.As(err, &damage) {
		problem.Offset = damage.Offset
	}
	s.trace.problem(problem)
}

// isDamage reports whether an error of a reader is about meaningless bytes.
func isDamage(err error) bool {
	var damage *wire.Error
	return errors.As(err, &damage)
}

// next moves to the next buffer, if there is one.
func (s *steps) next() bool {
	if s.reading {
		s.trace.missing += s.r.Missing()
	}
	if s.piece != nil && (len(s.rest) == 0 || s.rest[0].x != s.piece.x) {
		for i, n := range s.r.Fixes() {
			s.trace.fixes[i] += n
		}
	}
	if len(s.rest) == 0 {
		s.piece, s.reading = nil, false
		return false
	}
	s.piece, s.reading = &s.rest[0], true
	s.rest = s.rest[1:]
	s.r.open(s.piece)
	s.trace.read += s.piece.Size
	return true
}

// arguments reads the arguments of an entry, and the record after them. They are valid until the
// next entry.
func (s *steps) arguments() []uint64 {
	s.args = s.args[:0]
	for {
		r, err := s.r.next()
		if err != nil || r.Kind != xrayfdr.CallArgument {
			s.ahead, s.err = r, err
			return s.args
		}
		if len(s.args) < maxArgs {
			s.args = append(s.args, r.Argument)
		}
	}
}

// maxArgs bounds the arguments of a call. Runtimes write one.
const maxArgs = 64

// at returns the time of a count in the recording.
func (s *steps) at(count uint64) uint64 {
	s.time = s.piece.x.Time(count)
	return s.time
}
