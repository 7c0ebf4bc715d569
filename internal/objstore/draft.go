package objstore

import (
	"bytes"
	"errors"
	"io"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/jitinject/jitinject/internal/safefile"
	"github.com/jitinject/jitinject/internal/safefile/sys"
)

// A Draft is a file that gets its name when it is complete.
type Draft struct {
	store   *Store
	file    *sys.File
	partial *safefile.Partial
	done    bool
	mu      sync.Mutex
	Written int64 // total size of the writes, in bytes
	// inode number after Commit; 0 if the existing file stayed
	Ino uint64
}

// Draft creates a temporary file for WriteAt. Its name begins with prefix.
func (s *Store) Draft(prefix string, mode uint32) (*Draft, error) {
	file, p, err := safefile.Create(s.fd, prefix, mode)
	if err != nil {
		return nil, &StoreError{s.leaveOf(err)}
	}
	return &Draft{store: s, file: file, partial: p}, nil
}

// WriteAt writes to the file. Gaps are zero.
func (d *Draft) WriteAt(p []byte, off int64) (int, error) {
	n, err := d.file.WriteAt(p, off)
	d.mu.Lock()
	d.Written += int64(n)
	d.mu.Unlock()
	return n, err
}

// Abandon removes the file, unless it is complete.
func (d *Draft) Abandon() {
	if !d.done {
		d.file.Close() // what was written is not needed
		name := d.partial.Name
		d.store.leave(name, d.partial.Remove())
		d.done = true
	}
}

// Commit gives the file its name. An existing file with the same content may stay instead.
func (d *Draft) Commit(name string) (Outcome, error) {
	defer d.Abandon()
	defer d.file.Close()
	did, safe, fresh := Created, false, false
	if fd, err := sys.Openat(d.store.fd, name, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0); err == nil {
		there := sys.NewFile(fd, name)
		var st unix.Stat_t
		same := equalFiles(there, d.file)
		// Use the open file: another run may replace the name at any time.
		if sys.Fstat(fd, &st) == nil {
			safe, fresh = same && d.store.isSafe(&st), d.store.isFresh(&st)
		}
		there.Close()
		if safe && d.store.alone {
			return Unchanged, nil
		}
		if did = Replaced; same {
			did = Unchanged
		}
	} else if !errors.Is(err, unix.ENOENT) && !d.store.isAbsent(name) {
		did = Replaced
	}
	var st unix.Stat_t
	if err := twice(func() error { return sys.Fstat(int(d.file.Fd()), &st) }); err != nil {
		return 0, err // without its number, the file could not be removed again
	}
	d.Ino = st.Ino
	// A file that was written by parts is complete only if it could be closed.
	if err := d.file.Close(); err != nil {
		return 0, safefile.WithoutPath(err)
	}
	if err := d.partial.Rename(name); safe && err != nil {
		return Unchanged, nil
	} else if err != nil {
		return 0, d.store.withOwner(name, err)
	}
	d.done = true
	if fresh {
		did = Created
	}
	return did, nil
}

// isAbsent reports whether no file has a name. If that is unknown, it returns false.
func (s *Store) isAbsent(name string) bool {
	var st unix.Stat_t
	return errors.Is(sys.Fstatat(s.fd, name, &st, unix.AT_SYMLINK_NOFOLLOW), unix.ENOENT)
}

// equalFiles reports whether two files are regular and have the same content.
func equalFiles(a, b *sys.File) bool {
	x, err := a.Stat()
	if err != nil || !x.Mode().IsRegular() {
		return false
	}
	y, err := b.Stat()
	if err != nil || x.Size() != y.Size() {
		return false
	}
	var p, q [64 << 10]byte
	for at := int64(0); at < x.Size(); at += int64(len(p)) {
		n, err := a.ReadAt(p[:], at)
		if err != nil && err != io.EOF {
			return false
		}
		if m, err := b.ReadAt(q[:n], at); m != n || err != nil && err != io.EOF || !bytes.Equal(p[:n], q[:n]) {
			return false
		}
	}
	return true
}
