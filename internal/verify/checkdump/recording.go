package checkdump

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/jitinject/jitinject/internal/verify"
	"github.com/jitinject/jitinject/internal/verify/jitted"
	"github.com/jitinject/jitinject/internal/verify/recorded"
	"github.com/jitinject/jitinject/perfdata"
)

// A dumpWitness is what a recording says about a dump.
type dumpWitness struct {
	pid     uint32 // of the process that mapped it
	since   uint64 // time of the marker; 0 if it was there before
	last    uint64 // time of the last sample
	first   uint64 // time of the first one
	samples int
	marker  bool
	object  bool // it was injected: the marker is gone

	// A process may have another number in its own pid namespace, which is the dump's.
	other   uint32 // some process that has objects
	several bool   // and it is not the only one
}

// recordingsOf returns the recordings that know a process, or have a marker of its dump.
// The dump's name is base.
func recordingsOf(ctx context.Context, pid uint32, base string, recordings []string) (known []string, err error) {
	for _, path := range recordings {
		w := dumpWitness{pid: pid}
		found := false
		_, err := recorded.Walk(ctx, path, func(rec *recorded.File, r perfdata.Record) {
			if found {
				return
			}
			w.record(rec, r, base)
			switch r.Type {
			case perfdata.RecordMmap, perfdata.RecordMmap2:
				m, err := rec.Mmap(r)
				found = w.marker || err == nil && m.PID == pid
			case perfdata.RecordComm:
				e, err := rec.Comm(r)
				found = err == nil && e.PID == pid
			case perfdata.RecordFork:
				e, err := rec.Task(r)
				found = err == nil && e.PID == pid
			case perfdata.RecordSample:
				s, ok := rec.TimedSample(r)
				found = ok && s.PID == pid
			}
		})
		if err != nil {
			return nil, fmt.Errorf("the recording %s: %w", path, err)
		}
		if found {
			known = append(known, path)
		}
	}
	return known, nil
}

// besideRecording holds a dump against the recording it belongs to.
func (c *checker) besideRecording(ctx context.Context, path, recording string) error {
	w := dumpWitness{pid: c.header.PID}
	monotonic, err := recorded.Walk(ctx, recording, func(rec *recorded.File, r perfdata.Record) { w.record(rec, r, filepath.Base(path)) })
	if err != nil {
		return fmt.Errorf("the recording %s: %w", recording, err)
	}
	if !w.marker && !w.object && w.other != 0 {
		if w.several {
			return nil // unknown which of them it is
		}
		w.pid, w.object = w.other, true
	}
	if !w.marker && !w.object {
		c.Violation("dump/marker", -1, "no mapping in the recording names %s", verify.Quoted(filepath.Base(path)))
		return nil
	}
	if w.object {
		if err := c.injectedCode(ctx, recording, w.pid, monotonic && !c.ticks); err != nil {
			return err
		}
	}
	if wrong, err := c.wrongPlace(ctx, recording, &w); wrong || err != nil {
		return err
	}
	if c.ticks {
		return nil // said already: dump/tsc
	}
	if !monotonic {
		c.Violation("dump/recording-clock", -1, "the recording was not made with -k mono")
		return nil
	}
	if w.samples == 0 || len(c.functions) == 0 {
		return nil
	}
	within := 0
	for i := range c.functions {
		// The last functions of a program may be loaded behind its last sample.
		if t := c.functions[i].Time; t >= w.since && t <= w.last+60e9 {
			within++
		}
	}
	if 2*within < len(c.functions) {
		c.Violation("dump/recording-time", c.functions[0].Offset, "%d of %d functions have times outside of the recording, %d.%09d s to %d.%09d s; the first has %d.%09d s",
			len(c.functions)-within, len(c.functions), max(w.since, w.first)/1e9, max(w.since, w.first)%1e9, w.last/1e9, w.last%1e9, c.functions[0].Time/1e9, c.functions[0].Time%1e9)
		return nil
	}
	return c.lateLoads(ctx, recording, &w)
}

// record takes in a record of the recording.
func (w *dumpWitness) record(rec *recorded.File, r perfdata.Record, base string) {
	switch r.Type {
	case perfdata.RecordMmap, perfdata.RecordMmap2:
		m, err := rec.Mmap(r)
		if err != nil {
			return
		}
		name := string(m.Filename)
		if jitted.IsObject(name) {
			w.object = w.object || m.PID == w.pid
			w.several = w.several || w.other != 0 && w.other != m.PID
			w.other = m.PID
		}
		if filepath.Base(name) == base && jitted.IsMarker(name) && !w.marker {
			w.marker, w.pid = true, m.PID
			w.since, _ = rec.Time(r)
		}
	case perfdata.RecordSample:
		if t, ok := rec.Time(r); ok {
			if w.first == 0 {
				w.first = t
			}
			w.last = max(w.last, t)
			w.samples++
		}
	}
}

// manyEarly is how many samples before their code are no chance, if they are most.
const manyEarly = 10

// lateLoads says which code of the dump is executed before its load.
func (c *checker) lateLoads(ctx context.Context, recording string, w *dumpWitness) error {
	late, early, inTime, err := recorded.LateLoads(ctx, c.functions, recording, w.pid, w.since)
	if err != nil {
		return err
	}
	if early > inTime && early >= manyEarly {
		c.Violation("dump/recording-time", c.functions[0].Offset, "%d of %d samples in the dump's code come before it is loaded", early, early+inTime)
	}
	for _, l := range late {
		f := &c.functions[l.Function]
		c.Violation("dump/load-late", f.Offset, "%s in the code at %#x before it is loaded, the first %s before", verify.Are(l.Samples, "sample"), f.Addr, verify.Span(f.Time-l.First))
	}
	return nil
}
