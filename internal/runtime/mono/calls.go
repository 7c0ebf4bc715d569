package mono

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/jitinject/jitinject/internal/calls"
	"github.com/jitinject/jitinject/internal/codebytes"
	"github.com/jitinject/jitinject/internal/config"
	"github.com/jitinject/jitinject/internal/model"
	"github.com/jitinject/jitinject/internal/quote"
	"github.com/jitinject/jitinject/internal/recording"
	"github.com/jitinject/jitinject/internal/report"
	"github.com/jitinject/jitinject/internal/safefile"
	"github.com/jitinject/jitinject/internal/safefile/sys"
)

// A Mono log in calls mode is a trace as well.

// Trace is the trace in a log, with its files.
type Trace struct {
	*LogTrace
	args     string    // arguments of the profiler
	unpacked *sys.File // nil if the log is not compressed
	made     []calls.SyntheticThread
}

// SyntheticThreads returns the threads with made-up numbers.
func (t *Trace) SyntheticThreads() []calls.SyntheticThread { return t.made }

// Close closes the unpacked file.
func (t *Trace) Close() error {
	if t.unpacked != nil {
		return t.unpacked.Close()
	}
	return nil
}

// Traces calls add with the trace of each dump that is a Mono log with calls.
func Traces(ctx context.Context, rec *recording.Recording, dumps []*model.Dump, code *codebytes.Files, opts *config.Options, found *report.Findings, add func(t calls.Trace, clock func(uint64) uint64, match report.Clock)) error {
	for _, d := range dumps {
		log, ok := d.Source.(*Log)
		if !ok || !log.HasCalls() {
			continue
		}
		if d.Match.Kind == report.ClockNone {
			found.Problem(report.Problem{Code: report.ProblemClock, File: d.Path, Offset: -1, Text: "its times cannot be matched with the recording's, so the calls in it are left out", Advice: report.AdviceClock})
			continue
		}
		t, err := openTrace(ctx, rec, d, log, code, opts)
		if err != nil {
			if ctx.Err() != nil {
				return err
			}
			found.Problem(report.ProblemOf(d.Path, fmt.Errorf("the calls in it are left out: %w", safefile.PlainError(err)), "name another directory for temporary files (TMPDIR), or unpack it with gzip -d"))
			continue
		}
		add(t, d.Clock, d.Match)
	}
	return nil
}

// openTrace opens the trace in a log.
func openTrace(ctx context.Context, rec *recording.Recording, d *model.Dump, log *Log, code *codebytes.Files, opts *config.Options) (*Trace, error) {
	t := &Trace{args: log.Header().Args}
	var src io.ReaderAt = d.File
	if log.Packed() {
		var err error
		if t.unpacked, err = unpackLog(ctx, log); err != nil {
			return nil, err
		}
		src = t.unpacked
	}
	tasks, err := tasksOf(ctx, rec, d.PID, d.Clock(log.Began()))
	if err != nil {
		t.Close()
		return nil, err
	}
	m := newThreadMatch(d, log.Threads(), tasks)
	m.useCore(threadsOf(code, d))
	m.match(!rec.Lost)
	for _, t := range log.Threads() {
		tid := uint32(0)
		if task := m.task[t]; task != nil {
			tid = task.tid
		}
		opts.Logf(3, "%s: thread %#x %q from %d to %d is %d", quote.Printable(d.Path), t.Self, t.Name, d.Clock(t.First), d.Clock(t.Last), tid)
	}
	for _, task := range tasks {
		opts.Logf(3, "%s: thread %d of the recording from %d to %d %v", quote.Printable(rec.In.Path), task.tid, task.born, task.died, task.names)
	}
	var tids map[*LogThread]uint32
	tids, t.made = m.threadNumbers()
	t.LogTrace = log.Trace(src, d.Path, d.PID, tids)
	if m.stopped {
		t.problem(-1, fmt.Sprintf("its %d threads are too many to find all of them among %d of the recording; the others have numbers of their own", len(m.threads), len(tasks)), "log a shorter run")
	}
	return t, nil
}

// Report notes that calls may be deeper than Mono logs them.
func (t *Trace) Report(c calls.Counts, _ *report.TraceSummary, found *report.Findings) {
	limit, given := callDepth(t.args)
	if c.Deepest <= limit {
		return
	}
	text := fmt.Sprintf("calls in it are as deep as Mono logs them, which is %d", limit)
	if !given {
		text += " by default"
	}
	found.Note(fmt.Sprintf("%s: %s; those that they made are not in it: record with log:calls,calldepth=N, N larger than any stack", quote.Printable(t.Path()), text))
}

// unpackLog writes the uncompressed log to an unnamed temporary file.
func unpackLog(ctx context.Context, log *Log) (*sys.File, error) {
	f, err := safefile.Unnamed(os.TempDir())
	if err != nil {
		return nil, err
	}
	r, err := log.Unpack()
	if err == nil {
		_, err = io.Copy(f, &patientReader{ctx, r})
	}
	if errors.Is(err, io.ErrUnexpectedEOF) { // the log is cut; use what exists
		err = nil
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// A patientReader reads until its context is done.
type patientReader struct {
	ctx context.Context
	src io.Reader
}

// Read implements io.Reader.
func (r *patientReader) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.src.Read(p)
}

// threadsOf returns the threads of a dump's process by their pthread_self, from its core dumps of x86-64. It
// returns none if the process has other numbers in the core dump than in the recording: those of
// its threads are then unknown.
func threadsOf(c *codebytes.Files, d *model.Dump) map[uint64]uint32 {
	tids := make(map[uint64]uint32)
	if c == nil {
		return tids
	}
	maps := c.Rec.FileMapsOf(d.PID, codebytes.LastTime(d))
	for _, f := range c.Files {
		if f.Core == nil || !codebytes.IsNumbered(f.Core, d.PID) {
			continue
		}
		if _, err := c.MatchDump(f, d, maps); err != nil {
			continue
		}
		for _, t := range f.Core.Threads() {
			if t.ID != 0 {
				tids[t.ID] = uint32(t.TID)
			}
		}
	}
	return tids
}
