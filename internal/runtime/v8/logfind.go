package v8

import (
	"context"
	"path/filepath"
	"slices"

	"github.com/jitinject/jitinject/internal/config"
	"github.com/jitinject/jitinject/internal/format/v8log"
	"github.com/jitinject/jitinject/internal/locate"
	"github.com/jitinject/jitinject/internal/report"
	"github.com/jitinject/jitinject/internal/safefile"
)

// Finding logs as dumps of their own. What a log says of a dump's functions is found by Attach.

// maxLogs bounds the logs of one process: each thread with JavaScript has one.
const maxLogs = 256

// Find makes markers for logs of processes that have code and no dump. The error is ctx's.
func Find(ctx context.Context, f *locate.Finder, _ *report.Findings) error {
	for _, pid := range f.Rec.PIDs() {
		if pid == 0 || len(f.Rec.Processes[pid].Memory) == 0 {
			continue
		}
		if _, all := f.Described(pid); all || !f.Rec.HasDump(pid) {
			if err := findLogs(ctx, f, pid); err != nil {
				return err
			}
		}
	}
	return nil
}

// Substitute makes markers for the logs of a process with a dump that is gone, or that leaves code out. It does
// nothing for a process without jitted code. The error is ctx's.
func Substitute(ctx context.Context, f *locate.Finder, pid uint32) error {
	if f.Rec.Processes[pid] == nil || len(f.Rec.Processes[pid].Memory) == 0 {
		return nil
	}
	if dumps, _ := f.Described(pid); len(dumps) > 0 && !locate.MayLack(f.Rec, pid, dumps) {
		return nil
	}
	return findLogs(ctx, f, pid)
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

// tryLog makes a marker for a log if it can be the process's own. n is the option that names it, or nil. That a
// file is no log, or cannot be read, is said by Attach. The error is ctx's.
func tryLog(ctx context.Context, f *locate.Finder, pid uint32, path, says string, n *config.SideFile) error {
	file, err := safefile.Open(path)
	if err != nil {
		if n == nil && !safefile.IsAbsent(err) && !locate.IsOthers(path) {
			f.Unread(path, err)
		}
		return nil
	}
	s, err := f.SideFile(file, path)
	if err != nil || s.Taken {
		return nil
	}
	l, ok := s.Source.(*Log)
	if !ok || n == nil && locate.IsForeign(f.Rec, pid, path, s.Info) != nil {
		return nil
	}
	if err := f.Scan(ctx, s); err != nil {
		return err
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
	if locate.IsElsewhere(f.Rec, pid, l) != nil {
		return nil
	}
	l.dropUnmapped(f.Rec, pid)
	f.MarkFound(pid, s, says, "")
	return nil
}
