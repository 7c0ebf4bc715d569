package inject

import (
	"fmt"
	"io"

	"github.com/jitinject/jitinject/perfdata"
)

// A recording is an input file after the survey: what rewriting it depends on.
type recording struct {
	file    *perfdata.File
	layouts *perfdata.Layouts
	path    string

	markers  []marker
	forks    []lineage // of processes, in the order of the file
	execs    []lineage
	timed    bool // records have times
	timeConv *perfdata.TimeConv
}

// A marker is a mapping that names a dump.
type marker struct {
	pid    uint32
	time   uint64
	path   string
	offset int64 // of the record in the file
}

// A lineage is the birth of a process, by fork from another or by exec from itself.
type lineage struct {
	pid, parent uint32
	time        uint64
}

// surveyRecording walks the whole recording once. Everything in it that is about
// processes fits in memory; nothing is kept of samples.
func surveyRecording(path string, file *perfdata.File) (*recording, error) {
	layouts, err := perfdata.NewLayouts(file.Header.Order, file.Attrs)
	if err != nil {
		return nil, err
	}
	s := &recording{file: file, layouts: layouts, path: path}
	blocks := file.Blocks()
	for {
		block, err := blocks.Next()
		if err == io.EOF {
			return s, nil
		}
		if err != nil {
			return nil, err
		}
		for pos, rec := range block.Records() {
			if err := s.record(rec, block.Offset+int64(pos)); err != nil {
				return nil, err
			}
		}
	}
}

func (s *recording) record(rec perfdata.Record, offset int64) error {
	switch rec.Type {
	case perfdata.RecordSample:
		if !s.timed {
			_, s.timed = s.layouts.Time(rec)
		}
	case perfdata.RecordMmap, perfdata.RecordMmap2:
		m, err := s.layouts.Mmap(rec)
		if err != nil {
			return nil // kept as it is; perf will say what it thinks of it
		}
		if _, ok := markerNumber(m.Filename); ok && !m.OfKernel() {
			time, _ := s.layouts.Time(rec)
			s.markers = append(s.markers, marker{m.PID, time, string(m.Filename), offset})
		}
	case perfdata.RecordFork:
		if t, err := s.layouts.Task(rec); err == nil && t.PID != t.ParentPID {
			s.forks = append(s.forks, lineage{t.PID, t.ParentPID, t.Time})
		}
	case perfdata.RecordComm:
		if c, err := s.layouts.Comm(rec); err == nil && c.Exec {
			time, _ := s.layouts.Time(rec)
			s.execs = append(s.execs, lineage{c.PID, c.PID, time})
		}
	case perfdata.RecordTimeConv:
		if c, err := s.layouts.TimeConv(rec); err == nil && c.Mult != 0 {
			s.timeConv = &c
		}
	case perfdata.RecordCompressed, perfdata.RecordCompressed2:
		return fmt.Errorf("%#x: it was recorded with perf record -z, and compressed recordings cannot be read yet; record again without -z", offset)
	}
	return nil
}

// isDescendant reports whether pid was forked from ancestor, directly or not.
func (s *recording) isDescendant(pid, ancestor uint32) bool {
	for range s.forks { // more generations than forks there are not
		parent, ok := s.parentOf(pid)
		if !ok {
			return false
		}
		if parent == ancestor {
			return true
		}
		pid = parent
	}
	return false
}

func (s *recording) parentOf(pid uint32) (uint32, bool) {
	for _, f := range s.forks {
		if f.pid == pid {
			return f.parent, true
		}
	}
	return 0, false
}

// clockError says what is wrong with the recording's clock if its times cannot
// be compared with CLOCK_MONOTONIC, or "".
func (s *recording) clockError() string {
	for i := range s.file.Attrs {
		id, ok := s.file.Attrs[i].ClockID()
		switch {
		case !ok:
			return "it was recorded without -k mono, so its times cannot be compared with those of the dumps; record again with perf record -k mono"
		case id != perfdata.ClockMonotonic:
			return fmt.Sprintf("it was recorded with clock %d (-k), and the dumps count in CLOCK_MONOTONIC; record again with perf record -k mono", id)
		}
	}
	return ""
}
