package perfmap

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/jitinject/jitinject/internal/config"
	"github.com/jitinject/jitinject/internal/locate"
	"github.com/jitinject/jitinject/internal/report"
	"github.com/jitinject/jitinject/internal/safefile"
	"github.com/jitinject/jitinject/internal/safefile/sys"
)

// Find finds perf maps, and makes markers for their processes. Maps that the user names come first.
// Then it looks for maps of processes that made code and have no other source. The error is ctx's, or
// that of unusable options.
func Find(ctx context.Context, f *locate.Finder, found *report.Findings) error {
	pids := slices.DeleteFunc(f.Rec.PIDs(), func(pid uint32) bool { return !lacksMap(f, pid) })
	named := make(map[uint32]bool)
	for _, n := range f.Opts.Named(Kind) {
		if err := namedMap(ctx, f, n, named, found); err != nil {
			return err
		}
	}
	for _, pid := range pids {
		if named[pid] {
			continue
		}
		if err := searchMap(ctx, f, pid); err != nil {
			return err
		}
	}
	return searchByContent(ctx, f)
}

// Substitute looks for the map of a process with a dump that is gone, or that leaves code out. It does
// nothing for a process without jitted code. The error is ctx's.
func Substitute(ctx context.Context, f *locate.Finder, pid uint32) error {
	if !f.Rec.HasMemory(pid) {
		return nil
	}
	return searchMap(ctx, f, pid)
}

// namedMap adds a map that the user has named. It adds its process to named.
func namedMap(ctx context.Context, f *locate.Finder, n config.SideFile, named map[uint32]bool, found *report.Findings) error {
	for _, pid := range []uint32{n.PID, f.Opts.PID} {
		if pid != 0 && f.Rec.Processes[pid] == nil {
			return fmt.Errorf("%s: there is no process %d in the recording", n, pid)
		}
	}
	file, err := safefile.Open(n.Path)
	if err != nil {
		return fmt.Errorf("%s: %w", n, safefile.PlainError(err))
	}
	if info, err := file.Stat(); err != nil || info.Size() == 0 {
		file.Close()
		if err == nil {
			err = errEmpty
		}
		return fmt.Errorf("%s: %w", n, safefile.WithoutPath(err))
	}
	s, m, err := openMap(f, file, n.Path)
	if err != nil {
		return fmt.Errorf("%s: %w", n, err)
	}
	if err := f.Scan(ctx, s); err != nil {
		return err
	}
	pid := n.PID
	if pid == 0 {
		if pid = pidOf(n.Path); f.Rec.Processes[pid] == nil {
			pid = f.Opts.PID
		}
	}
	if pid == 0 {
		pid, err = ownerOf(f.Rec, n.Path, m)
		if err == nil && f.Rec.SharesCode(pid) {
			err = report.Advise(fmt.Errorf("it may be of process %d, or of one that shares its code since a fork", pid), "name its process: %s", report.MentionedSideFile(Kind, "PID", n.Path))
		}
		if err != nil {
			found.Problem(report.ProblemOf(s.Path, err, report.AdviceOtherRun))
			return nil
		}
	}
	named[pid] = true
	if err := isElsewhere(f.Rec, pid, m); err != nil {
		found.Problem(report.ProblemOf(s.Path, err, report.AdviceOtherRun))
		return nil
	}
	mark(f, pid, s, m, "named with "+report.MentionedFile(Kind, "", ""), "")
	return nil
}

// openMap opens a map, once. It takes over file.
func openMap(f *locate.Finder, file *sys.File, path string) (*locate.SideFile, *Map, error) {
	s, err := f.SideFile(file, path)
	if f.IsOther(err) {
		return nil, nil, ErrNotMap
	}
	if err != nil {
		return nil, nil, err
	}
	m, ok := s.Source.(*Map)
	if !ok {
		return nil, nil, ErrNotMap
	}
	return s, m, nil
}

// searchMap looks for the map of a process: where perf looks, beside the recording, and in the
// directories of DumpDirs. It takes the first that can be the process's own. Others are only
// recorded as possible reasons for missing functions.
func searchMap(ctx context.Context, f *locate.Finder, pid uint32) error {
	file, err := locate.OpenInProcess(f.Rec, pid, f.Rec.ProgramStart(pid, 0), tmpName)
	if err != nil {
		unusable(f, pid, tmpName(pid), err)
	}
	if file != nil {
		if ok, err := tryMap(ctx, f, pid, file, file.Name(), "found in the running container"); ok || err != nil {
			return err
		}
	}
	base := filepath.Base(tmpName(pid))
	dirs := append([]string{filepath.Dir(tmpName(pid)), f.Rec.In.Dir}, f.DirsWith(base)...)
	for i, dir := range dirs {
		path := filepath.Join(dir, base)
		file, err := safefile.Open(path)
		if safefile.IsAbsent(err) {
			continue
		}
		if err != nil {
			unusable(f, pid, path, err)
			continue
		}
		says := "found in " + dir
		switch i {
		case 0:
			says = "found where perf looks"
		case 1:
			says = "found beside the recording"
		}
		if ok, err := tryMap(ctx, f, pid, file, path, says); ok || err != nil {
			return err
		}
	}
	return nil
}

// tryMap adds a map that was found for a process, if it can be the process's own. The error is
// ctx's.
func tryMap(ctx context.Context, f *locate.Finder, pid uint32, file *sys.File, path, says string) (ok bool, err error) {
	info, err := file.Stat()
	if err != nil {
		file.Close()
		unusable(f, pid, path, err)
		return false, nil
	}
	if err := isForeign(f.Rec, pid, path, info); err != nil {
		file.Close()
		refuse(f, pid, path, err)
		return false, nil
	}
	s, m, err := openMap(f, file, path)
	if err != nil {
		unusable(f, pid, path, err)
		return false, nil
	}
	if s.Taken {
		return false, nil
	}
	if err := f.Scan(ctx, s); err != nil {
		return false, err
	}
	if err := isElsewhere(f.Rec, pid, m); err != nil {
		if s.File.Failed() != nil { // the part that was not read may have its functions
			err = s.File.Failed()
		}
		unusable(f, pid, path, err)
		return false, nil
	}
	mark(f, pid, s, m, says, "")
	return true, nil
}

// unusable records that a file cannot be used as a map. A failure to read it is a problem. But another
// user's file that the user may not read is none: it would not be used either.
func unusable(f *locate.Finder, pid uint32, path string, err error) {
	switch {
	case errors.Is(err, fs.ErrPermission) && locate.IsOthers(path):
		err = report.Advise(safefile.WithoutPath(err), "run jitinject as its owner or as root")
	case f.Unread(path, err):
		err = safefile.WithoutPath(err)
	case errors.Is(err, ErrNotMap):
		err = report.Advise(err, adviceWrite)
	case isLink(path):
		err = report.Advise(err, "name the map itself: %s", report.MentionedFile(Kind, fmt.Sprint(pid), "FILE"))
	}
	refuse(f, pid, path, err)
}

// isLink reports whether the file at a path is a symbolic link.
func isLink(path string) bool {
	st, err := sys.Lstat(path)
	return err == nil && st.Mode()&fs.ModeSymlink != 0
}

// refuse records why a file that was found is not the map of a process.
func refuse(f *locate.Finder, pid uint32, path string, err error) {
	f.Left.Maps = append(f.Left.Maps, locate.RefusedLog{Path: path, PID: pid, Err: err})
}
