package mono

import (
	"context"
	"os"
	"path/filepath"
	"slices"

	"github.com/jitinject/jitinject/internal/known"
	"github.com/jitinject/jitinject/internal/locate"
	"github.com/jitinject/jitinject/internal/safefile"
)

// Logs that perf record's command line does not name. For example, a script started Mono, or perf
// recorded a running process, or the whole system. The headers of these logs have their pids.

// unnamedLogs adds logs from the usual directories, for processes in their headers that have no log
// so far. Of other logs, it reads only the header.
func unnamedLogs(ctx context.Context, f *locate.Finder) error {
	var paths []string
	for _, dir := range logDirs(f) {
		found := f.Glob(dir, "*.mlpd*")
		for _, path := range found[:min(len(found), locate.MaxSubdirs)] {
			if path = filepath.Clean(path); !slices.Contains(paths, path) {
				paths = append(paths, path)
			}
		}
	}
	if len(paths) == 0 {
		return nil
	}
	var pids []uint32
	for _, pid := range f.Rec.PIDs() {
		_, loaded := profilerLoaded(f.Rec, pid, 0)
		if (loaded || known.Of(f.Rec.Processes[pid]).IsMono()) && !f.Rec.HasDump(pid) {
			pids = append(pids, pid)
		}
	}
	strangers := 0
	for _, path := range paths {
		if err := ctx.Err(); err != nil || len(pids) == 0 {
			return err
		}
		said, likely := probe(f, path, pids)
		if !said && !likely {
			continue
		}
		if !said {
			if strangers++; strangers > maxStrangers {
				continue
			}
		}
		if err := foundLog(ctx, f, path, "found by its contents"); err != nil {
			return err
		}
		pids = slices.DeleteFunc(pids, f.Rec.HasDump)
	}
	return nil
}

// maxStrangers bounds how many logs are read with a header that names no process of the recording.
const maxStrangers = 20

// probe reads the header of a log. said reports whether it names one of the processes. likely
// reports whether the log may belong to one all the same. In a container the pid differs, but the
// log begins when the profiler was loaded. A log of 2010 has no pid.
func probe(f *locate.Finder, path string, pids []uint32) (said, likely bool) {
	file, err := safefile.Open(path)
	if err != nil {
		f.Unread(path, err)
		return false, false
	}
	defer file.Close()
	info, err := file.Stat()
	if f.Unread(path, err) || err != nil || slices.ContainsFunc(f.Files, func(s *locate.SideFile) bool { return s.Scanned && os.SameFile(info, s.Info) }) {
		return false, false // probed already
	}
	log, err := ReadLog(file)
	if err != nil {
		f.Unread(path, err)
		return false, false
	}
	if slices.Contains(pids, log.PID()) {
		return true, true
	}
	began := log.Header().StartupTime
	return false, log.PID() == 0 || began > 0 && f.Rec.ClockError() == "" && slices.ContainsFunc(pids, func(pid uint32) bool {
		loaded, _ := profilerLoaded(f.Rec, pid, began)
		return loaded > 0 && began-loaded < beginning
	})
}
