package perfmap

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/jitinject/jitinject/internal/jitcode"
	"github.com/jitinject/jitinject/internal/locate"
	"github.com/jitinject/jitinject/internal/recording"
	"github.com/jitinject/jitinject/internal/report"
	"github.com/jitinject/jitinject/internal/safefile"
	"github.com/jitinject/jitinject/internal/sorting"
)

// A container's runtime names its map by the process's number there. Such a map, beside the recording or in
// one of DumpDirs, is known by its functions. Without address space randomization, a map of another program
// may have functions at the same places. So a map is used only if nothing else comes into question: no other
// process, no other map, and no time before the process began. It must name nearly all samples.

const (
	// maxOthers bounds how many maps of other numbers are read.
	maxOthers = 100
	// mostSamples is the share of a process's samples in jitted code that its map names, in percent. Maps
	// that runtimes write while they run name 99 to 100.
	mostSamples = 90
)

// searchByContent looks for maps with numbers that no process of the recording has. The error is ctx's.
func searchByContent(ctx context.Context, f *locate.Finder) error {
	var pids []uint32
	for _, pid := range f.Rec.PIDs() {
		if lacksMap(f, pid) && !f.Rec.SharesCode(pid) {
			pids = append(pids, pid)
		}
	}
	if len(pids) == 0 || f.Rec.Histogram == nil || f.Rec.Histogram.Over {
		return nil
	}
	fitting := make(map[uint32][]*locate.SideFile) // by process
	read := 0
	for _, dir := range append([]string{f.Rec.In.Dir}, f.Dirs()...) {
		if filepath.Clean(dir) == filepath.Dir(tmpName(0)) { // all processes of the machine write there
			continue
		}
		for _, path := range f.Glob(dir, "perf-*.map") {
			if f.Rec.Processes[pidOf(path)] != nil || read == maxOthers {
				continue
			}
			read++
			if err := tryContent(ctx, f, path, pids, fitting); err != nil {
				return err
			}
		}
	}
	for _, pid := range pids {
		switch fits := fitting[pid]; {
		case len(fits) == 1:
			s := fits[0]
			mark(f, pid, s, s.Source.(*Map), "found in "+filepath.Dir(s.Path), fmt.Sprintf("found by where its functions lie: it is numbered %d", pidOf(s.Path)))
		default:
			for _, s := range fits {
				refuse(f, pid, s.Path, report.Advise(errors.New("another map fits the process as well"), "name the right one: %s", naming(pid, s.Path)))
			}
		}
	}
	return nil
}

// tryContent adds the map at a path to those that fit one of the processes, if it does. The error is ctx's.
func tryContent(ctx context.Context, f *locate.Finder, path string, pids []uint32, fitting map[uint32][]*locate.SideFile) error {
	file, err := safefile.Open(path)
	if err != nil {
		if !errors.Is(err, fs.ErrPermission) || !locate.IsOthers(path) {
			f.Unread(path, err)
		}
		return nil
	}
	info, err := file.Stat()
	if err != nil {
		file.Close()
		f.Unread(path, err)
		return nil
	}
	possible := slices.DeleteFunc(slices.Clone(pids), func(pid uint32) bool {
		return isForeign(f.Rec, pid, path, info) != nil
	})
	if len(possible) == 0 {
		file.Close()
		return nil
	}
	s, m, err := openMap(f, file, path)
	if err != nil {
		f.Unread(path, err)
		return nil
	}
	if s.Taken || slices.ContainsFunc(pids, func(pid uint32) bool { return slices.Contains(fitting[pid], s) }) {
		return nil
	}
	if err := f.Scan(ctx, s); err != nil {
		return err
	}
	f.Unread(path, s.File.Failed())
	possible = slices.DeleteFunc(possible, func(pid uint32) bool { return !namesMost(f.Rec, pid, m) })
	if len(possible) != 1 {
		f.Forget(s)
		return nil
	}
	fitting[possible[0]] = append(fitting[possible[0]], s)
	return nil
}

// lacksMap reports whether a process made code, and nothing that describes it is known.
func lacksMap(f *locate.Finder, pid uint32) bool {
	return f.Rec.HasMemory(pid) && !f.Rec.HasDump(pid)
}

// namesMost reports whether a map has functions for nearly all samples of a process in memory that may have
// jitted code.
func namesMost(rec *recording.Recording, pid uint32, m *Map) bool {
	memory := memoryOf(rec, recording.Marker{PID: pid, Time: rec.ProgramStart(pid, 0)})
	var samples []uint64 // addresses, with the numbers of samples there
	counts := make(map[uint64]int64)
	for _, slot := range rec.Histogram.Of(pid) {
		if memory.Hold(slot.IP) {
			samples = append(samples, slot.IP)
			counts[slot.IP] += slot.N
		}
	}
	slices.Sort(samples)
	functions := slices.Clone(m.Events)
	sorting.By(functions, func(a, b jitcode.Event) int { return cmp.Compare(a.Addr, b.Addr) })
	var all, named int64
	end := uint64(0) // of the functions that begin up to a sample
	for _, ip := range slices.Compact(samples) {
		for ; len(functions) > 0 && functions[0].Addr <= ip; functions = functions[1:] {
			end = max(end, functions[0].Addr+functions[0].Size)
		}
		if all += counts[ip]; ip < end {
			named += counts[ip]
		}
	}
	return all > 0 && named*100 >= all*mostSamples
}
