package xray

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/jitinject/jitinject/internal/calls"
	"github.com/jitinject/jitinject/internal/format/xrayfdr"
)

// A Log is a trace of XRay's flight data recorder, as calls by process. It has one process, unless
// that forked while it was traced.
type Log struct {
	Path      string // as the user named it
	Clock     *LogClock
	Time      func(count uint64) uint64 // in the recording, in nanoseconds; until that is known, Clock.Time
	Problems  []calls.Problem           // places of missing buffers
	Processes []*Process                // in the order of their first buffers

	src    io.ReaderAt
	header *xrayfdr.Header
	pieces []piece // sorted by process, thread and time
}

// A Process is the part of a trace that one process wrote. Trace makes a trace of calls from it,
// when its functions' numbers are resolved.
type Process struct {
	PID     uint32 // in its own pid namespace
	Buffers int
	Threads []Thread // by TID

	x *Log
}

// A Thread is a thread of a process.
type Thread struct {
	TID uint32 // as in the trace

	pieces []piece // in the order of time
}

// errNotLog is the error for a file that is not a trace of XRay.
var errNotLog = xrayfdr.ErrNotXRay

// ErrNoBuffers is the error for a trace without buffers.
var ErrNoBuffers = errors.New("there is no buffer in it: the program was not patched while it was recorded, or did nothing that is instrumented, or all was too short (func_duration_threshold_us)")

// ReadLog reads the processes and times of a trace. src has size bytes, and must remain usable for
// the lifetime of the Log. For other files, the error wraps xrayfdr.ErrNotXRay. It may be
// ErrNoBuffers.
func ReadLog(src io.ReaderAt, size int64) (*Log, error) {
	index, err := xrayfdr.ReadIndex(src, size)
	if err != nil {
		return nil, err
	}
	return NewLog(index, src)
}

// NewLog is ReadLog with a trace's index.
func NewLog(index *xrayfdr.Index, src io.ReaderAt) (*Log, error) {
	x := &Log{src: src, header: index.Header}
	for _, err := range index.Problems {
		x.Problems = append(x.Problems, calls.Problem{Offset: -1, Text: err.Error() + "; records in them are missing"})
	}
	if len(index.Blocks) == 0 {
		err := ErrNoBuffers
		if len(x.Problems) > 0 {
			err = fmt.Errorf("%w; %s", err, x.Problems[0].Text)
		}
		return nil, err
	}
	var anchors []anchor
	step := 1 + len(index.Blocks)/maxAnchors
	for i := 0; i < len(index.Blocks); i += step {
		if b := &index.Blocks[i]; b.TSC != 0 && b.Seconds >= 0 && b.Seconds < maxSeconds {
			anchors = append(anchors, anchor{b.TSC, uint64(b.WallTime())})
		}
	}
	var err error
	if x.Clock, err = newXRayClock(index.Header.CycleFrequency, anchors); err != nil {
		return nil, err
	}
	x.Time = x.Clock.Time
	x.pieces = make([]piece, len(index.Blocks))
	for i, b := range index.Blocks {
		x.pieces[i] = piece{Block: b, x: x}
	}
	x.arrange()
	return x, nil
}

// maxAnchors bounds the number of buffers used as anchors.
const maxAnchors = 1 << 16

// maxSeconds is an impossible uptime: 272 years.
const maxSeconds = 1 << 33

// Began returns the start of the process's first buffer with calls, in the recording.
func (p *Process) Began() (began uint64) {
	for _, t := range p.Threads {
		for i := range t.pieces {
			if b := &t.pieces[i]; b.TSC != 0 {
				if time := b.x.Time(b.TSC); began == 0 || time < began {
					began = time
				}
				break
			}
		}
	}
	return began
}

// MostFunction returns the highest number of a logged function in the program itself. It reads the
// whole trace.
func (p *Process) MostFunction(ctx context.Context) (most uint32, err error) {
	var r pieceReader
	for _, t := range p.Threads {
		for i := range t.pieces {
			if err := ctx.Err(); err != nil {
				return most, err
			}
			r.open(&t.pieces[i])
			for {
				rec, err := r.next()
				if err != nil {
					break // reading the calls reports damage
				}
				if rec.Kind.IsFunction() && rec.Function < sharedFunctions {
					most = max(most, rec.Function)
				}
			}
		}
	}
	return most, nil
}

// sharedFunctions is the first number of functions in shared objects. The bits above the lowest 24
// are the number of the object.
const sharedFunctions = 1 << 24

// HasCPU reports whether records have the CPU. Runtimes without a processor clock always write 0.
func (x *Log) HasCPU() bool { return !x.Clock.Emulated }
