package objstore

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"github.com/jitinject/jitinject/internal/safefile"
	"github.com/jitinject/jitinject/internal/safefile/sys"
)

// Several runs may write objects to one directory at once, and a failed run removes its files. No
// other run may rely on such files. So each run holds a shared lock on a lock file of its user in
// the directory:
//
//   - A run knows at its start whether it is alone. If not, it makes its own files, even if the
//     same ones exist.
//   - A successful run marks the lock file.
//   - A failed run waits until the others have ended. It removes its files only if all have failed.
//   - The last run removes the lock file.

const (
	// wait for running runs before files stay
	undoPatience = 2 * time.Second
	// wait for a run that removes files, or for clean
	sharePatience = 30 * time.Second
)

// lockPrefix begins the name of the lock file, after the dot.
const lockPrefix = "jitinject-"

// A dirLock is the lock file of a directory. Its name is that of a temporary file. So a lock file
// left by a killed run is recognized as such.
type dirLock struct {
	dir, fd int // fd is -1 without a lock
	name    string
	made    int64 // creation time, in ns of the file system's clock
}

// The permissions of the lock file show whether a run has succeeded. Its modification time remains
// its creation time.
const (
	lockMode   = 0o600
	markedMode = 0o700
)

// openLock opens the lock file of a directory, and creates it if needed. It skips files of other
// users: only runs of this user can hold the lock.
func openLock(dir int) (l dirLock) {
	for try, i := 0, 0; i < safefile.Guessed && try < 100*safefile.Guessed; try++ {
		l = dirLock{dir: dir, fd: -1, name: fmt.Sprintf(".%s%d.lock.%d%s", lockPrefix, os.Geteuid(), i, safefile.PartialSuffix)}
		const flags = unix.O_RDWR | unix.O_NOFOLLOW | unix.O_NONBLOCK | unix.O_CLOEXEC
		fd, err := sys.Openat(dir, l.name, flags|unix.O_CREAT|unix.O_EXCL, lockMode)
		if errors.Is(err, unix.EEXIST) {
			fd, err = sys.Openat(dir, l.name, flags, 0)
			if errors.Is(err, unix.ENOENT) {
				continue // its last user has removed it
			}
			if err != nil {
				i++
				continue
			}
		}
		if err != nil {
			return l
		}
		var st unix.Stat_t
		if sys.Fstat(fd, &st) != nil || st.Mode&unix.S_IFMT != unix.S_IFREG || int(st.Uid) != os.Geteuid() || st.Mode&0o077 != 0 || st.Nlink > 1 {
			sys.Close(fd)
			i++
			continue
		}
		l.fd = fd
		return l
	}
	l.fd = -1
	return l
}

// began sets made: when the first of the runs that share the lock began.
func (l *dirLock) began() {
	var st unix.Stat_t
	if sys.Fstat(l.fd, &st) == nil {
		l.made = st.Mtim.Nano()
	}
}

// isNamed reports whether the open file is still the one in the directory.
func (l *dirLock) isNamed() bool {
	var named, open unix.Stat_t
	return sys.Fstatat(l.dir, l.name, &named, unix.AT_SYMLINK_NOFOLLOW) == nil && sys.Fstat(l.fd, &open) == nil && named.Dev == open.Dev && named.Ino == open.Ino
}

// close releases the lock, and removes the file if no other run uses it.
func (l *dirLock) close() {
	if l.fd < 0 {
		return
	}
	if sys.Flock(l.fd, unix.LOCK_EX|unix.LOCK_NB) == nil && l.isNamed() {
		sys.Unlinkat(l.dir, l.name, 0)
	}
	sys.Close(l.fd)
	l.fd = -1
}

// share takes the shared lock. alone reports that no other run holds it. On file systems without
// locks, it is true.
func (s *Store) share() (alone bool) {
	for end := time.Now().Add(sharePatience); time.Now().Before(end); time.Sleep(time.Millisecond) {
		if s.lock = openLock(s.fd); s.lock.fd < 0 {
			return true
		}
		err := sys.Flock(s.lock.fd, unix.LOCK_EX|unix.LOCK_NB)
		if err != nil && !errors.Is(err, unix.EWOULDBLOCK) {
			return true
		}
		if err == nil { // reset the file of a killed run
			sys.Fchmod(s.lock.fd, lockMode)
			sys.Touch(s.lock.dir, s.lock.name)
		}
		// Converting an exclusive lock to a shared one may lose it.
		if sys.Flock(s.lock.fd, unix.LOCK_SH|unix.LOCK_NB) == nil && s.lock.isNamed() {
			s.lock.began()
			return err == nil
		}
		sys.Close(s.lock.fd)
		s.lock.fd = -1
	}
	s.late = true
	return false
}

// lockForRemoving takes the exclusive lock on a directory, which is open as dir. No run makes
// objects there until the lock is closed. It waits up to undoPatience for other runs, then returns
// false. On file systems without locks, it returns true at once.
func lockForRemoving(ctx context.Context, dir int) (dirLock, bool) {
	for end := time.Now().Add(undoPatience); ; time.Sleep(time.Millisecond) {
		l := openLock(dir)
		if l.fd < 0 {
			return l, true
		}
		err := sys.Flock(l.fd, unix.LOCK_EX|unix.LOCK_NB)
		if !errors.Is(err, unix.EWOULDBLOCK) && (err != nil || l.isNamed()) {
			return l, true
		}
		sys.Close(l.fd)
		if time.Now().After(end) || ctx.Err() != nil {
			return dirLock{fd: -1}, false
		}
	}
}

// MayUndo reports whether the files of this run can be removed: no other run needs them. New runs
// then wait.
func (s *Store) MayUndo() bool {
	if s.fd < 0 || s.late {
		return false
	}
	if s.lock.fd < 0 {
		return true
	}
	for end := time.Now().Add(undoPatience); ; time.Sleep(time.Millisecond) {
		err := sys.Flock(s.lock.fd, unix.LOCK_EX|unix.LOCK_NB) // holds off new runs, too
		if !errors.Is(err, unix.EWOULDBLOCK) {
			var st unix.Stat_t
			return sys.Fstat(s.lock.fd, &st) == nil && st.Mode&0o777 != markedMode
		}
		if time.Now().After(end) {
			return false
		}
	}
}

// mark records that the run has succeeded and relies on existing files.
func (s *Store) mark() {
	if s.lock.fd >= 0 {
		sys.Fchmod(s.lock.fd, markedMode)
	}
}

// isFresh reports whether a file was written by a run that shares the lock. Such a file may be
// incomplete, and its run may still remove it.
func (s *Store) isFresh(st *unix.Stat_t) bool {
	return s.lock.fd >= 0 && st.Mode&unix.S_IFMT == unix.S_IFREG && st.Uid == s.uid && st.Mtim.Nano() >= s.lock.made
}

// RemoveCreated removes a file, if it still has the given inode.
func (s *Store) RemoveCreated(name string, ino uint64) {
	var st unix.Stat_t
	if sys.Fstatat(s.fd, name, &st, unix.AT_SYMLINK_NOFOLLOW) == nil && st.Ino == ino {
		sys.Unlinkat(s.fd, name, 0)
	}
}

// A LeftError is the error of a failed run that could not remove all its files.
type LeftError struct {
	Err  error  // why it failed
	Left string // the remaining files, in words
}

// WithLeft adds a note about remaining files to an error. It returns err if left is "".
func WithLeft(err error, left string) error {
	if left == "" {
		return err
	}
	return &LeftError{err, left}
}

// Error returns the text of Err.
func (e *LeftError) Error() string { return e.Err.Error() }

// Unwrap returns Err.
func (e *LeftError) Unwrap() error { return e.Err }

// Left returns the note about remaining files in an error, or "".
func Left(err error) string {
	var left *LeftError
	if errors.As(err, &left) {
		return left.Left
	}
	return ""
}
