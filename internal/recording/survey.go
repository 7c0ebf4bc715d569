package recording

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/jitinject/jitinject/internal/report"
	"github.com/jitinject/jitinject/perfdata"
)

// A Recording is the result of the survey: what rewriting the input depends on. Times are those
// of the recording, in nanoseconds.
type Recording struct {
	In      *Input
	Attrs   []perfdata.Attr
	Layouts *perfdata.Layouts

	Markers     []Marker
	ProcessTree ProcessTree
	Processes   Processes
	Lost        bool   // some of its records were lost
	Traced      bool   // it has trace data of hardware (AUXTRACE)
	Timed       bool   // records have times
	Began       uint64 // the time of the first sample
	Injected    int    // number of mappings of objects that an earlier run made
	TimeConv    *perfdata.TimeConv
	ClockData   *perfdata.ClockData
	Cut         int64            // offset of a record that the end of the input cuts, or -1
	Unread      map[string]error // see NoteUnread
	Text        string           // what is at Cut instead of a record: see perfdata.TextAfter
	Damaged     Damaged
	Runs        runs
	Histogram   *Histogram  // nil if not wanted
	Stacks      StackCopies // nil if not wanted
	Cmdline     []string    // of perf record; nil if unknown

	Machine string // as uname(2) reports it, or ""
	// Hostname is the name of the machine that was recorded, or "".
	Hostname string

	Owners map[uint32]uint32 // processes of threads, by tid

	// Earliest and Latest are those of all times in it that are not 0.
	Earliest, Latest uint64

	lineage *lineage // nil until it is asked for

	readIDs sync.Once
	ids     map[string]string // build ids of the table, by file
}

// A Marker is a mapping that names a dump.
type Marker struct {
	PID    uint32
	Number uint32 // in the dump's name: the pid in the process's own pid namespace
	Time   uint64
	Path   string // as it was mapped
	// Pos is the position of the record in the stream; -1 if there is no record.
	Pos  int64
	Addr uint64
	Len  uint64
	File perfdata.FileIdentity // zero if the recording does not say

	// Place and Began are set for files that the recording does not mention. Place says in
	// words where the file was found. Began is when it may have been begun, 0 if that is
	// unknown.
	Place string
	Began uint64
	// Known says in words what the file was known by, if not by its name.
	Known string
}

// Survey walks the whole recording once and returns what later stages need. All data about
// processes fits in memory, and samples are not kept. With counts, it also fills the address
// histogram and counts copies of stacks. Errors are ctx's or those of reading.
func Survey(ctx context.Context, in *Input, counts bool) (*Recording, error) {
	s, err := New(in)
	if err != nil {
		return nil, err
	}
	if counts {
		s.Histogram, s.Stacks = newHistogram(), make(StackCopies)
	}
	blocks := in.Blocks()
	for block, err := range through(ctx, blocks, in.Pass(report.PhaseSurvey, blocks)) {
		if err != nil {
			return nil, err
		}
		latest, special := uint64(0), block.Opaque
		for at, rec := range block.Records() {
			if time, ok := s.Layouts.Time(rec); ok {
				latest = max(latest, time)
				s.Latest = max(s.Latest, time)
				if time != 0 && time < s.Earliest {
					s.Earliest = time
				}
				if !s.Timed && rec.Type == perfdata.RecordSample {
					s.Began, s.Timed = time, true
				}
			}
			switch rec.Type {
			case perfdata.RecordSample:
				if len(s.Attrs) == 0 {
					return nil, perfdata.ErrNoEvents
				}
				s.CheckSample(rec, block.Pos+int64(at))
				s.Histogram.sample(rec, s.Layouts)
				s.Stacks.Sample(rec, s.Layouts)
				continue
			case perfdata.RecordMmap, perfdata.RecordMmap2, perfdata.RecordAuxtrace:
				special = true
			}
			s.Observe(rec, block.Pos+int64(at))
		}
		if block.Packed { // a pipe need not say so before
			in.Plain, s.Runs = nil, runs{}
		} else if in.Plain != nil {
			s.Runs.add(block, latest, special)
		}
	}
	s.Cut, s.Text = blocks.Cut(), perfdata.TextAfter(blocks)
	s.ProcessTree.sort()
	return s, nil
}

// New returns the state of a recording before its first record.
func New(in *Input) (s *Recording, err error) {
	s = &Recording{In: in, Cut: -1, Earliest: math.MaxUint64, Attrs: in.File.Attrs}
	s.Layouts, err = perfdata.NewLayouts(in.Order, s.Attrs)
	for _, id := range []perfdata.FeatureID{perfdata.FeatureCmdline, perfdata.FeatureHostname, perfdata.FeatureArch, perfdata.FeatureClockData} {
		if f := in.File.Feature(id); f != nil {
			content, rerr := f.Bytes()
			switch {
			case rerr == nil:
				s.feature(id, content)
			case !errors.Is(rerr, io.EOF) && !errors.Is(rerr, io.ErrUnexpectedEOF): // else the file is cut
				err = cmp.Or(err, rerr)
			}
		}
	}
	return s, err
}

// feature adds a header feature, with which perf record describes itself and the machine.
func (r *Recording) feature(id perfdata.FeatureID, content []byte) {
	switch id {
	case perfdata.FeatureCmdline:
		r.Cmdline = perfdata.Cmdline(r.In.Order, content)
	case perfdata.FeatureHostname:
		r.Hostname = perfdata.Text(r.In.Order, content)
	case perfdata.FeatureArch:
		r.Machine = perfdata.Text(r.In.Order, content)
	case perfdata.FeatureClockData:
		if c, ok := perfdata.ReadClockData(r.In.Order, content); ok {
			r.ClockData = &c
		}
	}
}

// Observe adds what a record other than a sample says. pos is its position in the stream.
func (r *Recording) Observe(rec perfdata.Record, pos int64) {
	r.lineage = nil
	switch rec.Type {
	case perfdata.RecordMmap, perfdata.RecordMmap2:
		m, err := r.Layouts.Mmap(rec)
		if err != nil {
			r.damaged(rec, pos)
			return
		}
		r.mmap(rec, &m, pos)
	case perfdata.RecordAuxtrace:
		r.Traced = true
	case perfdata.RecordLost:
		r.Lost = true
	case perfdata.RecordFork:
		t, err := r.Layouts.Task(rec)
		if err != nil {
			r.damaged(rec, pos)
			return
		}
		r.owns(t.PID, t.TID)
		if t.PID != t.ParentPID {
			r.ProcessTree.fork(fork{t.PID, t.ParentPID, t.Time, t.Clones})
			r.Processes.Seen(t.PID, t.Time)
		}
	case perfdata.RecordComm:
		c, err := r.Layouts.Comm(rec)
		if err != nil {
			r.damaged(rec, pos)
			return
		}
		r.owns(c.PID, c.TID)
		if c.Exec || c.PID == c.TID {
			time := r.Time(rec)
			if c.Exec {
				r.ProcessTree.exec(c.PID, time)
			}
			// Records are in order within one CPU only.
			if p := r.Processes.Seen(c.PID, time); p.Comm == "" || time >= p.named {
				p.Comm, p.named = string(c.Name), time
			}
		} else if isTruffle(c.Name) {
			r.Processes.Seen(c.PID, r.Time(rec)).Truffle = true
		}
	case perfdata.RecordExit:
		if t, err := r.Layouts.Task(rec); err != nil {
			r.damaged(rec, pos)
		} else if t.PID == t.TID {
			r.Processes.Seen(t.PID, t.Time).Exited = t.Time
		}
	case perfdata.RecordNamespaces:
		if n, err := r.Layouts.Namespaces(rec); err != nil {
			r.damaged(rec, pos)
		} else if n.PID == n.TID {
			time := r.Time(rec)
			if p := r.Processes.Seen(n.PID, time); time >= p.mounted {
				p.Mount, p.mounted = n.Of(perfdata.NamespaceMount), time
			}
		}
	case perfdata.RecordTimeConv:
		if c, err := r.Layouts.TimeConv(rec); err == nil && c.Mult != 0 {
			r.TimeConv = &c
		}
	}
}

// owns records the process of a thread: the latest one with that tid.
func (r *Recording) owns(pid, tid uint32) {
	if r.Owners == nil {
		r.Owners = make(map[uint32]uint32)
	}
	r.Owners[tid] = pid
}

// mmap adds a mapping: a marker, an object of an earlier run, or a mapping of a process.
func (r *Recording) mmap(rec perfdata.Record, m *perfdata.Mmap, pos int64) {
	if m.OfKernel() {
		return
	}
	time := r.Time(rec)
	marker, ok := r.markerOf(rec, m, pos)
	switch {
	case ok:
		r.Processes.Seen(m.PID, time)
		r.Markers = append(r.Markers, marker)
	case IsObject(m.Filename):
		r.Injected++
	default:
		r.Processes.mapped(rec, m, time, pos)
	}
}

// markerOf returns the marker that a mapping is. ok is false for other mappings.
func (r *Recording) markerOf(rec perfdata.Record, m *perfdata.Mmap, pos int64) (marker Marker, ok bool) {
	number, ok := markerNumber(m.Filename)
	if !ok {
		return marker, false
	}
	return Marker{PID: m.PID, Number: number, Time: r.Time(rec), Path: string(m.Filename), Pos: pos, Addr: m.Addr, Len: m.Len, File: m.File}, true
}

// CopiesStacks reports whether samples have copies of stacks, which perf unwinds by the tables of
// objects.
func (r *Recording) CopiesStacks() bool {
	return slices.ContainsFunc(r.Attrs, func(a perfdata.Attr) bool { return a.SampleType()&perfdata.FieldStackUser != 0 })
}

// Time returns the time of a record about a process. It returns 0 for states from before the
// recording began.
func (r *Recording) Time(rec perfdata.Record) uint64 {
	time, ok := r.Layouts.Time(rec)
	if !ok {
		return 0
	}
	return time
}

// Clock returns the clock of the times, as a number of clock_gettime(2). ok is false without perf record
// -k: then the times are of perf's own clock. If events differ, it is one that is not CLOCK_MONOTONIC.
func (r *Recording) Clock() (id int32, ok bool) {
	for i := range r.Attrs {
		if id, ok := r.Attrs[i].ClockID(); !ok || id != perfdata.ClockMonotonic {
			return id, ok
		}
	}
	return perfdata.ClockMonotonic, true
}

// TimeOfDay returns the time of day at a time of the recording. ok is false if the recording does not know it.
func (r *Recording) TimeOfDay(t uint64) (at time.Time, ok bool) {
	c := r.ClockData
	id, known := r.Clock()
	if c == nil || !known || uint32(id) != c.ID {
		return at, false
	}
	return time.Unix(0, int64(c.Wall+t-c.Clock)), true
}

// ClockError returns the reason why the recording's times cannot be compared with
// CLOCK_MONOTONIC, or "".
func (r *Recording) ClockError() string {
	switch id, ok := r.Clock(); {
	case !ok:
		return "it was recorded without -k mono, so its times cannot be compared with those of dumps and logs"
	case id != perfdata.ClockMonotonic:
		return fmt.Sprintf("it was recorded with the clock %s (-k), and dumps and logs count in CLOCK_MONOTONIC", clockName(id))
	}
	return ""
}

// clockName returns the name of a clock id of clock_gettime(2).
func clockName(id int32) string {
	names := map[int32]string{0: "CLOCK_REALTIME", 1: "CLOCK_MONOTONIC", 4: "CLOCK_MONOTONIC_RAW", 7: "CLOCK_BOOTTIME", 11: "CLOCK_TAI"}
	if name, ok := names[id]; ok {
		return name
	}
	return fmt.Sprintf("number %d", id)
}
