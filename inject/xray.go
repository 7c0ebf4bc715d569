package inject

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"

	"github.com/jitinject/jitinject/internal/calls"
	"github.com/jitinject/jitinject/internal/source"
)

// Traces of XRay: programs that clang built with -fxray-instrument log every call of a
// function by its number and a count of the processor's clock. What the numbers mean is in
// the program; where that was in memory, the recording knows.

// An XRaySummary is what is special about a trace of XRay.
type XRaySummary struct {
	Format    int     `json:"format"`       // the version of the format
	Buffers   int     `json:"buffers"`      // of the process
	More      int     `json:"more"`         // further files of the process; what is said of the trace is about all of them
	Program   string  `json:"program"`      // where functions were looked up
	Unchecked bool    `json:"unchecked"`    // nothing tells whether that is the build that was recorded
	Functions int     `json:"functions"`    // that it has, called or not
	Claimed   uint64  `json:"claimed_hz"`   // of the counts, as the trace says, or 0
	Frequency float64 `json:"frequency_hz"` // as it is
	Measured  bool    `json:"measured"`     // that is not what the trace says, but what its times show
	Emulated  bool    `json:"emulated"`     // the counts are nanoseconds of CLOCK_REALTIME
	Anchors   int     `json:"anchors"`      // places where the trace tells a count and a time

	Repairs []Repair `json:"repairs"` // what runtimes write otherwise than the format's document says
}

// An xray is the part of a trace that a process of the recording wrote.
type xray struct {
	*source.XRayTrace
	clock   func(uint64) uint64
	match   Clock
	summary XRaySummary
	files   []*xrayFile // the first is the one that is named
	process *source.XRayProcess
	life    xrayLife
}

// Close closes the files, if nobody else uses them.
func (x *xray) Close() error {
	for _, f := range x.files {
		f.release()
	}
	return nil
}

// Problems returns what is wrong with the trace. What damage is about, verify tells.
func (x *xray) Problems() []calls.Problem {
	problems := x.XRayTrace.Problems()
	for i := range problems {
		if problems[i].Advice == "" {
			problems[i].Advice = adviceVerify(x.Path())
		}
	}
	return problems
}

// openXRays opens the traces that opts names. Those that cannot be used become problems. The
// error is of options that cannot be followed.
func openXRays(ctx context.Context, rec *recording, opts *Options, sum *Summary) (xrays []*xray, err error) {
	if len(opts.XRay) == 0 && len(opts.XRayBinary) == 0 {
		rec.hintXRay(opts, sum)
		return nil, nil
	}
	if len(opts.XRay) == 0 {
		return nil, errors.New("--xray-binary: there is no trace to which a program could belong; name it with --xray FILE")
	}
	binaries, err := readXRayBinaries(opts)
	if err != nil {
		return nil, err
	}
	var files []*xrayFile
	defer func() {
		for _, f := range files {
			f.release()
		}
	}()
	for _, path := range opts.XRay {
		file, err := openFile(path)
		if err != nil {
			return nil, fmt.Errorf("--xray %s: %w", Printable(path), plainError(err))
		}
		f := &xrayFile{path: path, file: file, users: 1}
		files = append(files, f)
		f.trace, err = readXRay(file)
		if errors.Is(err, source.ErrNotXRay) && !isEmpty(file) { // an empty trace was not written to
			return nil, fmt.Errorf("--xray %s: %w", Printable(path), err)
		}
		if err != nil {
			sum.problem(problemOf(path, err, "name the trace that the recorded program wrote, whole"))
			continue
		}
		f.trace.Path = path
	}
	rec.shareXRays(files, opts, sum)
	for _, f := range files {
		if f.trace == nil {
			continue
		}
		more, err := rec.openXRay(ctx, f, binaries, opts, sum)
		if none := (errClock{}); errors.As(err, &none) {
			sum.problem(problemOf(rec.in.path, err, adviceClock)) // it is no fault of the trace
		} else if err != nil {
			sum.problem(problemOf(f.path, err, "name the trace that the recorded program wrote, whole"))
		}
		xrays = append(xrays, more...)
	}
	return rec.joinXRays(xrays), nil
}

// isEmpty reports whether a file is known to have no bytes.
func isEmpty(file *os.File) bool {
	st, err := file.Stat()
	return err == nil && st.Size() == 0
}

// joinXRays makes one trace of those that a program in a process wrote one after the other.
func (s *recording) joinXRays(xrays []*xray) (joined []*xray) {
	slices.SortStableFunc(xrays, func(a, b *xray) int { return cmp.Compare(a.life.traced, b.life.traced) })
	for _, x := range xrays {
		i := slices.IndexFunc(joined, func(first *xray) bool {
			return first.PID() == x.PID() && first.life.began == x.life.began && first.summary.Program == x.summary.Program && first.process.PID == x.process.PID
		})
		if i < 0 {
			joined = append(joined, x)
			continue
		}
		first := joined[i]
		first.Join(x.XRayTrace)
		first.files = append(first.files, x.files...)
		first.summary.More++
		first.summary.Buffers, first.summary.Anchors = first.process.Buffers, first.summary.Anchors+x.summary.Anchors
		first.match.Error = max(first.match.Error, x.match.Error)
		first.life = s.lifeOf(first.PID(), first.life.traced, len(first.process.Threads))
		first.Rename(s.xrayThreads(first.process, first.PID()))
	}
	return joined
}

const adviceXRayBinary = "name the program, of the build that was recorded, with --xray-binary FILE"

// A xrayFile is a file that holds a trace, for the processes in it.
type xrayFile struct {
	path  string
	file  *os.File
	trace *source.XRay // nil if it cannot be used
	users int
}

func (f *xrayFile) release() {
	if f.users--; f.users == 0 {
		f.file.Close()
	}
}

func readXRay(file *os.File) (*source.XRay, error) {
	st, err := file.Stat()
	if err != nil {
		return nil, err
	}
	return source.ReadXRay(file, st.Size())
}

// shareXRays gives what is in several traces to the processes that wrote it.
func (s *recording) shareXRays(files []*xrayFile, opts *Options, sum *Summary) {
	var traces []*source.XRay
	paths := make(map[*source.XRay]string)
	times := make(map[*source.XRay]func(uint64) uint64)
	for _, f := range files {
		if f.trace == nil {
			continue
		}
		clock, _, counts, err := s.xrayClock(f.trace, opts)
		if err != nil {
			return // and will be said
		}
		if counts == nil {
			own := f.trace.Clock
			counts = func(count uint64) uint64 { return clock(own.Time(count)) }
		}
		traces, paths[f.trace], times[f.trace] = append(traces, f.trace), f.path, counts
	}
	if len(traces) == 0 {
		return
	}
	world := &source.XRayWorld{
		Forks: func(pid uint32) (forks []source.XRayFork) {
			for _, b := range s.genealogy.by[pid] {
				if b.clones {
					forks = append(forks, source.XRayFork{PID: b.pid, Time: b.time})
				}
			}
			return forks
		},
		Exit: func(pid uint32) uint64 {
			if p := s.processes[pid]; p != nil && p.exited != 0 {
				return p.exited
			}
			return math.MaxUint64
		},
		Time: func(x *source.XRay, count uint64) uint64 { return times[x](count) },
	}
	problems, err := source.ShareXRay(traces, world)
	if err != nil {
		sum.problem(problemOf(files[0].path, err, "read it from another disk"))
	}
	for _, p := range problems {
		if p.Note {
			sum.note(fmt.Sprintf("%s: %s; %s", Printable(paths[p.X]), p.Text, p.Advice))
		} else {
			sum.problem(Problem{File: paths[p.X], Offset: p.Offset, Text: p.Text, Advice: p.Advice})
		}
	}
}

// openXRay finds the processes of a trace in the recording. Those that cannot be used become
// problems; the error is of the trace as a whole.
func (s *recording) openXRay(ctx context.Context, f *xrayFile, binaries []*xrayBinary, opts *Options, sum *Summary) (xrays []*xray, err error) {
	trace := f.trace
	for _, p := range trace.Problems {
		sum.problem(Problem{File: f.path, Offset: p.Offset, Text: p.Text, Advice: adviceVerify(f.path)})
	}
	opts.logf(2, "%s: counts of %.0f Hz, times are right to %d ns", Printable(f.path), trace.Clock.Frequency, trace.Clock.Error)
	clock, match, counts, err := s.xrayClock(trace, opts)
	if err != nil {
		return nil, err
	}
	for _, p := range trace.Processes {
		program, err := s.findXRayProgram(p, clock, binaries, opts)
		if err != nil {
			sum.problem(problemOf(f.path, err, adviceXRayBinary))
			continue
		}
		if program.unchecked {
			most, err := p.MostFunction(ctx)
			if err != nil {
				return xrays, err
			}
			if int64(most) > int64(program.functions.Len()) {
				err := fmt.Errorf("process %d: %s: %w: the trace has a function %d, and this program has %d", program.pid, Printable(program.path), errOtherBuild, most, program.functions.Len())
				sum.problem(problemOf(f.path, err, adviceXRayBinary))
				continue
			}
		}
		f.users++
		xrays = append(xrays, &xray{
			XRayTrace: p.Trace(source.XRayPlace{
				Path: f.path, PID: program.pid, TID: s.xrayThreads(p, program.pid), Time: counts,
				Function: program.address, Args: program.functions.LogsArguments, Notes: program.functions.LogsEvents,
			}),
			clock: clock, match: match, files: []*xrayFile{f}, process: p, life: s.lifeOf(program.pid, clock(p.Began()), len(p.Threads)),
			summary: XRaySummary{
				Repairs: []Repair{},
				Format:  int(trace.Version), Buffers: p.Buffers, Program: program.path, Unchecked: program.unchecked, Functions: program.functions.Len(),
				Claimed: trace.Clock.Claimed, Frequency: trace.Clock.Frequency, Measured: trace.Clock.Measured, Emulated: trace.Clock.Emulated, Anchors: trace.Clock.Anchors,
			},
		})
	}
	return xrays, nil
}

// xrayClock returns how a trace's times become the recording's. counts is not nil if they
// do so from its counts.
func (s *recording) xrayClock(t *source.XRay, opts *Options) (toRecording func(uint64) uint64, match Clock, counts func(uint64) uint64, err error) {
	if _, given, _ := givenOffset(opts.Clock); !given && s.clockError() != "" && s.timeConv != nil && !t.Clock.Emulated {
		return shifted(0), Clock{Kind: ClockTSC}, s.timeConv.Time, nil
	}
	if toRecording, match, err = s.traceClock(opts); err == nil && match.Kind == ClockMonotonic {
		match.Error = t.Clock.Error
	}
	return toRecording, match, nil, err
}

// xrayThreads returns how the numbers that a process of a trace has for its threads become
// those of the recording. Where the process had a number of its own in its pid namespace, so
// had its threads; in either, threads have numbers in the order in which they came.
func (s *recording) xrayThreads(p *source.XRayProcess, pid uint32) func(uint32) uint32 {
	if p.PID == 0 || p.PID == pid {
		return nil
	}
	var tids, known []uint32
	for i := range p.Threads {
		tids = append(tids, p.Threads[i].TID)
	}
	for tid, of := range s.owners {
		if of == pid {
			known = append(known, tid)
		}
	}
	slices.Sort(tids)
	slices.Sort(known)
	names := map[uint32]uint32{p.PID: pid}
	for i, tid := range tids {
		if len(known) == len(tids) {
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
