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
	Known    map[uint32]bool   // processes that a record names
	Markers  map[string]uint32 // the process that maps a file as a producer maps its dump, by the file's base name
	Injected bool              // it maps objects of jitted functions
}

// maxContents bounds the processes and markers of a recording that are kept.
const maxContents = 1 << 20

// maxMarker bounds the mapping of a dump whose name is none of a dump, in bytes: producers map a page, and the
// largest of any machine has 64 KiB. Programs and libraries are mapped with more.
const maxMarker = 64 << 10

// ReadContents reads a recording.
func ReadContents(ctx context.Context, recording string) (*Contents, error) {
	c := &Contents{Known: make(map[uint32]bool), Markers: make(map[string]uint32)}
	rec, err := Open(recording)
	if err != nil {
		return nil, fmt.Errorf("the recording %s: %w", recording, err)
	}
	defer rec.Close()
	for r, err := range perfdata.Records(rec.Stream) {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return nil, fmt.Errorf("the recording %s: %w", recording, err)
		}
		if len(c.Known)+len(c.Markers) < maxContents {
			c.record(rec, r)
		}
	}
	return c, nil
}

// record takes in a record. Damaged ones are left out: the check of the recording reports them.
func (c *Contents) record(rec *File, r perfdata.Record) {
	switch r.Type {
	case perfdata.RecordMmap, perfdata.RecordMmap2:
		m, err := rec.Mmap(r)
		if err != nil {
			return
		}
		c.Known[m.PID] = true
		name := string(m.Filename)
		base := filepath.Base(name)
		// A dump of another name is known by its contents, which the caller has seen.
		if jitted.IsMarker(name) || m.PgOff == 0 && m.Len <= maxMarker && filepath.IsAbs(name) {
			if _, twice := c.Markers[base]; !twice {
				c.Markers[base] = m.PID
			}
		}
		c.Injected = c.Injected || jitted.IsObject(name) && m.Addr+m.Len > m.Addr
	case perfdata.RecordComm:
		if e, err := rec.Comm(r); err == nil {
			c.Known[e.PID] = true
		}
	case perfdata.RecordFork:
		if e, err := rec.Task(r); err == nil {
			c.Known[e.PID] = true
		}
	case perfdata.RecordSample:
		if s, ok := rec.SampleHead(r); ok {
			c.Known[s.PID] = true
		}
	}
}
