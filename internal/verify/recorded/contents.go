package recorded

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/jitinject/jitinject/internal/verify/jitted"
	"github.com/jitinject/jitinject/perfdata"
)

// Contents are what a recording says about side files and their processes.
type Contents struct {
	Known     map[uint32]bool            // processes that a record names
	Markers   map[string]uint32          // the process that maps a file as a producer maps its dump, by the file's base name
	Objects   map[uint32][]ObjectMapping // mappings of objects of jitted functions, by process
	Monotonic bool                       // all times are of CLOCK_MONOTONIC

	path  string
	files map[uint32][]Range  // where other files are mapped, by process
	execs map[uint32][]uint64 // the times when a process began to run another program
}

// An ObjectMapping is a mapping of an object of jitted functions.
type ObjectMapping struct {
	Addr, Len, Pgoff uint64
	Path             string
	time             uint64
}

// maxContents bounds the processes and mappings of a recording that are kept.
const maxContents = 1 << 20

// maxMarker bounds the mapping of a dump whose name is none of a dump, in bytes: producers map a page, and the
// largest of any machine has 64 KiB. Programs and libraries are mapped with more.
const maxMarker = 64 << 10

// ReadContents reads a recording.
func ReadContents(ctx context.Context, recording string) (*Contents, error) {
	c := &Contents{
		Known: make(map[uint32]bool), Markers: make(map[string]uint32), Objects: make(map[uint32][]ObjectMapping),
		path: recording, files: make(map[uint32][]Range), execs: make(map[uint32][]uint64),
	}
	left := maxContents
	var err error
	c.Monotonic, err = Walk(ctx, recording, func(rec *File, r perfdata.Record) {
		if left > 0 && c.record(rec, r) {
			left--
		}
	})
	if err != nil {
		return nil, fmt.Errorf("the recording %s: %w", recording, err)
	}
	return c, nil
}

// record takes in a record, and reports whether something of it is kept.
func (c *Contents) record(rec *File, r perfdata.Record) bool {
	switch r.Type {
	case perfdata.RecordMmap, perfdata.RecordMmap2:
		m, err := rec.Mmap(r)
		if err != nil {
			return false
		}
		c.Known[m.PID] = true
		name := string(m.Filename)
		base := filepath.Base(name)
		isMarker := jitted.IsMarker(name)
		// A dump of another name is known by its contents, which the caller has seen.
		if isMarker || m.PgOff == 0 && m.Len <= maxMarker && filepath.IsAbs(name) {
			if _, twice := c.Markers[base]; !twice {
				c.Markers[base] = m.PID
			}
		}
		switch {
		case isMarker:
		case m.Addr+m.Len <= m.Addr:
		case jitted.IsObject(name):
			time, _ := rec.Time(r)
			c.Objects[m.PID] = append(c.Objects[m.PID], ObjectMapping{m.Addr, m.Len, m.PgOff, name, time})
		case filepath.IsAbs(name) && !IsAnonymous(name):
			c.files[m.PID] = append(c.files[m.PID], Range{Addr: m.Addr, End: m.Addr + m.Len})
		}
		return true
	case perfdata.RecordComm:
		if e, err := rec.Comm(r); err == nil {
			c.Known[e.PID] = true
			if time, ok := rec.Time(r); ok && e.Exec {
				c.execs[e.PID] = append(c.execs[e.PID], time)
			}
			return true
		}
	case perfdata.RecordFork:
		if e, err := rec.Task(r); err == nil {
			c.Known[e.PID] = true
			return true
		}
	case perfdata.RecordSample:
		if s, ok := rec.TimedSample(r); ok && !c.Known[s.PID] {
			c.Known[s.PID] = true
			return true
		}
	}
	return false
}

// Owner returns the process whose objects show the functions of a side file. pid is the one in the file. If
// the recording does not know that, it may be of another pid namespace: then the only process with objects is
// meant. The result is 0 if there is none, or several.
func (c *Contents) Owner(pid uint32) uint32 {
	if len(c.Objects[pid]) > 0 {
		return pid
	}
	if len(c.Objects) == 1 && !c.Known[pid] {
		for other := range c.Objects {
			return other
		}
	}
	return 0
}
