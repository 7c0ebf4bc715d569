package xray

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/jitinject/jitinject/internal/calls"
	"github.com/jitinject/jitinject/internal/clock"
	"github.com/jitinject/jitinject/internal/codebytes"
	"github.com/jitinject/jitinject/internal/config"
	"github.com/jitinject/jitinject/internal/model"
	"github.com/jitinject/jitinject/internal/quote"
	"github.com/jitinject/jitinject/internal/recording"
	"github.com/jitinject/jitinject/internal/report"
	"github.com/jitinject/jitinject/internal/safefile"
	"github.com/jitinject/jitinject/internal/safefile/sys"
)

// A Trace is the part of a trace that a process of the recording wrote.
type Trace struct {
	*LogTrace
	Clock   func(uint64) uint64
	Match   report.Clock
	Summary report.XRaySummary
	files   []*traceFile // the first is the named one
	process *Process
	life    life
}

// Close closes the files, unless other traces use them.
func (x *Trace) Close() error {
	for _, f := range x.files {
		f.release()
	}
	return nil
}

// Problems returns the faults of the trace. For damage, they have general advice.
func (x *Trace) Problems() []calls.Problem {
	problems := x.LogTrace.Problems()
	for i := range problems {
		if problems[i].Advice == "" {
			problems[i].Advice = report.AdviceDamage(x.Path())
		}
	}
	return problems
}

// Traces calls add with the traces that opts name. Unusable traces become problems. The error is
// that of unusable options.
func Traces(ctx context.Context, rec *recording.Recording, _ []*model.Dump, _ *codebytes.Files, opts *config.Options, found *report.Findings, add func(t calls.Trace, clock func(uint64) uint64, match report.Clock)) error {
	xrays, err := openAll(ctx, rec, opts, found)
	for _, x := range xrays {
		add(x, x.Clock, x.Match)
	}
	return err
}

// openAll opens the traces that opts name.
func openAll(ctx context.Context, rec *recording.Recording, opts *config.Options, found *report.Findings) (xrays []*Trace, err error) {
	named := opts.Named(Kind)
	if len(named) == 0 && len(opts.Programs) == 0 {
		hint(rec, opts, found)
		return nil, nil
	}
	if len(named) == 0 {
		return nil, errors.New(report.Mentioned("Programs", "") + ": it is the program of a trace, but no trace is named; name one with " + report.MentionedFile(Kind, "", "FILE"))
	}
	binaries, err := readBinaries(rec, opts)
	if err != nil {
		return nil, err
	}
	var files []*traceFile
	defer func() {
		for _, f := range files {
			f.release()
		}
	}()
	for _, n := range named {
		path := n.Path
		file, err := safefile.Open(path)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", n, safefile.PlainError(err))
		}
		f := &traceFile{path: path, file: file, users: 1}
		files = append(files, f)
		f.traces, err = read(file)
		if errors.Is(err, errNotLog) && !isEmpty(file) { // an empty file is a trace without records
			return nil, fmt.Errorf("%s: %w", n, err)
		}
		if err != nil {
			found.Problem(report.ProblemOf(path, err, "name the trace that the recorded program wrote, whole"))
			continue
		}
		for _, x := range f.traces {
			x.Path = path
		}
	}
	share(rec, files, opts, found)
	for _, f := range files {
		for _, trace := range f.traces {
			more, err := open(ctx, rec, f, trace, binaries, opts, found)
			if none := (clock.Unknown{}); errors.As(err, &none) {
				p := report.ProblemOf(rec.In.Path, err, report.AdviceClock) // the trace is sound
				p.Code = report.ProblemClock
				found.Problem(p)
			} else if err != nil {
				found.Problem(report.ProblemOf(f.path, err, "name the trace that the recorded program wrote, whole"))
			}
			xrays = append(xrays, more...)
		}
	}
	return join(rec, binaries, xrays), nil
}

// isEmpty reports whether a file is known to have no bytes.
func isEmpty(file *sys.File) bool {
	st, err := file.Stat()
	return err == nil && st.Size() == 0
}

// join joins the traces that a program in a process wrote one after the other.
func join(s *recording.Recording, programs *programs, xrays []*Trace) (joined []*Trace) {
	type run struct {
		pid, own uint32
		began    uint64
		program  string
	}
	slices.SortStableFunc(xrays, func(a, b *Trace) int { return cmp.Compare(a.life.traced, b.life.traced) })
	more := make(map[run][]*LogTrace) // without the first
	runOf := func(x *Trace) run { return run{x.PID(), x.process.PID, x.life.began, x.Summary.Program} }
	firsts := make(map[run]*Trace)
	for _, x := range xrays {
		id := runOf(x)
		first := firsts[id]
		if first == nil {
			firsts[id] = x
			joined = append(joined, x)
			continue
		}
		more[id] = append(more[id], x.LogTrace)
		first.files = append(first.files, x.files...)
		first.Summary.More++
		first.Summary.Anchors += x.Summary.Anchors
		first.Match.Error = max(first.Match.Error, x.Match.Error)
	}
	for _, first := range joined {
		others := more[runOf(first)]
		if others == nil {
			continue
		}
		first.Join(others...)
		first.Summary.Buffers = first.process.Buffers
		first.life = lifeOf(s, first.PID(), first.life.threads, first.life.traced, len(first.process.Threads))
		first.Rename(threadsOf(programs.tids[first.PID()], first.process, first.PID()))
	}
	return joined
}

// adviceProgram is advice about a trace without its program.
func adviceProgram() string {
	return "name the program, of the build that was recorded, with " + report.Mentioned("Programs", "FILE")
}

// A traceFile is a file of traces, shared by the processes in it.
type traceFile struct {
	path   string
	file   *sys.File
	traces []*Log // none if it is unusable
	users  int
}

// release closes the file after its last user.
func (f *traceFile) release() {
	if f.users--; f.users == 0 {
		f.file.Close()
	}
}

// read reads the traces in a file.
func read(file *sys.File) ([]*Log, error) {
	st, err := file.Stat()
	if err != nil {
		return nil, err
	}
	return ReadLogs(file, st.Size())
}

// share assigns the contents of several traces to the processes that wrote them.
func share(s *recording.Recording, files []*traceFile, opts *config.Options, found *report.Findings) {
	var traces []*Log
	paths := make(map[*Log]string)
	times := make(map[*Log]func(uint64) uint64)
	for _, f := range files {
		for _, trace := range f.traces {
			clock, _, counts, err := clockOf(s, trace, opts)
			if err != nil {
				return // open reports it
			}
			if counts == nil {
				own := trace.Clock
				counts = func(count uint64) uint64 { return clock(own.Time(count)) }
			}
			traces, paths[trace], times[trace] = append(traces, trace), f.path, counts
		}
	}
	if len(traces) == 0 {
		return
	}
	world := &world{
		Forks: func(pid uint32) (forks []fork) {
			for _, b := range s.ProcessTree.ForksBy(pid) {
				if b.Clones {
					forks = append(forks, fork{PID: b.PID, Time: b.Time})
				}
			}
			return forks
		},
		Exit: func(pid uint32) uint64 {
			if p := s.Processes[pid]; p != nil && p.Exited != 0 {
				return p.Exited
			}
			return math.MaxUint64
		},
		Time: func(x *Log, count uint64) uint64 { return times[x](count) },
	}
	problems, err := Share(traces, world)
	if err != nil {
		found.Problem(report.ProblemOf(files[0].path, err, "read it from another disk"))
	}
	for _, p := range problems {
		if p.Note {
			found.Note(fmt.Sprintf("%s: %s; %s", quote.Printable(paths[p.X]), p.Text, p.Advice))
		} else {
			found.Problem(report.Problem{Code: report.ProblemDamage, File: paths[p.X], Offset: p.Offset, Text: p.Text, Advice: p.Advice})
		}
	}
}

// open finds the processes of a trace in the recording. Unusable processes become problems. The
// error is that of the trace as a whole.
func open(ctx context.Context, s *recording.Recording, f *traceFile, trace *Log, binaries *programs, opts *config.Options, found *report.Findings) (xrays []*Trace, err error) {
	for _, p := range trace.Problems {
		found.Problem(report.Problem{Code: report.ProblemDamage, File: f.path, Offset: p.Offset, Text: p.Text, Advice: report.AdviceDamage(f.path)})
	}
	opts.Logf(2, "%s: counts of %.0f Hz, times are right to %d ns", quote.Printable(f.path), trace.Clock.Frequency, trace.Clock.Error)
	clock, match, counts, err := clockOf(s, trace, opts)
	if err != nil {
		return nil, err
	}
	for _, p := range trace.Processes {
		program, err := findProgram(s, p, clock, binaries, opts)
		if err != nil {
			found.Problem(report.ProblemOf(f.path, err, adviceProgram()))
			continue
		}
		if program.unchecked {
			most, err := p.MostFunction(ctx)
			if err != nil {
				return xrays, err
			}
			if int64(most) > int64(program.functions.Len()) {
				err := fmt.Errorf("process %d: %s: %w: the trace has a function %d, and this program has %d", program.pid, quote.Printable(program.path), errOtherBuild, most, program.functions.Len())
				found.Problem(report.ProblemOf(f.path, err, adviceProgram()))
				continue
			}
		}
		f.users++
		xrays = append(xrays, &Trace{
			LogTrace: p.Trace(Place{
				Path: f.path, PID: program.pid, TID: threadsOf(binaries.tids[program.pid], p, program.pid), Time: counts,
				Function: program.address, Args: program.functions.LogsArguments, Notes: program.functions.LogsEvents,
			}),
			Clock: clock, Match: match, files: []*traceFile{f}, process: p, life: lifeOf(s, program.pid, len(binaries.tids[program.pid]), clock(p.Began()), len(p.Threads)),
			Summary: report.XRaySummary{
				Fixes:  []report.Fix{},
				Format: int(trace.Version), Buffers: p.Buffers, Program: program.path, Unchecked: program.unchecked, Functions: program.functions.Len(),
				Claimed: trace.Clock.Claimed, Frequency: trace.Clock.Frequency, Measured: trace.Clock.Measured, Emulated: trace.Clock.Emulated, Anchors: trace.Clock.Anchors,
			},
		})
	}
	return xrays, nil
}

// clockOf returns the conversion of a trace's times to the recording's. If counts is not nil, it
// converts counts directly.
func clockOf(s *recording.Recording, t *Log, opts *config.Options) (toRecording func(uint64) uint64, match report.Clock, counts func(uint64) uint64, err error) {
	if _, given, _ := clock.GivenOffset(opts.Clock); !given && s.ClockError() != "" && s.TimeConv != nil && !t.Clock.Emulated {
		return clock.Shifted(0), report.Clock{Kind: report.ClockTSC}, s.TimeConv.Time, nil
	}
	if toRecording, match, err = clock.TraceClock(s, opts); err == nil && match.Kind == report.ClockMonotonic {
		match.Error = t.Clock.Error
	}
	return toRecording, match, nil, err
}

// threadsOf returns the conversion of a traced process's thread numbers to those of the recording,
// which has the threads known, ascending. It is nil if they agree. In another pid namespace, process and
// threads have other numbers. In both namespaces, threads are numbered in the order of their start.
func threadsOf(known []uint32, p *Process, pid uint32) func(uint32) uint32 {
	if p.PID == 0 || p.PID == pid {
		return nil
	}
	names := map[uint32]uint32{p.PID: pid}
	if len(known) == len(p.Threads) {
		var tids []uint32
		for i := range p.Threads {
			tids = append(tids, p.Threads[i].TID)
		}
		slices.Sort(tids)
		for i, tid := range tids {
			names[tid] = known[i]
		}
	}
	return func(tid uint32) uint32 {
		if name, ok := names[tid]; ok {
			return name
		}
		return tid
	}
}
