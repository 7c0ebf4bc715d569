package v8

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/jitinject/jitinject/internal/config"
	"github.com/jitinject/jitinject/internal/format/v8log"
	"github.com/jitinject/jitinject/internal/locate"
	"github.com/jitinject/jitinject/internal/recording"
	"github.com/jitinject/jitinject/internal/report"
	"github.com/jitinject/jitinject/internal/safefile"
)

// Finding logs as dumps of their own. What a log says of a dump's functions is found by Attach.

// maxLogs bounds the logs of one process: each thread with JavaScript has one.
const maxLogs = 256

// Find makes markers for logs of processes that have code and no dump. The error is ctx's.
func Find(ctx context.Context, f *locate.Finder, _ *report.Findings) error {
	lacking := false
	for _, pid := range f.Rec.PIDs() {
		if pid == 0 || len(f.Rec.Processes[pid].Memory) == 0 {
			continue
		}
		if _, all := f.Described(pid); all || !f.Rec.HasDump(pid) {
			if err := findLogs(ctx, f, pid); err != nil {
				return err
			}
			lacking = lacking || !f.Rec.HasDump(pid)
		}
	}
	if !lacking {
		return nil
	}
	return findByCode(ctx, f, func(pid uint32) bool { return !f.Rec.HasDump(pid) })
}

// maxOthers bounds how many logs with other names are read in a directory.
const maxOthers = 100

// findByCode looks for logs that do not have the number of their process in their names, as v8.log and those of
// containers. A log is of the only process that had executable memory where its code lies, if that lacks a dump,
// shares no code, and has nearly all its samples in the log's code.
// The error is ctx's.
func findByCode(ctx context.Context, f *locate.Finder, lacks func(pid uint32) bool) error {
	for _, dir := range append([]string{f.Rec.In.Dir}, f.Dirs()...) {
		paths := f.Glob(dir, "*v8.log")
		for _, path := range paths[:min(len(paths), maxOthers)] {
			s, l, err := openLog(ctx, f, path)
			if err != nil {
				return err
			}
			if l == nil {
				continue
			}
			pid, err := locate.OwnerOf(f.Rec, path, l)
			if err != nil || !lacks(pid) || !ownsCode(f.Rec, pid, l) || locate.IsForeign(f.Rec, pid, naming(pid, path), s.Info) != nil {
				f.Forget(s)
				continue
			}
			markLog(f, pid, s, l, "found in "+dir, "found by where its functions lie")
		}
	}
	return nil
}

// ownsCode reports whether a log must be of a process, by its code. Without address space randomization, code of
// other processes may lie at the same places.
func ownsCode(rec *recording.Recording, pid uint32, l *Log) bool {
	return rec.Histogram != nil && !rec.Histogram.Over && rec.KnowsMemory(recording.Marker{PID: pid, Time: rec.ProgramStart(pid, 0)}) &&
		locate.IsAlone(rec, pid) && locate.NamesMost(rec, pid, l)
}

// Substitute makes markers for the logs of a process with a dump that is gone, or that leaves code out. It does
// nothing for a process without jitted code. The error is ctx's.
func Substitute(ctx context.Context, f *locate.Finder, pid uint32) error {
	if f.Rec.Processes[pid] == nil || len(f.Rec.Processes[pid].Memory) == 0 {
		return nil
	}
	dumps, _ := f.Described(pid)
	if len(dumps) > 0 && !locate.MayLack(f.Rec, pid, dumps) {
		return nil
	}
	if err := findLogs(ctx, f, pid); err != nil || len(dumps) > 0 {
		return err
	}
	return findByCode(ctx, f, func(owner uint32) bool { return owner == pid })
}

// findLogs makes markers for the logs of a process: those that the user names, those beside its dump and beside
// the recording, and those in the directories of DumpDirs.
func findLogs(ctx context.Context, f *locate.Finder, pid uint32) error {
	for _, n := range f.Opts.Named(Kind) {
		if err := tryLog(ctx, f, pid, n.Path, "named with "+report.MentionedFile(Kind, "", ""), &n); err != nil {
			return err
		}
	}
	dirs := []string{f.Rec.In.Dir}
	for _, m := range f.Rec.Markers {
		if m.PID == pid && m.Pos >= 0 {
			dirs = append(dirs, filepath.Dir(m.Path))
		}
	}
	tried := make(map[string]bool)
	for i, dir := range append(dirs, f.Dirs()...) {
		if dir = filepath.Clean(dir); tried[dir] {
			continue
		}
		tried[dir] = true
		says := "found in " + dir
		if i == 0 {
			says = "found beside the recording"
		}
		paths := slices.DeleteFunc(f.Glob(dir, "isolate-*.log"), func(path string) bool {
			of, ok := v8log.ProcessOf(filepath.Base(path))
			return !ok || of != pid
		})
		for _, path := range largestFirst(paths)[:min(len(paths), maxLogs)] {
			if err := tryLog(ctx, f, pid, path, says, nil); err != nil {
				return err
			}
		}
	}
	return nil
}

// tryLog makes a marker for a log if it can be the process's own. n is the option that names it, or nil. The
// error is ctx's.
func tryLog(ctx context.Context, f *locate.Finder, pid uint32, path, says string, n *config.SideFile) error {
	s, l, err := openLog(ctx, f, path)
	if l == nil {
		return err
	}
	if n == nil && locate.IsForeign(f.Rec, pid, naming(pid, path), s.Info) != nil {
		return nil
	}
	if n != nil && n.PID != pid {
		of, ok := v8log.ProcessOf(filepath.Base(path))
		switch ok = ok && f.Rec.Processes[of] != nil; {
		case n.PID != 0, ok && of != pid:
			return nil
		case !ok:
			if owner, err := locate.OwnerOf(f.Rec, path, l); err != nil || owner != pid {
				return nil
			}
		}
	}
	markLog(f, pid, s, l, says, "")
	return nil
}

// openLog opens and scans a log. l is nil if it is none, or has its process already. Attach says that a file that
// the user names is no log, or cannot be read. The error is ctx's.
func openLog(ctx context.Context, f *locate.Finder, path string) (s *locate.SideFile, l *Log, err error) {
	file, err := safefile.Open(path)
	if err != nil {
		if !safefile.IsAbsent(err) && !locate.IsOthers(path) {
			f.Unread(path, err)
		}
		return nil, nil, nil
	}
	if s, err = f.SideFile(file, path); err != nil || s.Taken {
		return nil, nil, nil
	}
	l, ok := s.Source.(*Log)
	if !ok {
		return nil, nil, nil
	}
	if l.limit == 0 {
		l.limit = maxIndex
		for _, other := range f.Files {
			if other, ok := other.Source.(*Log); ok && other.index != nil {
				l.limit -= other.index.memory
			}
		}
	}
	return s, l, f.Scan(ctx, s)
}

// markLog makes a marker for the log of a process, unless none of its code can be of that.
func markLog(f *locate.Finder, pid uint32, s *locate.SideFile, l *Log, says, known string) {
	if locate.IsElsewhere(f.Rec, pid, l) == nil {
		l.dropUnmapped(f.Rec, pid)
		for _, other := range f.Files { // other isolates, or copies
			if o, ok := other.Source.(*Log); ok && o != l && other.Taken && o.pid == pid {
				l.GiveWay(o)
			}
		}
		if l.pid = pid; len(l.Events) == 0 {
			s.Taken = true
			return
		}
		f.MarkFound(pid, s, says, known)
	}
}

// naming returns a log with its process as messages mention it.
func naming(pid uint32, path string) string {
	return report.MentionedSideFile(Kind, fmt.Sprint(pid), path)
}
