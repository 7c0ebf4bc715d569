package recorded

import (
	"context"
	"fmt"
	"slices"

	"github.com/jitinject/jitinject/internal/verify/jitted"
	"github.com/jitinject/jitinject/perfdata"
)

// Processes are what a recording says about processes.
type Processes struct {
	executable map[uint32][]Range // by process: memory that it could execute at some time
	Objects    map[uint32][]Range // by process: where objects of jitted functions are mapped
	ranges     int
	Known      map[uint32]bool // processes that a record names
}

// MaxExecutable bounds how many mappings of a recording are looked at.
const MaxExecutable = 1 << 20

// ReadProcesses reads what a recording says. Objects of jitted functions are kept apart: they
// are where a log says that code is, and take the place of the memory that it is in.
func ReadProcesses(ctx context.Context, recording string) (*Processes, error) {
	w := &Processes{executable: make(map[uint32][]Range), Known: make(map[uint32]bool), Objects: make(map[uint32][]Range)}
	_, err := Walk(ctx, recording, func(rec *File, r perfdata.Record) {
		switch r.Type {
		case perfdata.RecordMmap, perfdata.RecordMmap2:
			m, err := rec.Mmap(r)
			if err != nil || r.Type == perfdata.RecordMmap2 && m.Prot&ProtExec == 0 || r.Type == perfdata.RecordMmap && r.Misc&MmapData != 0 {
				return
			}
			w.Known[m.PID] = true
			if m.Addr+m.Len <= m.Addr || w.ranges >= MaxExecutable {
				return
			}
			w.ranges++
			of := w.executable
			if jitted.IsObject(string(m.Filename)) {
				of = w.Objects
			}
			of[m.PID] = append(of[m.PID], Range{Addr: m.Addr, End: m.Addr + m.Len})
		case perfdata.RecordComm:
			if e, err := rec.Comm(r); err == nil {
				w.Known[e.PID] = true
			}
		case perfdata.RecordFork:
			if e, err := rec.Task(r); err == nil {
				w.Known[e.PID] = true
			}
		case perfdata.RecordSample:
			if s, ok := rec.TimedSample(r); ok && len(w.Known) < MaxExecutable {
				w.Known[s.PID] = true
			}
		}
	})
	if err != nil {
		return nil, fmt.Errorf("the recording %s: %w", recording, err)
	}
	for _, of := range []map[uint32][]Range{w.executable, w.Objects} {
		for pid := range of {
			of[pid] = JoinRanges(of[pid])
		}
	}
	return w, nil
}

// Holds reports whether all of a function is in the executable memory of a process, or was
// put in where that was.
func (w *Processes) Holds(pid uint32, f *jitted.Function) bool {
	return isIn(w.executable[pid], f) || isIn(w.Objects[pid], f)
}

// isIn reports whether all of a function is in one of the ranges.
func isIn(list []Range, f *jitted.Function) bool {
	n, _ := slices.BinarySearchFunc(list, f.Addr, func(r Range, addr uint64) int {
		if r.Addr <= addr {
			return -1
		}
		return 1
	})
	return n > 0 && list[n-1].End >= f.Addr+f.Size
}

// count returns how many functions are in the executable memory of a process.
func (w *Processes) count(pid uint32, functions []jitted.Function) (n int) {
	for i := range functions {
		if w.Holds(pid, &functions[i]) {
			n++
		}
	}
	return n
}

// Owner returns the process that has the log's code: the one that the log names. If it
// names none, or one of another pid namespace, Owner returns the one that has most of
// the code.
func (w *Processes) Owner(pid uint32, functions []jitted.Function) (uint32, bool) {
	if pid != 0 && w.count(pid, functions) > 0 {
		return pid, true
	}
	best, most := uint32(0), 0
	for other := range w.Known {
		if n := w.count(other, functions); n > most || n == most && n > 0 && other < best {
			best, most = other, n
		}
	}
	return best, 2*most > len(functions)
}

// A BelongsFunc reports whether the file at a path is of a process in a recording, which says
// nothing of the file by itself.
type BelongsFunc func(ctx context.Context, path string, p *Processes) bool
