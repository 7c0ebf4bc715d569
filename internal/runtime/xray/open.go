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
	"github.com/jitinject/jitinject/internal/format/xrayfdr"
	"github.com/jitinject/jitinject/internal/model"
	"github.com/jitinject/jitinject/internal/quote"
	"github.com/jitinject/jitinject/internal/recording"
	"github.com/jitinject/jitinject/internal/report"
	"github.com/jitinject/jitinject/internal/safefile"
	"github.com/jitinject/jitinject/internal/safefile/sys"
	"github.com/jitinject/jitinject/internal/sorting"
)

// Traces calls add with the traces that opts name. Unusable traces become problems. The error is
// that of unusable options.
func Traces(ctx context.Context, rec *recording.Recording, _ []*model.Dump, _ *codebytes.Files, opts *config.Options, found *report.Findings, add func(t calls.Trace, clock func(uint64) uint64, match report.Clock)) error {
	xrays, err := openAll(ctx, rec, opts, found)
	for _, x := range xrays {
		add(x, clock.Shifted(0), x.match) // its times are those of the recording
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
	var opened, files []*traceFile // files are the usable ones
	defer func() {
		for _, f := range opened {
			f.release()
		}
	}()
	for _, n := range named {
		file, err := safefile.Open(n.Path)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", n, safefile.PlainError(err))
		}
		f := &traceFile{path: n.Path, file: file, users: 1}
		opened = append(opened, f)
		err = f.read(rec, opts)
		switch none := (clock.Unknown{}); {
		case errors.Is(err, errNotLog) && !isEmpty(file): // an empty file is a trace without records
			return nil, fmt.Errorf("%s: %w", n, err)
		case errors.Is(err, xrayfdr.ErrOldVersion):
			found.Problem(report.ProblemOf(f.path, err, "build the program with a newer LLVM"))
		case errors.As(err, &none):
			p := report.ProblemOf(rec.In.Path, err, report.AdviceClock) // the trace is sound
			p.Code = report.ProblemClock
			found.Problem(p)
		case err != nil:
			found.Problem(report.ProblemOf(f.path, err, adviceTrace))
		default:
			files = append(files, f)
		}
	}
	if len(files) > 0 {
		share(rec, files, found)
	}
	for _, f := range files {
		more, err := f.open(ctx, rec, binaries, opts, found)
		if err != nil {
			found.Problem(report.ProblemOf(f.path, err, adviceTrace))
		}
		xrays = append(xrays, more...)
	}
	return join(rec, binaries, xrays), nil
}

// adviceTrace is advice about an unusable trace.
const adviceTrace = "name the trace that the recorded program wrote, whole"

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
	sorting.Stable(xrays, func(a, b *Trace) int { return cmp.Compare(a.life.traced, b.life.traced) })
	firsts := make(map[run]*Trace)
	more := make(map[*Trace][]*Process) // of the first trace, without its own
	for _, x := range xrays {
		id := run{x.PID(), x.process.PID, x.life.began, x.Summary.Program}
		first := firsts[id]
		if first == nil {
			firsts[id] = x
			joined = append(joined, x)
			continue
		}
		more[first] = append(more[first], x.process)
		first.files = append(first.files, x.files...)
		first.Summary.More++
		first.Summary.Anchors += x.Summary.Anchors
		first.match.Error = max(first.match.Error, x.match.Error)
	}
	for _, x := range joined {
		x.process.join(more[x])
		x.Summary.Buffers = x.process.Buffers
		known := programs.tids[x.PID()]
		x.life = lifeOf(s, x.PID(), len(known), x.life.traced, len(x.process.Threads))
		x.at.TID = threadsOf(known, x.process, x.PID())
	}
	return joined
}

// adviceProgram is advice about a trace without its program.
func adviceProgram() string {
	return "name the program, of the build that was recorded, with " + report.Mentioned("Programs", "FILE")
}

// A traceFile is a file with a trace, shared by the processes in it.
type traceFile struct {
	path  string
	file  *sys.File
	log   *Log
	match report.Clock
	users int
}

// release closes the file after its last user.
func (f *traceFile) release() {
	if f.users--; f.users == 0 {
		f.file.Close()
	}
}

// read reads the trace in the file, and finds the conversion of its counts to times of the recording.
func (f *traceFile) read(s *recording.Recording, opts *config.Options) error {
	st, err := f.file.Stat()
	if err != nil {
		return err
	}
	x, err := ReadLog(f.file, st.Size())
	if err != nil {
		return err
	}
	f.log, x.Path = x, f.path
	if _, given, _ := clock.GivenOffset(opts.Clock); !given && s.ClockError() != "" && s.TimeConv != nil && !x.Clock.Emulated {
		x.Time, f.match = s.TimeConv.Time, report.Clock{Kind: report.ClockTSC}
		return nil
	}
	toRecording, match, err := clock.TraceClock(s, opts)
	if err != nil {
		return err
	}
	if match.Kind == report.ClockMonotonic {
		match.Error = x.Clock.Error
	}
	f.match = match
	x.Time = func(count uint64) uint64 { return toRecording(x.Clock.Time(count)) }
	return nil
}

// share assigns the contents of several traces to the processes that wrote them.
func share(s *recording.Recording, files []*traceFile, found *report.Findings) {
	var traces []*Log
	for _, f := range files {
		traces = append(traces, f.log)
	}
	problems, err := Share(traces, &world{
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
	})
	if err != nil {
		found.Problem(report.ProblemOf(files[0].path, err, "read it from another disk"))
	}
	for _, p := range problems {
		if p.Note {
			found.Note(fmt.Sprintf("%s: %s; %s", quote.Printable(p.X.Path), p.Text, p.Advice))
		} else {
			found.Problem(report.Problem{Code: report.ProblemDamage, File: p.X.Path, Offset: p.Offset, Text: p.Text, Advice: p.Advice})
		}
	}
}

// open finds the processes of the trace in the recording. Unusable processes become problems. The
// error is that of the trace as a whole.
func (f *traceFile) open(ctx context.Context, s *recording.Recording, binaries *programs, opts *config.Options, found *report.Findings) (xrays []*Trace, err error) {
	c := f.log.Clock
	for _, p := range f.log.Problems {
		found.Problem(report.Problem{Code: report.ProblemDamage, File: f.path, Offset: p.Offset, Text: p.Text, Advice: report.AdviceDamage(f.path)})
	}
	opts.Logf(2, "%s: counts of %.0f Hz, times are right to %d ns", quote.Printable(f.path), c.Frequency, c.Error)
	for _, p := range f.log.Processes {
		program, err := findProgram(s, p, binaries, opts)
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
		x := p.Trace(Place{PID: program.pid, Function: program.address, Args: program.functions.LogsArguments, Notes: program.functions.LogsEvents})
		x.files, x.match = []*traceFile{f}, f.match
		x.life = lifeOf(s, program.pid, 0, p.Began(), 0)
		x.Summary = report.XRaySummary{
			Fixes:  []report.Fix{},
			Format: int(f.log.header.Version), Program: program.path, Unchecked: program.unchecked, Functions: program.functions.Len(),
			Claimed: c.Claimed, Frequency: c.Frequency, Measured: c.Measured, Emulated: c.Emulated, Anchors: c.Anchors,
		}
		xrays = append(xrays, x)
	}
	return xrays, nil
}

// threadsOf returns the conversion of a traced process's thread numbers to those of the recording,
// which has the threads known, ascending. It is nil if they agree. In another pid namespace, process and
// threads have other numbers. In both namespaces, threads are numbered in the order of their start.
func threadsOf(known []uint32, p *Process, pid uint32) func(uint32) uint32 {
	if p.PID == pid {
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
