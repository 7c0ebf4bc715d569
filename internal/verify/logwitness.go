package verify

import (
	"context"
	"fmt"
	"slices"

	"github.com/jitinject/jitinject/perfdata"
)

// What recordings say about logs that profilers of other kinds have written.

// A logWitness is what a recording says about processes.
type logWitness struct {
	executable  map[uint32][]mappedRange // memory that a process could execute at some time
	objects     map[uint32][]mappedRange // where objects of jitted functions were put in
	ranges      int
	known       map[uint32]bool // processes
	threads     map[uint32]bool
	first, last uint64 // times of samples
	samples     int
	monotonic   bool
}

// maxExecutable bounds how many mappings of a recording are looked at.
const maxExecutable = 1 << 20

// witnessOf reads what a recording says. Objects of jitted functions are kept apart: they
// are where a log says that code is, and take the place of the memory that it is in.
func witnessOf(ctx context.Context, recording string) (*logWitness, error) {
	w := &logWitness{executable: make(map[uint32][]mappedRange), known: make(map[uint32]bool), threads: make(map[uint32]bool), objects: make(map[uint32][]mappedRange)}
	var err error
	w.monotonic, err = walkRecording(ctx, recording, func(rec *recordingFile, r perfdata.Record) {
		switch r.Type {
		case perfdata.RecordMmap, perfdata.RecordMmap2:
			m, err := rec.Mmap(r)
			if err != nil || r.Type == perfdata.RecordMmap2 && m.Prot&protExec == 0 || r.Type == perfdata.RecordMmap && r.Misc&mmapData != 0 {
				return
			}
			w.known[m.PID] = true
			if m.Addr+m.Len <= m.Addr || w.ranges >= maxExecutable {
				return
			}
			w.ranges++
			of := w.executable
			if isJITObject(string(m.Filename)) {
				of = w.objects
			}
			of[m.PID] = append(of[m.PID], mappedRange{addr: m.Addr, end: m.Addr + m.Len})
		case perfdata.RecordComm:
			if e, err := rec.Comm(r); err == nil {
				w.known[e.PID], w.threads[e.TID] = true, true
			}
		case perfdata.RecordFork:
			if e, err := rec.Task(r); err == nil {
				w.known[e.PID], w.threads[e.TID] = true, true
			}
		case perfdata.RecordSample:
			if s, ok := rec.Sample(r); ok && len(w.threads) < maxExecutable {
				w.known[s.PID], w.threads[s.TID] = true, true
			}
			if t, ok := rec.Time(r); ok {
				if w.first == 0 {
					w.first = t
				}
				w.last = max(w.last, t)
				w.samples++
			}
		}
	})
	if err != nil {
		return nil, fmt.Errorf("the recording %s: %w", recording, err)
	}
	for _, of := range []map[uint32][]mappedRange{w.executable, w.objects} {
		for pid := range of {
			of[pid] = joinRanges(of[pid])
		}
	}
	return w, nil
}

// holds reports whether all of a function is in the executable memory of a process, or was
// put in where that was.
func (w *logWitness) holds(pid uint32, f *function) bool {
	return isIn(w.executable[pid], f) || isIn(w.objects[pid], f)
}

// isIn reports whether all of a function is in one of the ranges.
func isIn(list []mappedRange, f *function) bool {
	n, _ := slices.BinarySearchFunc(list, f.addr, func(r mappedRange, addr uint64) int {
		if r.addr <= addr {
			return -1
		}
		return 1
	})
	return n > 0 && list[n-1].end >= f.addr+f.size
}

// count returns how many functions are in the executable memory of a process.
func (w *logWitness) count(pid uint32, functions []function) (n int) {
	for i := range functions {
		if w.holds(pid, &functions[i]) {
			n++
		}
	}
	return n
}
