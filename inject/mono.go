package inject

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/jitinject/jitinject/internal/source"
)

// Logs of Mono's log profiler. Nothing in a recording says which file a process wrote
// its log to: the user does, or the command line that perf record was started with; or the
// log says whose it is. Each log that is found gets a marker, as if its process had mapped it.

// monoLogs finds logs, and makes markers for their processes. The error is ctx's, or of
// options that cannot be followed.
func monoLogs(ctx context.Context, f *finder, sum *Summary) error {
	for _, n := range f.opts.Mono {
		if err := f.namedLog(ctx, n, sum); err != nil {
			return err
		}
	}
	for _, path := range f.monoPaths() {
		if err := f.foundLog(ctx, path, "found by the command line of perf record"); err != nil {
			return err
		}
	}
	return f.unnamedLogs(ctx)
}

// namedLog takes in a log that the user has named.
func (f *finder) namedLog(ctx context.Context, n NamedDump, sum *Summary) error {
	option := "--mono " + Printable(n.Path)
	if n.PID != 0 {
		option = fmt.Sprintf("--mono %d=%s", n.PID, Printable(n.Path))
	}
	for _, pid := range []uint32{n.PID, f.opts.PID} {
		if pid != 0 && f.rec.processes[pid] == nil {
			return fmt.Errorf("%s: there is no process %d in the recording", option, pid)
		}
	}
	s, log, err := f.openLog(n.Path)
	if err != nil {
		return fmt.Errorf("%s: %w", option, plainError(err))
	}
	if err := f.scan(ctx, s); err != nil {
		return err
	}
	pid := n.PID
	if pid == 0 && log.PID() == 0 {
		pid = f.opts.PID
	}
	if pid == 0 {
		if pid, err = f.rec.ownerOf(log); err != nil && f.opts.PID != 0 {
			pid = f.opts.PID
		} else if err != nil {
			advice := "name its process: --mono PID=" + shellWord(n.Path)
			if log.PID() != 0 && f.rec.processes[log.PID()] == nil {
				advice = adviceOtherRun
			}
			sum.problem(problemOf(s.path, err, advice))
			return nil
		}
	}
	if err := f.rec.cannotOwn(pid, log); err != nil {
		sum.problem(problemOf(s.path, err, adviceOtherRun))
		return nil
	}
	f.markLog(pid, s, log, "named with --mono")
	return nil
}

// foundLog takes in a log that may be that of a process which has none yet. Whatever is
// not is none of anybody's business, unless nothing else is found: then it is a reason.
func (f *finder) foundLog(ctx context.Context, path, place string) error {
	s, log, err := f.openLog(path)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.ENOTDIR) {
		return nil
	}
	if err != nil {
		f.rec.refusedLogs = append(f.rec.refusedLogs, refusedLog{path, 0, err})
		return nil
	}
	if s.taken {
		return nil
	}
	if err := f.scan(ctx, s); err != nil {
		return err
	}
	pid, err := f.rec.ownerOf(log)
	if err == nil && f.rec.hasDump(pid) {
		err = fmt.Errorf("process %d has another", pid)
	}
	if err != nil {
		f.rec.refusedLogs = append(f.rec.refusedLogs, refusedLog{path, log.PID(), err})
		return nil
	}
	f.markLog(pid, s, log, place)
	return nil
}

// A refusedLog is one that was looked at and not taken.
type refusedLog struct {
	path string
	pid  uint32 // whose it says that it is; 0 for nothing
	err  error
}

// openLog opens a log, once.
func (f *finder) openLog(path string) (*sideFile, *source.MonoLog, error) {
	file, err := openFile(path)
	if err != nil {
		return nil, nil, err
	}
	s, err := f.sideFile(file, path)
	if errors.Is(err, source.ErrNotJitdump) {
		return nil, nil, source.ErrNotMonoLog
	}
	if err != nil {
		return nil, nil, err
	}
	log, ok := s.source.(*source.MonoLog)
	if !ok {
		return nil, nil, source.ErrNotMonoLog
	}
	return s, log, nil
}

// markLog makes a marker for the process of a log. Memory without a file is jitted code's
// from the start of its program on; the log was begun when its profiler was loaded.
func (f *finder) markLog(pid uint32, s *sideFile, log *source.MonoLog, place string) {
	rec, began := f.rec, uint64(0)
	if rec.clockError() == "" {
		began = log.Began()
	}
	m := marker{pid: pid, number: log.PID(), time: rec.programStart(pid, began), path: s.path, pos: -1, place: place}
	loaded, _ := rec.profilerLoaded(pid, began)
	m.began = max(m.time, loaded)
	f.mark(m, s)
}

// programStart returns when the program began that a process ran at a time, the last one
// if the time is 0.
func (rec *recording) programStart(pid uint32, time uint64) uint64 {
	if time == 0 {
		time = latestTime
	}
	start := max(rec.genealogy.lastExec(pid, time), rec.genealogy.born(pid, time))
	if p := rec.processes[pid]; start == 0 && p != nil {
		return p.since
	}
	return start
}

// profilerLoaded reports whether a process has loaded Mono's log profiler, and when, the last
// time up to a time, 0 for none. What was there before the recording has time 0.
func (rec *recording) profilerLoaded(pid uint32, upTo uint64) (time uint64, ok bool) {
	p := rec.processes[pid]
	if p == nil {
		return 0, false
	}
	for i := range p.fileMaps {
		if m := &p.fileMaps[i]; strings.Contains(filepath.Base(m.name), monoProfiler) && (upTo == 0 || m.time <= upTo) {
			time, ok = max(time, m.time), true
		}
	}
	return time, ok
}

// monoProfiler is in the name of the library that is the log profiler.
const monoProfiler = "libmono-profiler-log"

// monoDirs are where a log may be that was called by a relative path.
func (f *finder) monoDirs() []string {
	dirs := []string{".", f.rec.in.dir}
	for i, dir := range f.opts.DumpDirs {
		dirs = append(dirs, dir)
		if i >= len(f.subdirs) {
			continue // nobody has looked for any
		}
		for _, sub := range f.subdirs[i] {
			dirs = append(dirs, filepath.Join(dir, sub))
		}
	}
	return dirs
}

// monoPaths returns the paths at which logs may be that processes were told to write, the
// best ones first.
func (f *finder) monoPaths() (paths []string) {
	outputs := f.rec.monoOutputs()
	for _, o := range outputs {
		if o.gone {
			continue
		}
		var patterns []string
		if filepath.IsAbs(o.pattern) {
			patterns = append(patterns, o.pattern)
		}
		for _, dir := range f.monoDirs() {
			if !filepath.IsAbs(o.pattern) {
				patterns = append(patterns, filepath.Join(literal(dir), o.pattern))
			}
			patterns = append(patterns, filepath.Join(literal(dir), filepath.Base(o.pattern)))
		}
		for _, p := range patterns {
			found, _ := filepath.Glob(p)
			for _, path := range found[:min(len(found), maxSubdirs)] {
				if !slices.Contains(paths, path) {
					paths = append(paths, path)
				}
			}
		}
	}
	return paths
}
