package v8

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"golang.org/x/sys/unix"

	"github.com/jitinject/jitinject/internal/format/v8log"
	"github.com/jitinject/jitinject/internal/quote"
	"github.com/jitinject/jitinject/internal/report"
	"github.com/jitinject/jitinject/internal/safefile"
	"github.com/jitinject/jitinject/internal/safefile/sys"
	"github.com/jitinject/jitinject/internal/sorting"
)

// Finding logs. Anyone can put files with the names of logs into /tmp, and a program that runs again
// and again leaves thousands: a directory is read once, and a file is opened once.

// named reads the logs that the user named.
func (a *attacher) named() error {
	for _, n := range a.opts.Named(Kind) {
		of := a.targets
		if n.PID != 0 {
			if a.rec.Processes[n.PID] == nil {
				return fmt.Errorf("%s: there is no process %d in the recording", n, n.PID)
			}
			of = slices.DeleteFunc(slices.Clone(a.byPID[n.PID]), func(t *target) bool { return t.dump.PID != n.PID })
		}
		file, err := safefile.Open(n.Path)
		if err != nil {
			return fmt.Errorf("%s: %w", n, safefile.PlainError(err))
		}
		if _, err := v8log.NewReader(file); err != nil {
			file.Close()
			return fmt.Errorf("%s: %w", n, err)
		}
		if err := a.use(file, n.Path, setKey{named: true, pid: n.PID}, of); err != nil {
			return err
		}
	}
	return nil
}

// find reads the logs of a dump that no option names.
func (a *attacher) find(t *target) error {
	dirs := []string{filepath.Dir(t.dump.Path), a.rec.In.Dir}
	if t.dump.Live {
		dirs = append(dirs, filepath.Dir(t.dump.Markers[0].Path))
	}
	for _, dir := range append(dirs, a.opts.DumpDirs...) {
		logs := a.list(filepath.Clean(dir))
		for _, pid := range t.pids() {
			paths := largestFirst(logs[pid])
			delete(logs, pid) // each is read once
			for _, path := range paths {
				if err := a.ctx.Err(); err != nil {
					return err
				}
				file, err := safefile.Open(path)
				if err != nil {
					a.unusable(path, err, "")
				} else if err := a.use(file, path, setKey{pid: pid}, a.byPID[pid]); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// pids returns the numbers of the process in names of its logs.
func (t *target) pids() []uint32 {
	return slices.Compact([]uint32{t.dump.PID, t.jitdump.PID()})
}

// list returns the paths of the logs in a directory, by process, without those that were read. A directory
// that the user may not list is a note, because there is no sign of a log in it, unless an option names the
// directory. Any other error is a problem.
func (a *attacher) list(dir string) map[uint32][]string {
	inode, err := sys.PathInode(dir)
	if logs := a.listed[inode]; err == nil && logs != nil {
		return logs
	}
	paths, err := a.rec.In.Glob(dir, "*.log")
	isNamed := func(named string) bool { other, err := sys.PathInode(named); return err == nil && other == inode }
	switch {
	case err == nil:
	case errors.Is(err, unix.EACCES) && !slices.ContainsFunc(a.opts.DumpDirs, isNamed):
		a.Found.Note(fmt.Sprintf("%s: permission denied, so logs of V8 in it are not found; to use one, name it on the command line", quote.Printable(dir)))
	default:
		a.Found.Problem(report.Problem{Code: report.ProblemUnreadable, File: dir, Offset: -1, Text: fmt.Sprintf("it could not be read, and may have logs of V8: %v", safefile.WithoutPath(err)), Advice: "make it readable, and inject again"})
	}
	logs := make(map[uint32][]string)
	for _, path := range paths {
		if pid, ok := v8log.ProcessOf(filepath.Base(path)); ok {
			logs[pid] = append(logs[pid], path)
		}
	}
	a.listed[inode] = logs
	return logs
}

// largestFirst sorts the paths of logs, in place: of two copies, the larger one has more texts. Only the
// logs of one process are examined, because a directory may have thousands of others.
func largestFirst(paths []string) []string {
	size := make(map[string]int64)
	for _, path := range paths {
		if st, err := sys.Lstat(path); err == nil {
			size[path] = st.Size()
		}
	}
	sorting.Stable(paths, func(a, b string) int { return cmp.Compare(size[b], size[a]) })
	return paths
}

// maxUnnamed bounds the messages about logs that no option names.
const maxUnnamed = 20

// unusable adds the problem of a log that is not used, and that no option names.
func (a *attacher) unusable(path string, err error, advice string) {
	if a.unnamed++; a.unnamed > maxUnnamed {
		a.more = report.ProblemOf(path, err, advice)
		return
	}
	a.missing(path, err, advice)
}

// missing adds the problem of a log that is not used.
func (a *attacher) missing(path string, err error, advice string) {
	p := report.ProblemOf(path, err, advice)
	p.Text += "; its inlined calls are missing"
	a.Found.Problem(p)
}

// reportMore adds the problem of the logs after the first maxUnnamed.
func (a *attacher) reportMore() {
	if n := a.unnamed - maxUnnamed; n > 0 {
		a.Found.Problem(report.Problem{Code: report.ProblemUnused, Offset: -1, Text: fmt.Sprintf("%d more logs of V8 cannot be used, the last one is %s: %s; their inlined calls are missing", n, quote.Printable(a.more.File), a.more.Text), Advice: a.more.Advice})
	}
}
