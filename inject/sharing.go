package inject

import (
	"context"
	"errors"
	"time"

	"golang.org/x/sys/unix"
)

// Several runs may put objects into one directory at once, and one that fails takes back
// what it has made. So that no other run counts on that, each holds a shared lock on the
// directory, and knows whether it was alone when it came. Who was not makes files of its
// own even where the same are there already, and takes nothing back. Who was takes back
// its own files, if nobody else has come.

// lockPatience is how long a run waits for another that takes something back.
const lockPatience = 2 * time.Second

// share takes the shared lock and reports whether nobody else has one. Where there are
// no locks, everybody is alone.
func (s *store) share() (alone bool) {
	for end := time.Now().Add(lockPatience); time.Now().Before(end); time.Sleep(time.Millisecond) {
		err := unix.Flock(s.fd, unix.LOCK_EX|unix.LOCK_NB)
		if err != nil && !errors.Is(err, unix.EWOULDBLOCK) {
			return true
		}
		// Making an exclusive lock a shared one may lose it on the way.
		if unix.Flock(s.fd, unix.LOCK_SH|unix.LOCK_NB) == nil {
			return err == nil
		}
	}
	return false
}

// lockForRemoving takes the exclusive lock on a directory, which is open as fd: nobody
// makes objects in it until that is closed. It waits a while for who does, and reports
// false if that was not enough. Where there are no locks, there is nobody to wait for.
func lockForRemoving(ctx context.Context, fd int) bool {
	for end := time.Now().Add(lockPatience); ; time.Sleep(time.Millisecond) {
		if err := unix.Flock(fd, unix.LOCK_EX|unix.LOCK_NB); !errors.Is(err, unix.EWOULDBLOCK) {
			return true
		}
		if time.Now().After(end) || ctx.Err() != nil {
			return false
		}
	}
}

// mayUndo reports whether files can be taken back that nobody else counts on. From then
// on others wait.
func (s *store) mayUndo() bool {
	if !s.alone || s.fd < 0 {
		return false
	}
	err := unix.Flock(s.fd, unix.LOCK_EX|unix.LOCK_NB)
	return err == nil || !errors.Is(err, unix.EWOULDBLOCK)
}

// takeBack removes a file that was created with the given inode, if it is still that.
func (s *store) takeBack(name string, ino uint64) {
	var st unix.Stat_t
	if unix.Fstatat(s.fd, name, &st, unix.AT_SYMLINK_NOFOLLOW) == nil && st.Ino == ino {
		unix.Unlinkat(s.fd, name, 0)
	}
}
