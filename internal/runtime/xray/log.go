package xray

import (
	"cmp"
	"context"
	"errors"
	"io"

	"github.com/jitinject/jitinject/internal/calls"
	"github.com/jitinject/jitinject/internal/format/xrayfdr"
)

// An Log is a trace of XRay's flight data recorder as calls in the processes that it is
// of: one, except where a process was forked while it was traced.
type Log struct {
	Path      string // as its user calls it
	Clock     *LogClock
	Version   uint16
	Fixes     xrayfdr.Fixes   // what was set right to find the buffers
	Problems  []calls.Problem // places where there is no buffer though there should be one
	Processes []*Process      // in the order of their first buffers

	src    io.ReaderAt
	header *xrayfdr.Header
	size   int64
	pieces []piece // those of a thread one behind the other, in the order of time
	tails  []piece // to be added
}

// An Process is what one process wrote into a trace. It is a calls.Trace as soon as it is
// known what the numbers in it mean.
type Process struct {
	// PID is the process as the trace has it: in its own pid namespace, or 0 in versions 1
	// and 2, which do not say.
	PID     uint32
	Buffers int
	Threads []Thread

	x *Log
}

// An Thread is a thread of a process.
type Thread struct {
	TID         uint32 // as the trace has it
	First, Last uint64 // when its first and its last buffer began, in CLOCK_MONOTONIC nanoseconds

	pieces []piece
}

// ErrNotLog is the error for a file that is not a trace of XRay.
var ErrNotLog = xrayfdr.ErrNotXRay

// ReadLog finds out who wrote a trace, and what time it was then. src has size bytes, and is
// used as long as the trace is. The error wraps xrayfdr.ErrNotXRay for other files.
func ReadLog(src io.ReaderAt, size int64) (*Log, error) {
	index, err := xrayfdr.ReadIndex(src, size)
	if err != nil {
		return nil, err
	}
	x := &Log{Version: index.Header.Version, Fixes: index.Fixes, src: src, header: index.Header, size: size}
	for _, err := range index.Problems {
		x.Problems = append(x.Problems, calls.Problem{Offset: -1, Text: err.Error() + "; what is there is missing"})
	}
	if len(index.Blocks) == 0 {
		return nil, errors.New("there is no buffer in it: the program was not patched while it was recorded, or did nothing that is instrumented, or all was too short (func_duration_threshold_us)")
	}
	var anchors []anchor
	step := 1 + len(index.Blocks)/maxAnchors
	for i := 0; i < len(index.Blocks); i += step {
		if b := &index.Blocks[i]; b.Base == xrayfdr.OwnBase && b.Seconds >= 0 && b.Seconds < maxSeconds {
			anchors = append(anchors, anchor{b.TSC, uint64(b.WallTime())})
		}
	}
	if x.Clock, err = newXRayClock(index.Header.CycleFrequency, anchors); err != nil {
		return nil, err
	}
	x.pieces = make([]piece, len(index.Blocks))
	for i := range index.Blocks {
		x.pieces[i] = x.piece(&index.Blocks[i])
	}
	x.arrange()
	return x, nil
}

// maxAnchors bounds how many beginnings of buffers tell the time.
const maxAnchors = 1 << 16

// maxSeconds is a time that no machine is up for: 292 years.
const maxSeconds = 1 << 33

// Began returns when the process's first buffer began, in CLOCK_MONOTONIC nanoseconds.
func (p *Process) Began() uint64 {
	began := p.Threads[0].First
	for i := range p.Threads {
		began = min(began, p.Threads[i].First)
	}
	return began
}

// MostFunction returns the highest number of a function that the process logs, of those in the
// program itself. It reads all of the trace.
func (p *Process) MostFunction(ctx context.Context) (most uint32, err error) {
	for i := range p.Threads {
		var r pieceReader
		for j := range p.Threads[i].pieces {
			if err := cmp.Or(ctx.Err(), r.open(&p.Threads[i].pieces[j])); err != nil {
				return most, err
			}
			for {
				rec, err := r.next()
				if err != nil {
					break // damage is told of by those who read the calls
				}
				if rec.Kind.IsFunction() && rec.Function < sharedFunctions {
					most = max(most, rec.Function)
				}
			}
		}
	}
	return most, nil
}

// sharedFunctions is where numbers of functions in shared objects begin: above 24 bits they
// have the number of their object.
const sharedFunctions = 1 << 24

// HasCPU reports whether records say on which CPU they were made. Runtimes that have no clock
// of the processor's always say 0.
func (x *Log) HasCPU() bool { return !x.Clock.Emulated }

// An Place says where a process of a trace is in a recording.
type Place struct {
	Path     string
	PID      uint32                                    // of the process in the recording
	TID      func(tid uint32) uint32                   // of a thread of it
	Function func(id uint32) (addr uint64, known bool) // where a function is in its memory
	Args     bool                                      // some functions log an argument
	Notes    bool                                      // the program logs events

	// Time makes times of counts, in place of the trace's own clock; nil for that.
	Time func(count uint64) uint64
}

// Trace returns the process as a trace of calls.
func (p *Process) Trace(at Place) *LogTrace {
	return &LogTrace{process: p, at: at, unknown: make(map[uint32]int64)}
}

// An LogTrace is the calls of a process.
type LogTrace struct {
	process *Process
	at      Place

	fixes    xrayfdr.Fixes
	problems []calls.Problem
	more     int              // problems that are not kept
	unknown  map[uint32]int64 // functions that the program does not have, and how often they were called
	others   int64            // calls of further ones
	missing  int64            // bytes of records that the runtime has not written

	read, whole int64 // bytes of the process's buffers: of those that were begun, and of all
	pairs       int64 // calls that made no others
	short       int64 // of them, those that the runtime leaves out if it is not told otherwise
}

// Limits of what is kept of a trace that is not in order.
const (
	maxXRayProblems = 20
	maxUnknown      = 1000
)

var (
	_ calls.Trace     = (*LogTrace)(nil)
	_ calls.Describer = (*LogTrace)(nil)
)

// Path returns the file that the trace is in.
func (t *LogTrace) Path() string { return t.at.Path }

// Event is the name of the event of calls.
const Event = "xray"

// Name returns Event.
func (t *LogTrace) Name() string { return Event }

// PID returns the process in the recording.
func (t *LogTrace) PID() uint32 { return t.at.PID }

// Rename sets what threads are called in the recording.
func (t *LogTrace) Rename(tid func(uint32) uint32) { t.at.TID = tid }

// HasCPU reports whether steps say where their thread ran.
func (t *LogTrace) HasCPU() bool { return t.process.x.HasCPU() }

// HasArgs reports whether steps may have arguments.
func (t *LogTrace) HasArgs() bool { return t.at.Args }

// HasNotes reports whether steps may be notes.
func (t *LogTrace) HasNotes() bool { return t.at.Notes }

// Close does nothing: the file is the caller's.
func (t *LogTrace) Close() error { return nil }

// Read says how much of the process's buffers was read, in bytes.
func (t *LogTrace) Read() (done, total int64) { return t.read, t.whole }

// Threads returns the threads of the process. What was counted begins anew.
func (t *LogTrace) Threads(context.Context) ([]calls.Thread, error) {
	t.fixes, t.problems, t.more, t.others, t.missing, t.pairs, t.short = xrayfdr.Fixes{}, nil, 0, 0, 0, 0, 0
	clear(t.unknown)
	t.read, t.whole = 0, 0
	threads := make([]calls.Thread, len(t.process.Threads))
	for i := range t.process.Threads {
		for j := range t.process.Threads[i].pieces {
			t.whole += t.process.Threads[i].pieces[j].size
		}
		threads[i] = newXRaySteps(t, &t.process.Threads[i])
	}
	return threads, nil
}

// Pairs counts the calls that made no others, of those that were read, and of these the ones that
// are so short that the runtime logs them only if it is told to (func_duration_threshold_us=0).
func (t *LogTrace) Pairs() (pairs, short int64) { return t.pairs, t.short }

func (t *LogTrace) problem(p calls.Problem) {
	if len(t.problems) < maxXRayProblems {
		t.problems = append(t.problems, p)
	} else {
		t.more++
	}
}

// unknownCall notes a call of a function that the program does not have.
func (t *LogTrace) unknownCall(id uint32) {
	if _, ok := t.unknown[id]; ok || len(t.unknown) < maxUnknown {
		t.unknown[id]++
	} else {
		t.others++
	}
}
