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
	// wait for running runs before files stay; a signal has to end a run within a second
	undoPatience = 300 * time.Millisecond
	// clean's wait for running runs
	cleanPatience = 2 * time.Second
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
// users: only runs of this user can hold the lock. In a directory where no file can be made, there
// is no lock, and no error.
func openLock(dir int) (l dirLock, err error) {
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
		switch {
		case errors.Is(err, unix.EACCES), errors.Is(err, unix.EPERM), errors.Is(err, unix.EROFS):
			return l, nil
		case err != nil:
			return l, err
		}
		var st unix.Stat_t
		if err := sys.Fstat(fd, &st); err != nil {
			l.fd = fd
			if lerr := l.close(); lerr != nil {
				err = &safefile.LeftFile{Name: l.name, Made: err, Left: lerr}
			}
			return l, err
		}
		if st.Mode&unix.S_IFMT != unix.S_IFREG || int(st.Uid) != os.Geteuid() || st.Mode&0o077 != 0 || st.Nlink > 1 {
			sys.Close(fd)
			i++
			continue
		}
		l.fd = fd
		return l, nil
	}
	l.fd = -1
	return l, errNoName
}

// errNoName says that other users have taken all names of the lock file. They could do so to have
// runs rely on files of each other.
var errNoName = errors.New("files of other users have all names of the lock file")

// began sets made: when the first of the runs that share the lock began.
func (l *dirLock) began() error {
	var st unix.Stat_t
	err := twice(func() error { return sys.Fstat(l.fd, &st) })
	l.made = st.Mtim.Nano()
	return err
}

// isNamed reports whether the open file is still the one in the directory.
func (l *dirLock) isNamed() (bool, error) {
	var named, open unix.Stat_t
	err := twice(func() error { return sys.Fstatat(l.dir, l.name, &named, unix.AT_SYMLINK_NOFOLLOW) })
	if errors.Is(err, unix.ENOENT) {
		return false, nil
	}
	if err == nil {
		err = twice(func() error { return sys.Fstat(l.fd, &open) })
	}
	return err == nil && named.Dev == open.Dev && named.Ino == open.Ino, err
}

// twice repeats a call that fails: an error may be an accident.
func twice(call func() error) error {
	err := call()
	if err != nil && !errors.Is(err, unix.EWOULDBLOCK) && !errors.Is(err, unix.ENOENT) {
		err = call()
	}
	return err
}

// close releases the lock, and removes the file if no other run uses it.
func (l *dirLock) close() (err error) {
	if l.fd < 0 {
		return nil
	}
	if !errors.Is(lockNow(l.fd, unix.LOCK_EX), unix.EWOULDBLOCK) {
		var named bool
		if named, err = l.isNamed(); named {
			err = safefile.Remove(l.dir, l.name)
		}
	}
	sys.Close(l.fd) // nothing was written to it
	l.fd = -1
	return err
}

// lockNow takes a lock, or fails with EWOULDBLOCK. After other errors, the file system has no locks.
func lockNow(fd, how int) error {
	return twice(func() error { return sys.Flock(fd, how|unix.LOCK_NB) })
}

// share takes the shared lock, and sets alone: no other run holds it. On file systems without locks,
// alone is true. It waits up to sharePatience, or until ctx is cancelled. Without a name for a lock
// file, another run may always use the files of this one.
func (s *Store) share(ctx context.Context) (err error) {
	for end := time.Now().Add(sharePatience); time.Now().Before(end); time.Sleep(time.Millisecond) {
		if s.lock, err = openLock(s.fd); errors.Is(err, errNoName) {
			break
		}
		if err != nil {
			return err
		}
		if s.lock.fd < 0 {
			s.alone = true
			return nil
		}
		err := lockNow(s.lock.fd, unix.LOCK_EX)
		if err != nil && !errors.Is(err, unix.EWOULDBLOCK) {
			s.alone = true
			s.unlock() // it removes the file
			return nil
		}
		if err == nil && s.lock.reset() != nil {
			// Its mark or its time would be that of a killed run. So this run does not
			// rely on the lock.
			s.unlock()
			break
		}
		// Converting an exclusive lock to a shared one may lose it.
		shared := lockNow(s.lock.fd, unix.LOCK_SH)
		if shared != nil && !errors.Is(shared, unix.EWOULDBLOCK) {
			s.alone = true
			s.unlock() // it removes the file
			return nil
		}
		if shared == nil {
			named, err2 := s.lock.isNamed()
			if err2 == nil && named {
				err2 = s.lock.began()
			}
			if err2 != nil {
				return err2
			}
			if named {
				s.alone = err == nil
				return nil
			}
		}
		sys.Close(s.lock.fd)
		s.lock.fd = -1
		if ctx.Err() != nil {
			break
		}
	}
	s.late, s.alone = true, false
	return nil
}

// unlock releases the lock.
func (s *Store) unlock() {
	name := s.lock.name
	s.leave(name, s.lock.close())
}

// reset makes a lock file, which a killed run may have left, that of a run that begins now.
func (l *dirLock) reset() error {
	err := twice(func() error { return sys.Fchmod(l.fd, lockMode) })
	if err == nil {
		err = twice(func() error { return sys.Touch(l.dir, l.name) })
	}
	return err
}

// lockForRemoving takes the exclusive lock on a directory, which is open as dir. No run makes
// objects there until the lock is closed. It waits up to cleanPatience for other runs, then returns
// false. On file systems without locks, it returns true at once.
func lockForRemoving(ctx context.Context, dir int) (l dirLock, locked bool, err error) {
	for end := time.Now().Add(cleanPatience); ; time.Sleep(time.Millisecond) {
		if l, err = openLock(dir); err != nil || l.fd < 0 {
			return l, err == nil, err
		}
		err := lockNow(l.fd, unix.LOCK_EX)
		if err != nil && !errors.Is(err, unix.EWOULDBLOCK) {
			return l, true, nil
		}
		if err == nil {
			named, err := l.isNamed()
			if err != nil || named {
				return l, err == nil, err
			}
		}
		sys.Close(l.fd)
		if time.Now().After(end) || ctx.Err() != nil {
			return dirLock{fd: -1}, false, nil
		}
	}
}

// MayUndo returns nil if the files of this run can be removed: no other run needs them. New runs
// then wait. Otherwise it says why not. Later calls return the same.
func (s *Store) MayUndo() error {
	s.undo.Do(func() { s.mayNotUndo = s.tryUndo() })
	return s.mayNotUndo
}

// errShared says that another run may need the files of this one.
var errShared = errors.New("another run uses them")

func (s *Store) tryUndo() error {
	if s.fd < 0 || s.late {
		return errShared
	}
	if s.lock.fd < 0 {
		return nil
	}
	for end := time.Now().Add(undoPatience); ; time.Sleep(time.Millisecond) {
		err := lockNow(s.lock.fd, unix.LOCK_EX) // holds off new runs, too
		if !errors.Is(err, unix.EWOULDBLOCK) {
			var st unix.Stat_t
			err := twice(func() error { return sys.Fstat(s.lock.fd, &st) })
			if err == nil && st.Mode&0o777 == markedMode {
				err = errShared
			}
			return err
		}
		if time.Now().After(end) {
			return errShared
		}
	}
}

// mark records that the run has succeeded and relies on existing files. After an error, another run
// that fails may remove objects of this one.
func (s *Store) mark() error { return s.lock.mark() }

func (l *dirLock) mark() error {
	if l.fd < 0 {
		return nil
	}
	return twice(func() error { return sys.Fchmod(l.fd, markedMode) })
}

// isFresh reports whether a file was written by a run that shares the lock. Such a file may be
// incomplete, and its run may still remove it.
func (s *Store) isFresh(st *unix.Stat_t) bool {
	return s.lock.fd >= 0 && st.Mode&unix.S_IFMT == unix.S_IFREG && st.Uid == s.uid && st.Mtim.Nano() >= s.lock.made
}

// RemoveCreated removes a file, if it still has the given inode.
func (s *Store) RemoveCreated(name string, ino uint64) {
	var st unix.Stat_t
	err := twice(func() error { return sys.Fstatat(s.fd, name, &st, unix.AT_SYMLINK_NOFOLLOW) })
	if errors.Is(err, unix.ENOENT) {
		return
	}
	if err == nil && st.Ino == ino {
		err = safefile.Remove(s.fd, name)
	}
	s.leave(name, err)
}
