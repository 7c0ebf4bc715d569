package verify

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"

	"github.com/jitinject/jitinject/perfdata"
)

// A witness is what a recording says about a dump.
type witness struct {
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

// recordingsOf returns the recordings that know a process, or have a marker of its dump,
// whose name is base.
func recordingsOf(ctx context.Context, pid uint32, base string, recordings []string) (known []string, err error) {
	for _, path := range recordings {
		w := witness{pid: pid}
		found := false
		_, err := walkRecording(ctx, path, func(rec *recordingFile, r perfdata.Record) {
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
				s, ok := rec.timedSample(r)
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
func (c *dumpCheck) besideRecording(ctx context.Context, path, recording string) error {
	w := witness{pid: c.header.PID}
	monotonic, err := walkRecording(ctx, recording, func(rec *recordingFile, r perfdata.Record) { w.record(rec, r, filepath.Base(path)) })
	if err != nil {
		return fmt.Errorf("the recording %s: %w", recording, err)
	}
	if !w.marker && !w.object && w.other != 0 {
		if w.several {
			return nil // nobody can say which of them it is
		}
		w.pid, w.object = w.other, true
	}
	if !w.marker && !w.object {
		c.broken("dump/marker", -1, "no mapping in the recording names %s", quoted(filepath.Base(path)))
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
		c.broken("dump/recording-clock", -1, "the recording was not made with -k mono")
		return nil
	}
	if w.samples == 0 || len(c.functions) == 0 {
		return nil
	}
	within := 0
	for i := range c.functions {
		// The last functions of a program may be loaded behind its last sample.
		if t := c.functions[i].time; t >= w.since && t <= w.last+60e9 {
			within++
		}
	}
	if 2*within < len(c.functions) {
		c.broken("dump/recording-time", c.functions[0].offset, "%d of %d functions have times outside of the recording, %d.%09d s to %d.%09d s; the first has %d.%09d s",
			len(c.functions)-within, len(c.functions), max(w.since, w.first)/1e9, max(w.since, w.first)%1e9, w.last/1e9, w.last%1e9, c.functions[0].time/1e9, c.functions[0].time%1e9)
		return nil
	}
	return c.lateLoads(ctx, recording, &w)
}

// record takes in a record of the recording.
func (w *witness) record(rec *recordingFile, r perfdata.Record, base string) {
	switch r.Type {
	case perfdata.RecordMmap, perfdata.RecordMmap2:
		m, err := rec.Mmap(r)
		if err != nil {
			return
		}
		name := string(m.Filename)
		if isJITObject(name) {
			w.object = w.object || m.PID == w.pid
			w.several = w.several || w.other != 0 && w.other != m.PID
			w.other = m.PID
		}
		if filepath.Base(name) == base && isMarker(name) && !w.marker {
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

// walkRecording calls yield for each record, and reports whether all times are of
// CLOCK_MONOTONIC.
func walkRecording(ctx context.Context, path string, yield func(*recordingFile, perfdata.Record)) (monotonic bool, err error) {
	rec, err := openRecording(path)
	if err != nil {
		return false, err
	}
	defer rec.close()
	for {
		if err := ctx.Err(); err != nil {
			return false, err
		}
		block, err := rec.stream.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return false, err
		}
		for _, r := range block.Records() {
			if r.Type == perfdata.RecordHeaderAttr && rec.file == nil {
				a, err := perfdata.HeaderAttr(rec.order, r)
				if err != nil {
					return false, err
				}
				rec.attrs = append(rec.attrs, a)
				if rec.Layouts, err = perfdata.NewLayouts(rec.order, rec.attrs); err != nil {
					return false, err
				}
				continue
			}
			yield(rec, r)
		}
	}
	for i := range rec.attrs {
		if id, ok := rec.attrs[i].ClockID(); !ok || id != perfdata.ClockMonotonic {
			return false, nil
		}
	}
	return len(rec.attrs) > 0, nil
}

// manyEarly is how many samples before their code are no chance, if they are most.
const manyEarly = 10

// A lateLoad is a function that was executed before its load.
type lateLoad struct {
	function int32
	samples  int
	first    uint64 // time of the first of them
}

// are returns a number of things, and that they are.
func are(n int, noun string) string {
	if n == 1 {
		return counted(n, noun) + " is"
	}
	return counted(n, noun) + " are"
}

// lateLoads says which code of the dump is executed before its load.
func (c *dumpCheck) lateLoads(ctx context.Context, recording string, w *witness) error {
	late, early, inTime, err := lateLoads(ctx, c.functions, recording, w.pid, w.since)
	if err != nil {
		return err
	}
	if early > inTime && early >= manyEarly {
		c.broken("dump/recording-time", c.functions[0].offset, "%d of %d samples in the dump's code come before it is loaded", early, early+inTime)
	}
	for _, l := range late {
		f := &c.functions[l.function]
		c.broken("dump/load-late", f.offset, "%s in the code at %#x before it is loaded, the first %s before", are(l.samples, "sample"), f.addr, span(f.time-l.first))
	}
	return nil
}

// lateLoads looks for samples of a process from a time on that are in code before it was
// loaded, where no other code was at that time. It returns the functions that have such,
// in their order, and counts such samples and those in loaded code.
func lateLoads(ctx context.Context, functions []function, recording string, pid uint32, since uint64) (late []lateLoad, early, inTime int, err error) {
	byAddr := make([]int32, 0, len(functions))
	for i := range functions {
		if functions[i].size > 0 {
			byAddr = append(byAddr, int32(i))
		}
	}
	slices.SortFunc(byAddr, func(a, b int32) int { return cmp.Compare(functions[a].addr, functions[b].addr) })
	ends := make([]uint64, len(byAddr)) // the highest end up to each
	high := uint64(0)
	for i, f := range byAddr {
		high = max(high, functions[f].addr+functions[f].size)
		ends[i] = high
	}
	found := make(map[int32]*lateLoad)
	_, err = walkRecording(ctx, recording, func(rec *recordingFile, r perfdata.Record) {
		if r.Type != perfdata.RecordSample {
			return
		}
		s, ok := rec.timedSample(r)
		if !ok || s.PID != pid || s.Time < since {
			return
		}
		n, _ := slices.BinarySearchFunc(byAddr, s.IP, func(f int32, ip uint64) int {
			if functions[f].addr <= ip {
				return -1
			}
			return 1
		})
		soonest, at := int32(-1), uint64(math.MaxUint64)
		for i := n - 1; i >= 0 && ends[i] > s.IP; i-- {
			if n-i > maxUnder {
				return
			}
			f := &functions[byAddr[i]]
			if s.IP >= f.addr+f.size {
				continue
			}
			if f.time <= s.Time {
				inTime++
				return
			}
			if f.time < at {
				soonest, at = byAddr[i], f.time
			}
		}
		if soonest < 0 {
			return
		}
		if found[soonest] == nil {
			found[soonest] = &lateLoad{function: soonest, first: s.Time}
		}
		found[soonest].samples++
		early++
	})
	for _, l := range found {
		late = append(late, *l)
	}
	slices.SortFunc(late, func(a, b lateLoad) int { return cmp.Compare(a.function, b.function) })
	return late, early, inTime, err
}
