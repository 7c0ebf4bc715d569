package inject

import (
	"context"
	"fmt"
	"io"

	"github.com/jitinject/jitinject/perfdata"
)

// A recording is an input file after the survey: what rewriting it depends on.
type recording struct {
	file    *perfdata.File
	layouts *perfdata.Layouts
	path    string

	markers   []marker
	genealogy genealogy
	timed     bool // records have times
	injected  int  // mappings of objects that an earlier run made
	timeConv  *perfdata.TimeConv
}

// A marker is a mapping that names a dump.
type marker struct {
	pid    uint32
	number uint32 // in the dump's name: the process in its own pid namespace
	time   uint64
	path   string
	offset int64 // of the record in the file
}

// surveyRecording walks the whole recording once. Everything in it that is about
// processes fits in memory; nothing is kept of samples.
func surveyRecording(ctx context.Context, path string, file *perfdata.File) (*recording, error) {
	layouts, err := perfdata.NewLayouts(file.Header.Order, file.Attrs)
	if err != nil {
		return nil, err
	}
	s := &recording{file: file, layouts: layouts, path: path}
	blocks := file.Blocks()
	for ctx.Err() == nil {
		block, err := blocks.Next()
		if err == io.EOF {
			s.genealogy.sort()
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
	return nil, ctx.Err()
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
		if isObject(m.Filename) {
			s.injected++
		}
		if number, ok := markerNumber(m.Filename); ok && !m.OfKernel() {
			time, _ := s.layouts.Time(rec)
			s.markers = append(s.markers, marker{m.PID, number, time, string(m.Filename), offset})
		}
	case perfdata.RecordFork:
		if t, err := s.layouts.Task(rec); err == nil && t.PID != t.ParentPID {
			s.genealogy.births = append(s.genealogy.births, birth{t.PID, t.ParentPID, t.Time, t.Clones})
		}
	case perfdata.RecordComm:
		if c, err := s.layouts.Comm(rec); err == nil && c.Exec {
			time, _ := s.layouts.Time(rec)
			s.genealogy.exec(c.PID, time)
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

// clockError says what is wrong with the recording's clock if its times cannot
// be compared with CLOCK_MONOTONIC, or "".
func (s *recording) clockError() string {
	for i := range s.file.Attrs {
		id, ok := s.file.Attrs[i].ClockID()
		switch {
		case !ok:
			return "it was recorded without -k mono, so its times cannot be compared with those of the dumps; record again with perf record -k mono"
		case id != perfdata.ClockMonotonic:
			return fmt.Sprintf("it was recorded with the clock %s (-k), and the dumps count in CLOCK_MONOTONIC; record again with perf record -k mono", clockName(id))
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
