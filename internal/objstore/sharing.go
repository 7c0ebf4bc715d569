package objstore

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"github.com/jitinject/jitinject/internal/safefile"
)

// Several runs may put objects into one directory at once, and one that fails takes back
// what it has made. So that no other run counts on that, each holds a shared lock on a
// file of the user's own in the directory, and knows whether it was alone when it came.
// Who was not makes files of its own even where the same are there already. Who fails
// waits until the others have ended, and takes back its own if they have all failed: a run
// that ends well leaves a mark on the file. The last one removes that.

const (
	undoPatience  = 2 * time.Second  // for runs that work, before files are left to them
	sharePatience = 30 * time.Second // for one that takes something back, or for clean
)

// lockPrefix is what its name begins with, behind the dot.
const lockPrefix = "jitinject-"

// A dirLock is that file. It is called like what is being written, so that what a killed
// run leaves is known as such.
type dirLock struct {
	dir, fd int // fd is -1 where there is none
	name    string
	made    int64 // when, in ns of the clock of files
}

// The file's permissions tell whether a run has ended well; its time of modification
// stays that of its creation.
const (
	lockMode   = 0o600
	markedMode = 0o700
)

// openLock opens the lock file of a directory, which it makes if it is not there. What
// belongs to someone else is passed over, so that nobody else can hold the lock.
func openLock(dir int) (l dirLock) {
	for try, i := 0, 0; i < safefile.Guessed && try < 100*safefile.Guessed; try++ {
		l = dirLock{dir: dir, fd: -1, name: fmt.Sprintf(".%s%d.lock.%d%s", lockPrefix, os.Geteuid(), i, safefile.PartialSuffix)}
		const flags = unix.O_RDWR | unix.O_NOFOLLOW | unix.O_NONBLOCK | unix.O_CLOEXEC
		fd, err := unix.Openat(dir, l.name, flags|unix.O_CREAT|unix.O_EXCL, lockMode)
		if errors.Is(err, unix.EEXIST) {
			fd, err = unix.Openat(dir, l.name, flags, 0)
			if errors.Is(err, unix.ENOENT) {
				continue // the last one that used it has removed it
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
		if unix.Fstat(fd, &st) != nil || st.Mode&unix.S_IFMT != unix.S_IFREG || int(st.Uid) != os.Geteuid() || st.Mode&0o077 != 0 || st.Nlink > 1 {
			unix.Close(fd)
			i++
			continue
		}
		l.fd = fd
		return l
	}
	l.fd = -1
	return l
}

// began looks when the first of the runs that share the lock came.
func (l *dirLock) began() {
	var st unix.Stat_t
	if unix.Fstat(l.fd, &st) == nil {
		l.made = st.Mtim.Nano()
	}
}

// isNamed reports whether the file is still the one in the directory.
func (l *dirLock) isNamed() bool {
	var named, open unix.Stat_t
	return unix.Fstatat(l.dir, l.name, &named, unix.AT_SYMLINK_NOFOLLOW) == nil && unix.Fstat(l.fd, &open) == nil && named.Dev == open.Dev && named.Ino == open.Ino
}

// close gives the lock back, and removes the file if nobody else uses it.
func (l *dirLock) close() {
	if l.fd < 0 {
		return
	}
	if unix.Flock(l.fd, unix.LOCK_EX|unix.LOCK_NB) == nil && l.isNamed() {
		unix.Unlinkat(l.dir, l.name, 0)
	}
	unix.Close(l.fd)
	l.fd = -1
}

// share takes the shared lock and reports whether nobody else has one. Where there are
// no locks, everybody is alone.
func (s *Store) share() (alone bool) {
	for end := time.Now().Add(sharePatience); time.Now().Before(end); time.Sleep(time.Millisecond) {
		if s.lock = openLock(s.fd); s.lock.fd < 0 {
			return true
		}
		err := unix.Flock(s.lock.fd, unix.LOCK_EX|unix.LOCK_NB)
		if err != nil && !errors.Is(err, unix.EWOULDBLOCK) {
			return true
		}
		if err == nil { // one that a killed run has left begins anew
			unix.Fchmod(s.lock.fd, lockMode)
			unix.UtimesNanoAt(s.lock.dir, s.lock.name, []unix.Timespec{{Nsec: unix.UTIME_NOW}, {Nsec: unix.UTIME_NOW}}, unix.AT_SYMLINK_NOFOLLOW)
		}
		// Making an exclusive lock a shared one may lose it on the way.
		if unix.Flock(s.lock.fd, unix.LOCK_SH|unix.LOCK_NB) == nil && s.lock.isNamed() {
			s.lock.began()
			return err == nil
		}
		unix.Close(s.lock.fd)
		s.lock.fd = -1
	}
	s.late = true
	return false
}

// lockForRemoving takes the exclusive lock on a directory, which is open as dir: nobody
// makes objects in it until that is closed. It waits a while for who does, and reports
// false if that was not enough. Where there are no locks, there is nobody to wait for.
func lockForRemoving(ctx context.Context, dir int) (dirLock, bool) {
	for end := time.Now().Add(undoPatience); ; time.Sleep(time.Millisecond) {
		l := openLock(dir)
		if l.fd < 0 {
			return l, true
		}
		err := unix.Flock(l.fd, unix.LOCK_EX|unix.LOCK_NB)
		if !errors.Is(err, unix.EWOULDBLOCK) && (err != nil || l.isNamed()) {
			return l, true
		}
		unix.Close(l.fd)
		if time.Now().After(end) || ctx.Err() != nil {
			return dirLock{fd: -1}, false
		}
	}
}

// MayUndo reports whether files can be taken back that nobody else counts on. From then
// on others wait.
func (s *Store) MayUndo() bool {
	if s.fd < 0 || s.late {
		return false
	}
	if s.lock.fd < 0 {
		return true
	}
	for end := time.Now().Add(undoPatience); ; time.Sleep(time.Millisecond) {
		err := unix.Flock(s.lock.fd, unix.LOCK_EX|unix.LOCK_NB) // and nobody waits for us
		if !errors.Is(err, unix.EWOULDBLOCK) {
			var st unix.Stat_t
			return unix.Fstat(s.lock.fd, &st) == nil && st.Mode&0o777 != markedMode
		}
		if time.Now().After(end) {
			return false
		}
	}
}

// mark says that the run has ended well, and counts on the files that it has found.
func (s *Store) mark() {
	if s.lock.fd >= 0 {
		unix.Fchmod(s.lock.fd, markedMode)
	}
}

// isFresh reports whether a file is another run's of those that share the lock: it may
// not be complete, and may be taken back.
func (s *Store) isFresh(st *unix.Stat_t) bool {
	return s.lock.fd >= 0 && st.Mode&unix.S_IFMT == unix.S_IFREG && st.Uid == s.uid && st.Mtim.Nano() >= s.lock.made
}

// RemoveCreated removes a file that was created with the given inode, if it is still that.
func (s *Store) RemoveCreated(name string, ino uint64) {
	var st unix.Stat_t
	if unix.Fstatat(s.fd, name, &st, unix.AT_SYMLINK_NOFOLLOW) == nil && st.Ino == ino {
		unix.Unlinkat(s.fd, name, 0)
	}
}

// A LeftError is the error of a run that has failed and could not remove all that it had made.
type LeftError struct {
	Err  error  // why it failed
	Left string // what stays, in words
}

// WithLeft adds what stays to an error, if anything does.
func WithLeft(err error, left string) error {
	if left == "" {
		return err
	}
	return &LeftError{err, left}
}

func (e *LeftError) Error() string { return e.Err.Error() }

func (e *LeftError) Unwrap() error { return e.Err }

// Left returns what a run that failed with an error could not remove, or "".
func Left(err error) string {
	var left *LeftError
	if errors.As(err, &left) {
		return left.Left
	}
	return ""
}
