package mono

import (
	"context"
	"os"
	"path/filepath"
	"slices"

	"github.com/jitinject/jitinject/internal/known"
	"github.com/jitinject/jitinject/internal/locate"
	"github.com/jitinject/jitinject/internal/quote"
	"github.com/jitinject/jitinject/internal/safefile"
)

// Logs of which perf record's command line says nothing: it was a script that started Mono,
// or perf was told to record a process that ran already, or all of them. Their headers say
// whose they are.

// unnamedLogs takes in logs in the usual places that say that they are of a process which has
// none. Of others, no more than the header is read.
func unnamedLogs(ctx context.Context, f *locate.Finder) error {
	var paths []string
	for _, dir := range Dirs(f) {
		found, _ := filepath.Glob(filepath.Join(quote.Literal(dir), "*.mlpd*"))
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
		_, loaded := ProfilerLoaded(f.Rec, pid, 0)
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
		if err := foundLog(ctx, f, path, "found by what is in it"); err != nil {
			return err
		}
		pids = slices.DeleteFunc(pids, f.Rec.HasDump)
	}
	return nil
}

// maxStrangers bounds how many logs are read whose headers do not say that they are of a
// process of the recording.
const maxStrangers = 20

// probe reads the header of a log. It reports whether that says that the log is of one of
// these processes; and whether it may be all the same: that of a container has another
// number, but it begins when the profiler was loaded, and one of 2010 has none.
func probe(f *locate.Finder, path string, pids []uint32) (said, likely bool) {
	file, err := safefile.Open(path)
	if err != nil {
		return false, false
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil || slices.ContainsFunc(f.Files, func(s *locate.SideFile) bool { return s.Scanned && os.SameFile(info, s.Info) }) {
		return false, false // looked at already
	}
	log, err := ReadLog(file)
	if err != nil {
		return false, false
	}
	if slices.Contains(pids, log.PID()) {
		return true, true
	}
	began := log.Header().StartupTime
	return false, log.PID() == 0 || began > 0 && f.Rec.ClockError() == "" && slices.ContainsFunc(pids, func(pid uint32) bool {
		loaded, _ := ProfilerLoaded(f.Rec, pid, began)
		return loaded > 0 && began-loaded < beginning
	})
}
