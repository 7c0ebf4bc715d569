package xray

import (
	"context"
	"fmt"
	"slices"

	"github.com/jitinject/jitinject/internal/calls"
	"github.com/jitinject/jitinject/internal/format/xrayfdr"
	"github.com/jitinject/jitinject/internal/report"
	"github.com/jitinject/jitinject/internal/source"
)

// A Place is the place of a traced process in a recording.
type Place struct {
	PID      uint32                                    // of the process in the recording
	TID      func(tid uint32) uint32                   // of one of its threads; nil if it is the same
	Function func(id uint32) (addr uint64, known bool) // address of a function in its memory
	Args     bool                                      // some functions log an argument
	Notes    bool                                      // the program logs events
}

// A Trace has the calls of a process of the recording.
type Trace struct {
	Summary report.XRaySummary

	process *Process
	at      Place
	files   []*traceFile // the first is the named one
	match   report.Clock
	life    life

	fixes    xrayfdr.Fixes
	problems []calls.Problem
	more     int              // number of problems that are not kept
	unknown  map[uint32]int64 // calls of functions that the program does not have, by number
	others   int64            // calls of further such functions
	missing  int64            // bytes of records that the runtime has not written

	read, whole int64 // bytes of the process's buffers: begun so far, and in total
	pairs       int64 // calls that made no others
	short       int64 // of pairs: those that the runtime drops by default
}

// maxProblems and maxUnknown bound the data about a faulty trace.
const (
	maxProblems = 20
	maxUnknown  = 1000
)

var (
	_ calls.Trace     = (*Trace)(nil)
	_ calls.Describer = (*Trace)(nil)
)

// Trace returns the process as a trace of calls.
func (p *Process) Trace(at Place) *Trace { return &Trace{process: p, at: at} }

// Path returns the file of the trace.
func (t *Trace) Path() string { return t.process.x.Path }

// Event is the name of the event of calls.
const Event = "xray"

// Name returns Event.
func (t *Trace) Name() string { return Event }

// PID returns the process in the recording.
func (t *Trace) PID() uint32 { return t.at.PID }

// HasCPU reports whether steps have the CPU of their thread.
func (t *Trace) HasCPU() bool { return t.process.x.HasCPU() }

// HasArgs reports whether steps may have arguments.
func (t *Trace) HasArgs() bool { return t.at.Args }

// HasNotes reports whether steps may be notes.
func (t *Trace) HasNotes() bool { return t.at.Notes }

// Close closes the files, unless other traces use them.
func (t *Trace) Close() error {
	for _, f := range t.files {
		f.release()
	}
	return nil
}

// Read returns how many bytes of the process's buffers were read, and their total.
func (t *Trace) Read() (done, total int64) { return t.read, t.whole }

// Threads returns the threads of the process. It resets all counts.
func (t *Trace) Threads(context.Context) ([]calls.Thread, error) {
	*t = Trace{Summary: t.Summary, process: t.process, at: t.at, files: t.files, match: t.match, life: t.life, unknown: make(map[uint32]int64)}
	threads := make([]calls.Thread, len(t.process.Threads))
	for i, thread := range t.process.Threads {
		for j := range thread.pieces {
			t.whole += thread.pieces[j].Size
		}
		tid := thread.TID
		if t.at.TID != nil {
			tid = t.at.TID(tid)
		}
		threads[i] = &steps{trace: t, tid: tid, rest: thread.pieces}
	}
	return threads, nil
}

func (t *Trace) problem(p calls.Problem) {
	if len(t.problems) < maxProblems {
		t.problems = append(t.problems, p)
	} else {
		t.more++
	}
}

// unknownCall counts a call of a function that the program does not have.
func (t *Trace) unknownCall(id uint32) {
	if _, ok := t.unknown[id]; ok || len(t.unknown) < maxUnknown {
		t.unknown[id]++
	} else {
		t.others++
	}
}

// Fixes returns the fixes in the buffers that were read.
func (t *Trace) Fixes() (fixes []source.Fix) {
	for _, r := range []struct {
		kind       xrayfdr.Fix
		name, text string
	}{
		{xrayfdr.CutRecord, "cut-records", "the last record of a buffer was not whole, and is left out"},
		{xrayfdr.TypedExtents, "short-buffers", "buffers with typed events are written too short (LLVM 14); their last records are missing"},
	} {
		if n := t.fixes[r.kind]; n > 0 {
			fixes = append(fixes, source.Fix{Name: r.name, Count: int64(n), Text: r.text})
		}
	}
	return fixes
}

// Problems returns the faults of the buffers that were read. For damage, they have general advice.
func (t *Trace) Problems() []calls.Problem {
	problems := slices.Clone(t.problems)
	add := func(advice, format string, args ...any) {
		problems = append(problems, calls.Problem{Offset: -1, Text: fmt.Sprintf(format, args...), Advice: advice})
	}
	if t.fixes[xrayfdr.CutFile] > 0 {
		add("let the program end, and copy its trace again", "it ends inside a buffer; later records are missing")
	}
	if t.missing > 0 {
		add("have the program log such events with __xray_customevent, or build it with a newer LLVM",
			"%d bytes at the ends of buffers with typed events were not written: up to %d records, without which some calls seem to end late or to be missing", t.missing, t.missing/8)
	}
	if t.more > 0 {
		add("", "%d more of its buffers are damaged", t.more)
	}
	if len(t.unknown) > 0 {
		n, least, most := t.others, uint32(1<<32-1), uint32(0)
		for id, count := range t.unknown {
			n += count
			least, most = min(least, id), max(most, id)
		}
		advice := "name the program that wrote the trace, of the same build, with " + report.Mentioned("Programs", "FILE")
		switch {
		case least >= sharedFunctions:
			add("link what is traced into the program, or build the libraries without -fxray-shared",
				"%d calls of functions in shared objects (numbers %#x to %#x) are left out: the trace does not say which objects they are", n, least, most)
		case n == 1:
			add(advice, "1 call of function %d, which the program does not have, is left out", least)
		default:
			add(advice, "%d calls of functions that the program does not have (numbers %d to %d) are left out", n, least, most)
		}
	}
	for i := range problems {
		if problems[i].Advice == "" {
			problems[i].Advice = report.AdviceDamage(t.Path())
		}
	}
	return problems
}
