package inject

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/jitinject/jitinject/internal/source"
)

// A log of Mono's in calls mode is a trace as well.

// monoTrace is the trace of a log, with what it needs to be read.
type monoTrace struct {
	*source.MonoTrace
	args     string   // that the profiler had
	unpacked *os.File // nil if the log is not compressed
	made     []madeThread
}

// MadeThreads returns the threads whose numbers are made up.
func (t *monoTrace) MadeThreads() []madeThread { return t.made }

func (t *monoTrace) Close() error {
	if t.unpacked != nil {
		return t.unpacked.Close()
	}
	return nil
}

// monoTraces returns the traces of those dumps that are Mono's logs with calls in them.
func monoTraces(ctx context.Context, rec *recording, dumps []*dump, code *codeFiles, opts *Options, sum *Summary, add func(*monoTrace, *dump)) error {
	for _, d := range dumps {
		log, ok := d.source.(*source.MonoLog)
		if !ok || !log.HasCalls() {
			continue
		}
		if d.match.Kind == ClockNone {
			sum.problem(Problem{File: d.path, Offset: -1, Text: "its times cannot be matched with the recording's, so the calls in it are left out", Advice: adviceClock})
			continue
		}
		t, err := openMonoTrace(ctx, rec, d, log, code, opts)
		if err != nil {
			if ctx.Err() != nil {
				return err
			}
			sum.problem(problemOf(d.path, fmt.Errorf("the calls in it are left out: %w", plainError(err)), "make room for it in the directory for temporary files (TMPDIR), or unpack it with gzip -d"))
			continue
		}
		add(t, d)
	}
	return nil
}

func openMonoTrace(ctx context.Context, rec *recording, d *dump, log *source.MonoLog, code *codeFiles, opts *Options) (*monoTrace, error) {
	t := &monoTrace{args: log.Header().Args}
	var src io.ReaderAt = d.file
	if log.Packed() {
		var err error
		if t.unpacked, err = unpackLog(ctx, log); err != nil {
			return nil, err
		}
		src = t.unpacked
	}
	tasks, err := rec.tasksOf(ctx, d.pid, d.clock(log.Began()))
	if err != nil {
		t.Close()
		return nil, err
	}
	m := newThreadMatch(d, log.Threads(), tasks)
	m.useCore(code.threadsOf(d, log.Threads()))
	m.match(!rec.lost)
	for _, t := range log.Threads() {
		tid := uint32(0)
		if task := m.task[t]; task != nil {
			tid = task.tid
		}
		opts.logf(3, "%s: thread %#x %q from %d to %d is %d", Printable(d.path), t.Self, t.Name, d.clock(t.First), d.clock(t.Last), tid)
	}
	for _, task := range tasks {
		opts.logf(3, "%s: thread %d of the recording from %d to %d %v", Printable(rec.in.path), task.tid, task.born, task.died, task.names)
	}
	var tids map[*source.MonoThread]uint32
	tids, t.made = m.threadNumbers()
	t.MonoTrace = log.Trace(src, d.path, d.pid, tids)
	return t, nil
}

// report notes that calls may have been too deep for Mono to log them.
func (t *monoTrace) report(deepest int64, sum *Summary) {
	limit, given := callDepth(t.args)
	if deepest <= limit {
		return
	}
	text := fmt.Sprintf("calls in it are as deep as Mono logs them, which is %d", limit)
	if !given {
		text += " if it is not told"
	}
	sum.note(fmt.Sprintf("%s: %s; those that they made are not in it: record with log:calls,calldepth=N, N larger than any stack", Printable(t.Path()), text))
}

// unpackLog writes a log into a file that nobody else sees, without compression.
func unpackLog(ctx context.Context, log *source.MonoLog) (*os.File, error) {
	f, err := os.CreateTemp("", "jitinject-*.mlpd")
	if err != nil {
		return nil, err
	}
	if err = os.Remove(f.Name()); err == nil {
		var r io.Reader
		if r, err = log.Unpack(); err == nil {
			_, err = io.Copy(f, &patientReader{ctx, r})
		}
	}
	if errors.Is(err, io.ErrUnexpectedEOF) { // it is cut; what there is will do
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

func (r *patientReader) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.src.Read(p)
}

// threadsOf returns the threads of a dump's process by their pthread_self, as core dumps
// of it tell. Where the process has other numbers in the core than in the recording,
// nobody knows those of its threads.
func (c *codeFiles) threadsOf(d *dump, threads []*source.MonoThread) map[uint64]uint32 {
	tids := make(map[uint64]uint32)
	if c == nil {
		return tids
	}
	maps := c.rec.fileMapsOf(d.pid, d.lastTime())
	for _, f := range c.files {
		if f.core == nil || !isNumbered(f.core, d.pid) {
			continue
		}
		if _, _, err := c.rec.coreMemory(f, d, maps); err != nil {
			continue
		}
		var selves []uint64
		for _, t := range threads {
			selves = append(selves, t.Self)
		}
		for self, tid := range f.core.MatchThreads(selves) {
			if tid > 0 {
				tids[self] = uint32(tid)
			}
		}
	}
	return tids
}
