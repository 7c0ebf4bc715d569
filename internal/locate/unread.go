package locate

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/jitinject/jitinject/internal/report"
	"github.com/jitinject/jitinject/internal/safefile"
	"github.com/jitinject/jitinject/internal/safefile/sys"
)

// Files that no mapping announces are looked for in directories, and most files there are something
// else. But one that cannot be read may be the one that was looked for.

// Unread adds a problem if err is a failure to read a file or a directory, and not a statement about
// what it is. It reports whether it is one.
func (f *Finder) Unread(path string, err error) bool {
	var errno unix.Errno
	if !errors.As(err, &errno) {
		return false
	}
	switch errno {
	case unix.ENOENT, unix.ENOTDIR, unix.ELOOP, unix.ENXIO, unix.EISDIR:
		return false
	}
	advice := report.AdviceOr(err, "make it readable, and inject again")
	if errors.Is(err, fs.ErrPermission) {
		advice = "run jitinject as its owner or as root"
	}
	f.Unreadable.Problem(report.Problem{Code: report.ProblemUnreadable, File: path, Offset: -1, Text: fmt.Sprintf("it could not be read, and may be of a process in the recording: %v", errno), Advice: advice})
	return true
}

// IsOthers reports whether the file at a path is known to belong to another user. Such a file is not
// taken for one of a recorded process, so nothing is lost if it may not be read.
func IsOthers(path string) bool {
	st, err := sys.Lstat(path)
	return err == nil && !safefile.OwnedByUserOrRoot(st)
}

// Glob returns the paths of files in a directory with names that match a pattern. A directory that
// cannot be read becomes a problem.
func (f *Finder) Glob(dir, pattern string) []string {
	paths, err := f.Rec.In.Glob(dir, pattern)
	f.Unread(filepath.Clean(dir), err)
	return paths
}

// GlobPath returns the paths that match a pattern of filepath.Glob, which may have directories.
func (f *Finder) GlobPath(pattern string) (paths []string) {
	dir, name := filepath.Split(pattern)
	dirs := []string{filepath.Clean(dir)}
	if strings.ContainsAny(dir, `*?[\`) {
		dirs = f.GlobPath(filepath.Clean(dir))
	}
	for _, dir := range dirs {
		paths = append(paths, f.Glob(dir, name)...)
	}
	return paths
}
