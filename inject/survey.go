package inject

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/jitinject/jitinject/perfdata"
)

// A recording is an input after the survey: what rewriting it depends on.
type recording struct {
	in      *input
	attrs   []perfdata.Attr
	layouts *perfdata.Layouts

	markers   []marker
	genealogy genealogy
	processes processes
	lost      bool   // some of its records
	traced    bool   // it has trace data of hardware (AUXTRACE)
	timed     bool   // records have times
	began     uint64 // the time of the first sample
	injected  int    // mappings of objects that an earlier run made
	timeConv  *perfdata.TimeConv
	clockData *perfdata.ClockData
	cut       int64 // offset of a record that the end of the input cuts, or -1
	stretches stretches
	census    *census     // nil if not wanted
	stacks    stackCopies // nil if not wanted
	cmdline   []string    // of perf record; nil if unknown
	described []byte      // of a pipe: its event names (EVENT_DESC)

	machine      string       // as uname(2) has it, or ""
	refusedLogs  []refusedLog // of Mono
	capturesLeft int          // of those that were named: they have become problems
	callsThere   bool         // an earlier run has put in a trace that is given

	owners map[uint32]uint32 // the processes of threads, by their numbers

	earliest, latest uint64 // of all times in it that are not 0
}

// A marker is a mapping that names a dump.
type marker struct {
	pid    uint32
	number uint32 // in the dump's name: the process in its own pid namespace
	time   uint64
	path   string // when it was mapped
	pos    int64  // of the record in the stream; -1 if there is none
	addr   uint64
	len    uint64
	file   perfdata.FileIdentity // zero if the recording does not say

	// Of files that the recording does not tell of: how they were found, and when they may
	// have been begun, 0 if that is unknown.
	place string
	began uint64
}

// surveyRecording walks the whole recording once. Everything in it that is about
// processes fits in memory; nothing is kept of samples.
func surveyRecording(ctx context.Context, in *input, counts bool) (*recording, error) {
	s, err := newRecording(in)
	if err != nil {
		return nil, err
	}
	if counts {
		s.census, s.stacks = newCensus(), make(stackCopies)
	}
	blocks, err := in.blocks()
	if err != nil {
		return nil, err
	}
	pass := in.pass(PhaseSurvey, blocks)
	for ctx.Err() == nil {
		block, err := blocks.Next()
		if err == io.EOF {
			s.cut = blocks.Cut()
			return s, nil
		}
		if err != nil {
			return nil, err
		}
		pass.read(&block)
		latest, touched := uint64(0), block.Opaque
		for at, rec := range block.Records() {
			if time, ok := s.layouts.Time(rec); ok {
				latest = max(latest, time)
				s.latest = max(s.latest, time)
				if time != 0 && time < s.earliest {
					s.earliest = time
				}
				if !s.timed && rec.Type == perfdata.RecordSample {
					s.began, s.timed = time, true
				}
			}
			switch rec.Type {
			case perfdata.RecordSample:
				s.census.sample(rec, s.layouts)
				s.stacks.sample(rec, s.layouts)
				continue
			case perfdata.RecordMmap, perfdata.RecordMmap2, perfdata.RecordAuxtrace:
				touched = true
			}
			if err := s.record(rec, block.Pos+int64(at)); err != nil {
				return nil, err
			}
		}
		if in.plain != nil {
			s.stretches.add(&block, latest, touched)
		}
	}
	return nil, ctx.Err()
}

// newRecording returns what is known of a recording before its first record.
func newRecording(in *input) (s *recording, err error) {
	s = &recording{in: in, cut: -1, earliest: math.MaxUint64}
	if in.file != nil {
		s.attrs = in.file.Attrs
		s.layouts, err = perfdata.NewLayouts(in.order, s.attrs)
		for _, id := range []perfdata.FeatureID{perfdata.FeatureCmdline, perfdata.FeatureArch, perfdata.FeatureClockData} {
			if f := in.file.Feature(id); f != nil {
				if content, err := f.Bytes(); err == nil {
					s.feature(id, content)
				}
			}
		}
	} else {
		s.layouts = perfdata.NoLayouts(in.order)
	}
	return s, err
}

// feature takes in what perf record says of itself and the machine.
func (s *recording) feature(id perfdata.FeatureID, content []byte) {
	switch id {
	case perfdata.FeatureCmdline:
		s.cmdline = perfdata.Cmdline(s.in.order, content)
	case perfdata.FeatureArch:
		s.machine = perfdata.Text(s.in.order, content)
	case perfdata.FeatureClockData:
		if c, ok := perfdata.ReadClockData(s.in.order, content); ok {
			s.clockData = &c
		}
	case perfdata.FeatureEventDesc:
		s.described = bytes.Clone(content)
	}
}

// addAttr takes in an event that a pipe tells of.
func (s *recording) addAttr(rec perfdata.Record) error {
	attr, err := perfdata.HeaderAttr(s.in.order, rec)
	if err != nil {
		return err
	}
	s.attrs = append(s.attrs, attr)
	s.layouts, err = perfdata.NewLayouts(s.in.order, s.attrs)
	return err
}

func (s *recording) record(rec perfdata.Record, pos int64) error {
	switch rec.Type {
	case perfdata.RecordHeaderAttr:
		if s.in.file == nil {
			return s.addAttr(rec)
		}
	case perfdata.RecordMmap, perfdata.RecordMmap2:
		m, err := s.layouts.Mmap(rec)
		if err != nil {
			return nil // kept as it is; perf will say what it thinks of it
		}
		s.mmap(rec, &m, pos)
	case perfdata.RecordAuxtrace:
		s.traced = true
	case perfdata.RecordHeaderFeature:
		if id, content, ok := perfdata.HeaderFeature(s.in.order, rec); ok {
			s.feature(id, content)
		}
	case perfdata.RecordLost:
		s.lost = true
	case perfdata.RecordFork:
		t, err := s.layouts.Task(rec)
		if err == nil {
			s.owns(t.PID, t.TID)
		}
		if err == nil && t.PID != t.ParentPID {
			s.genealogy.fork(birth{t.PID, t.ParentPID, t.Time, t.Clones})
			s.processes.seen(t.PID, t.Time)
		}
	case perfdata.RecordComm:
		c, err := s.layouts.Comm(rec)
		if err == nil {
			s.owns(c.PID, c.TID)
		}
		if err == nil && (c.Exec || c.PID == c.TID) {
			time := s.time(rec)
			if c.Exec {
				s.genealogy.exec(c.PID, time)
			}
			// Records are in order within one CPU only.
			if p := s.processes.seen(c.PID, time); p.comm == "" || time >= p.named {
				p.comm, p.named = string(c.Name), time
			}
		}
	case perfdata.RecordExit:
		if t, err := s.layouts.Task(rec); err == nil && t.PID == t.TID {
			s.processes.seen(t.PID, t.Time).exited = t.Time
		}
	case perfdata.RecordNamespaces:
		if n, err := s.layouts.Namespaces(rec); err == nil && n.PID == n.TID {
			time := s.time(rec)
			if p := s.processes.seen(n.PID, time); time >= p.mounted {
				p.mount, p.mounted = n.Of(perfdata.NamespaceMount), time
			}
		}
	case perfdata.RecordTimeConv:
		if c, err := s.layouts.TimeConv(rec); err == nil && c.Mult != 0 {
			s.timeConv = &c
		}
	}
	return nil
}

// owns notes whose a thread is: the latest that had its number.
func (s *recording) owns(pid, tid uint32) {
	if s.owners == nil {
		s.owners = make(map[uint32]uint32)
	}
	s.owners[tid] = pid
}

// mmap keeps what a mapping says about dumps and about memory.
func (s *recording) mmap(rec perfdata.Record, m *perfdata.Mmap, pos int64) {
	if m.OfKernel() {
		return
	}
	time := s.time(rec)
	number, ok := markerNumber(m.Filename)
	switch {
	case ok:
		s.processes.seen(m.PID, time)
		s.markers = append(s.markers, marker{pid: m.PID, number: number, time: time, path: string(m.Filename), pos: pos, addr: m.Addr, len: m.Len, file: m.File})
	case isObject(m.Filename):
		s.injected++
	default:
		s.processes.mapped(rec, m, time)
	}
}

// copiesStacks reports whether samples have copies of stacks, which perf unwinds by
// the tables of objects.
func (s *recording) copiesStacks() bool {
	return slices.ContainsFunc(s.attrs, func(a perfdata.Attr) bool { return a.SampleType()&perfdata.FieldStackUser != 0 })
}

// time returns the time of a record about a process; 0 says that things were so
// before the recording began.
func (s *recording) time(rec perfdata.Record) uint64 {
	time, ok := s.layouts.Time(rec)
	if !ok {
		return 0
	}
	return time
}

// clockError says what is wrong with the recording's clock if its times cannot
// be compared with CLOCK_MONOTONIC, or "".
func (s *recording) clockError() string {
	for i := range s.attrs {
		id, ok := s.attrs[i].ClockID()
		switch {
		case !ok:
			return "it was recorded without -k mono, so its times cannot be compared with those of dumps and logs"
		case id != perfdata.ClockMonotonic:
			return fmt.Sprintf("it was recorded with the clock %s (-k), and dumps and logs count in CLOCK_MONOTONIC", clockName(id))
		}
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
