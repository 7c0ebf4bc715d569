package mono

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/jitinject/jitinject/internal/config"
	"github.com/jitinject/jitinject/internal/locate"
	"github.com/jitinject/jitinject/internal/quote"
	"github.com/jitinject/jitinject/internal/recording"
	"github.com/jitinject/jitinject/internal/report"
	"github.com/jitinject/jitinject/internal/safefile"
)

// Logs of Mono's log profiler. A recording does not name the log of a process. The name comes from
// the user or from perf record's command line; otherwise the log's header names the process. Each
// log gets a marker, as if its process had mapped it.

// Find finds logs, and makes markers for their processes. The error is ctx's, or that of unusable
// options.
func Find(ctx context.Context, f *locate.Finder, found *report.Findings) error {
	for _, n := range f.Opts.Named(Kind) {
		if err := namedLog(ctx, f, n, found); err != nil {
			return err
		}
	}
	left := maxElsewhere
	for _, path := range monoPaths(f) {
		if err := foundLog(ctx, f, path, "found by the command line of perf record", &left); err != nil {
			return err
		}
	}
	return unnamedLogs(ctx, f, &left)
}

// namedLog adds a log that the user has named.
func namedLog(ctx context.Context, f *locate.Finder, n config.SideFile, found *report.Findings) error {
	option := n
	for _, pid := range []uint32{n.PID, f.Opts.PID} {
		if pid != 0 && f.Rec.Processes[pid] == nil {
			return fmt.Errorf("%s: there is no process %d in the recording", option, pid)
		}
	}
	s, log, err := openLog(f, n.Path)
	if err != nil {
		return fmt.Errorf("%s: %w", option, safefile.PlainError(err))
	}
	if err := f.Scan(ctx, s); err != nil {
		return err
	}
	pid := n.PID
	if pid == 0 && log.PID() == 0 {
		pid = f.Opts.PID
	}
	if pid == 0 {
		if pid, err = ownerOf(f.Rec, log, nil); err != nil && f.Opts.PID != 0 {
			pid = f.Opts.PID
		} else if err != nil {
			advice := "name its process: " + report.MentionedSideFile(Kind, "PID", n.Path)
			if log.PID() != 0 && f.Rec.Processes[log.PID()] == nil {
				advice = report.AdviceOtherRun
			}
			found.Problem(report.ProblemOf(s.Path, err, advice))
			return nil
		}
	}
	if err := cannotOwn(f.Rec, pid, log); err != nil {
		found.Problem(report.ProblemOf(s.Path, err, report.AdviceOtherRun))
		return nil
	}
	markLog(f, pid, s, log, "named with "+report.MentionedFile(Kind, "", ""))
	return nil
}

// foundLog adds a log for a process that has none so far. Any other log is only recorded as a
// possible reason for missing functions.
func foundLog(ctx context.Context, f *locate.Finder, path, place string, left *int) error {
	s, log, err := openLog(f, path)
	if safefile.IsAbsent(err) {
		return nil
	}
	if err != nil {
		if !f.Unread(path, err) {
			f.Left.Logs = append(f.Left.Logs, locate.RefusedLog{Path: path, PID: 0, Err: err})
		}
		return nil
	}
	if s.Taken {
		return nil
	}
	if err := f.Scan(ctx, s); err != nil {
		return err
	}
	pid, err := ownerOf(f.Rec, log, left)
	if err == nil && f.Rec.HasDump(pid) {
		err = fmt.Errorf("process %d has another", pid)
	}
	if err != nil {
		f.Left.Logs = append(f.Left.Logs, locate.RefusedLog{Path: path, PID: log.PID(), Err: err})
		return nil
	}
	markLog(f, pid, s, log, place)
	return nil
}

// openLog opens a log, once.
func openLog(f *locate.Finder, path string) (*locate.SideFile, *Log, error) {
	file, err := safefile.Open(path)
	if err != nil {
		return nil, nil, err
	}
	s, err := f.SideFile(file, path)
	if f.IsOther(err) {
		return nil, nil, ErrNotLog
	}
	if err != nil {
		return nil, nil, err
	}
	log, ok := s.Source.(*Log)
	if !ok {
		return nil, nil, ErrNotLog
	}
	return s, log, nil
}

// markLog makes a marker for the process of a log. From the start of its program on, anonymous
// memory counts as JIT code. The log began when its profiler was loaded.
func markLog(f *locate.Finder, pid uint32, s *locate.SideFile, log *Log, place string) {
	rec, began := f.Rec, uint64(0)
	if rec.ClockError() == "" {
		began = log.Began()
	}
	m := recording.Marker{PID: pid, Number: log.PID(), Time: rec.ProgramStart(pid, began), Path: s.Path, Pos: -1, Place: place}
	loaded, _ := profilerLoaded(rec, pid, began)
	m.Began = max(m.Time, loaded)
	f.Mark(m, s)
}

// profilerLoaded reports whether a process has loaded Mono's log profiler up to upTo; 0 means at
// any time. time is the last load. It is 0 for a load before the recording.
func profilerLoaded(rec *recording.Recording, pid uint32, upTo uint64) (time uint64, ok bool) {
	for _, load := range profilerLoads(rec, pid) {
		if upTo == 0 || load <= upTo {
			time, ok = max(time, load), true
		}
	}
	return time, ok
}

// profilerLoads returns the times when a process loaded Mono's log profiler.
func profilerLoads(rec *recording.Recording, pid uint32) (times []uint64) {
	p := rec.Processes[pid]
	if p == nil {
		return nil
	}
	for i := range p.FileMaps {
		if m := &p.FileMaps[i]; strings.Contains(filepath.Base(m.Name), Profiler) {
			times = append(times, m.Time)
		}
	}
	return times
}

// Profiler is part of the file name of the log profiler's library.
const Profiler = "libmono-profiler-log"

// logDirs returns the directories that may contain a log with a relative path.
func logDirs(f *locate.Finder) []string { return append([]string{".", f.Rec.In.Dir}, f.Dirs()...) }

// monoPaths returns the paths of logs that options of processes name, the best ones first.
func monoPaths(f *locate.Finder) (paths []string) {
	known := make(map[string]bool)
	for _, o := range outputs(f.Rec) {
		if o.Gone {
			continue
		}
		var found [][]string
		if filepath.IsAbs(o.Pattern) {
			found = append(found, f.GlobPath(o.Pattern))
		}
		for _, dir := range logDirs(f) {
			if !filepath.IsAbs(o.Pattern) {
				found = append(found, f.GlobPath(filepath.Join(quote.Literal(dir), o.Pattern)))
			}
			found = append(found, f.Glob(dir, filepath.Base(o.Pattern)))
		}
		for _, found := range found {
			for _, path := range found[:min(len(found), locate.MaxSubdirs)] {
				if !known[path] {
					known[path] = true
					paths = append(paths, path)
				}
			}
		}
	}
	return paths
}
