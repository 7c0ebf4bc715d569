package mono

import (
	"context"
	"path/filepath"
	"slices"
	"sort"

	"github.com/jitinject/jitinject/internal/known"
	"github.com/jitinject/jitinject/internal/locate"
	"github.com/jitinject/jitinject/internal/safefile"
)

// Logs that perf record's command line does not name. For example, a script started Mono, or perf
// recorded a running process, or the whole system. The headers of these logs have their pids.

// unnamedLogs adds logs from the usual directories, for processes in their headers that have no log
// so far. Of other logs, it reads only the header.
func unnamedLogs(ctx context.Context, f *locate.Finder, left *int) error {
	var paths []string
	listed := make(map[string]bool)
	for _, dir := range logDirs(f) {
		found := f.Glob(dir, "*.mlpd*")
		for _, path := range found[:min(len(found), locate.MaxSubdirs)] {
			if path = filepath.Clean(path); !listed[path] {
				listed[path] = true
				paths = append(paths, path)
			}
		}
	}
	if len(paths) == 0 {
		return nil
	}
	var pids []uint32
	var loads []uint64 // of the profiler
	for _, pid := range f.Rec.PIDs() {
		times := profilerLoads(f.Rec, pid)
		if (len(times) > 0 || known.Of(f.Rec.Processes[pid]).IsMono()) && !f.Rec.HasDump(pid) {
			pids, loads = append(pids, pid), append(loads, times...)
		}
	}
	slices.Sort(loads)
	strangers := 0
	for _, path := range paths {
		for len(pids) > 0 && f.Rec.HasDump(pids[len(pids)-1]) {
			pids = pids[:len(pids)-1]
		}
		if err := ctx.Err(); err != nil || len(pids) == 0 {
			return err
		}
		said, likely := probe(f, path, pids, loads)
		if !said && !likely {
			continue
		}
		if !said {
			if strangers++; strangers > maxStrangers {
				continue
			}
		}
		if err := foundLog(ctx, f, path, "found by its contents", left); err != nil {
			return err
		}
	}
	return nil
}

// maxStrangers bounds how many logs are read with a header that names no process of the recording.
const maxStrangers = 20

// probe reads the header of a log. said reports whether it names one of the processes, without a log. likely
// reports whether the log may belong to one all the same. In a container the pid differs, but the
// log begins when the profiler was loaded. A log of 2010 has no pid.
func probe(f *locate.Finder, path string, pids []uint32, loads []uint64) (said, likely bool) {
	file, err := safefile.Open(path)
	if err != nil {
		f.Unread(path, err)
		return false, false
	}
	defer file.Close()
	info, err := file.Stat()
	if f.Unread(path, err) || err != nil || f.IsScanned(info) {
		return false, false // probed already
	}
	log, err := ReadLog(file)
	if err != nil {
		f.Unread(path, err)
		return false, false
	}
	if _, ok := slices.BinarySearch(pids, log.PID()); ok && !f.Rec.HasDump(log.PID()) {
		return true, true
	}
	began := log.Header().StartupTime
	last := sort.Search(len(loads), func(i int) bool { return loads[i] > began }) - 1
	return false, log.PID() == 0 || began > 0 && f.Rec.ClockError() == "" && last >= 0 && loads[last] > 0 && began-loads[last] < beginning
}
