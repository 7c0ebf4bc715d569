package xray

import (
	"cmp"
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
	Version   uint16
	Fixes     xrayfdr.Fixes   // fixes needed to find the buffers
	Problems  []calls.Problem // places of missing buffers
	Processes []*Process      // in the order of their first buffers

	src    io.ReaderAt
	header *xrayfdr.Header
	size   int64
	pieces []piece // sorted by process, thread and time
	tails  []piece // to be added
}

// A Process is the part of a trace that one process wrote. Trace makes a trace of calls from it,
// when its functions' numbers are resolved.
type Process struct {
	// PID is the process in the trace: in its own pid namespace, or 0 in versions 1 and 2, which do
	// not have it.
	PID     uint32
	Buffers int
	Threads []Thread

	x *Log
}

// A Thread is a thread of a process.
type Thread struct {
	TID         uint32 // as in the trace
	First, Last uint64 // start of its first and last buffer, in CLOCK_MONOTONIC nanoseconds

	pieces []piece
}

// errNotLog is the error for a file that is not a trace of XRay.
var errNotLog = xrayfdr.ErrNotXRay

// ErrNoBuffers is the error for a trace without buffers.
var ErrNoBuffers = errors.New("there is no buffer in it: the program was not patched while it was recorded, or did nothing that is instrumented, or all was too short (func_duration_threshold_us)")

// ReadLogs reads the processes and times of the traces in a file: a program may write several into
// one. src has size bytes, and must remain usable for the lifetime of the Logs. For other files,
// the error wraps xrayfdr.ErrNotXRay. Traces without buffers are left out, unless all are: then the
// error is ErrNoBuffers.
func ReadLogs(src io.ReaderAt, size int64) (logs []*Log, err error) {
	indexes, err := xrayfdr.ReadIndexes(src, size)
	if err != nil {
		return nil, err
	}
	var none error
	for _, index := range indexes {
		x, err := NewLog(index, src, size)
		if errors.Is(err, ErrNoBuffers) {
			none = err
			continue
		} else if err != nil {
			return nil, err
		}
		logs = append(logs, x)
	}
	if len(logs) == 0 {
		return nil, none
	}
	if err := indexes[len(indexes)-1].TooMany; err != nil {
		last := logs[len(logs)-1]
		last.Problems = append(last.Problems, calls.Problem{Offset: -1, Text: err.Error()})
	}
	return logs, nil
}

// NewLog reads the processes and times of one trace of a file. The error may be ErrNoBuffers.
func NewLog(index *xrayfdr.Index, src io.ReaderAt, size int64) (*Log, error) {
	var err error
	x := &Log{Version: index.Header.Version, Fixes: index.Fixes, src: src, header: index.Header, size: size}
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

// maxAnchors bounds the number of buffers used as anchors.
const maxAnchors = 1 << 16

// maxSeconds is an impossible uptime: 272 years.
const maxSeconds = 1 << 33

// Began returns the start of the process's first buffer, in CLOCK_MONOTONIC nanoseconds.
func (p *Process) Began() uint64 {
	began := p.Threads[0].First
	for i := range p.Threads {
		began = min(began, p.Threads[i].First)
	}
	return began
}

// MostFunction returns the highest number of a logged function in the program itself. It reads the
// whole trace.
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

// A Place is the place of a traced process in a recording.
type Place struct {
	Path     string
	PID      uint32                                    // of the process in the recording
	TID      func(tid uint32) uint32                   // of one of its threads
	Function func(id uint32) (addr uint64, known bool) // address of a function in its memory
	Args     bool                                      // some functions log an argument
	Notes    bool                                      // the program logs events

	// Time converts counts to times, instead of the trace's own clock. nil means the latter.
	Time func(count uint64) uint64
}

// Trace returns the process as a trace of calls.
func (p *Process) Trace(at Place) *LogTrace {
	return &LogTrace{process: p, at: at, unknown: make(map[uint32]int64)}
}

// A LogTrace has the calls of a process.
type LogTrace struct {
	process *Process
	at      Place

	fixes    xrayfdr.Fixes
	problems []calls.Problem
	more     int              // number of problems that are not kept
	unknown  map[uint32]int64 // calls of functions that the program does not have, by number
	others   int64            // calls of further such functions
	missing  int64            // bytes of records that the runtime has not written

	read, whole int64 // bytes of the process's buffers: begun so far, and in total
	pairs       int64 // calls that made no others
	short       int64 // of pairs: too short to be logged by default
}

// maxXRayProblems and maxUnknown bound the data about a faulty trace.
const (
	maxXRayProblems = 20
	maxUnknown      = 1000
)

var (
	_ calls.Trace     = (*LogTrace)(nil)
	_ calls.Describer = (*LogTrace)(nil)
)

// Path returns the file of the trace.
func (t *LogTrace) Path() string { return t.at.Path }

// Event is the name of the event of calls.
const Event = "xray"

// Name returns Event.
func (t *LogTrace) Name() string { return Event }

// PID returns the process in the recording.
func (t *LogTrace) PID() uint32 { return t.at.PID }

// Rename sets the function that maps threads to those of the recording.
func (t *LogTrace) Rename(tid func(uint32) uint32) { t.at.TID = tid }

// HasCPU reports whether steps have the CPU of their thread.
func (t *LogTrace) HasCPU() bool { return t.process.x.HasCPU() }

// HasArgs reports whether steps may have arguments.
func (t *LogTrace) HasArgs() bool { return t.at.Args }

// HasNotes reports whether steps may be notes.
func (t *LogTrace) HasNotes() bool { return t.at.Notes }

// Close does nothing: the file belongs to the caller.
func (t *LogTrace) Close() error { return nil }

// Read returns how many bytes of the process's buffers were read, and their total.
func (t *LogTrace) Read() (done, total int64) { return t.read, t.whole }

// Threads returns the threads of the process. It resets all counts.
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

// Pairs counts the calls, among those read, that made no others. short counts those of them that
// the runtime drops by default (func_duration_threshold_us=0 keeps them).
func (t *LogTrace) Pairs() (pairs, short int64) { return t.pairs, t.short }

func (t *LogTrace) problem(p calls.Problem) {
	if len(t.problems) < maxXRayProblems {
		t.problems = append(t.problems, p)
	} else {
		t.more++
	}
}

// unknownCall counts a call of a function that the program does not have.
func (t *LogTrace) unknownCall(id uint32) {
	if _, ok := t.unknown[id]; ok || len(t.unknown) < maxUnknown {
		t.unknown[id]++
	} else {
		t.others++
	}
}
