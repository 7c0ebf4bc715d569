package objstore

import (
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

// Draft creates a temporary file for WriteAt. Its name begins with prefix. The error is a StoreError.
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

// Commit gives the file its name. An existing file with the same content may stay instead. The error is a
// StoreError.
func (d *Draft) Commit(name string) (did Outcome, err error) {
	defer d.Abandon()
	size := int64(-1) // unknown
	if st, err := d.file.Stat(); err == nil {
		size = st.Size()
	}
	did, err = d.commit(name, d.store.existing(name, d.file, size))
	return did, storeError(err)
}

// commit is Commit after the comparison with the file that is there. The caller calls Abandon.
func (d *Draft) commit(name string, there existing) (Outcome, error) {
	if there.mayStay(d.store) {
		return Unchanged, nil
	}
	var st unix.Stat_t
	if err := twice(func() error { return sys.Fstat(d.file.Fd(), &st) }); err != nil {
		return 0, err // without its number, the file could not be removed again
	}
	d.Ino = st.Ino
	// A file that was written by parts is complete only if it could be closed.
	if err := d.file.Close(); err != nil {
		return 0, safefile.WithoutPath(err)
	}
	if err := d.partial.Rename(name); there.safe && err != nil {
		return Unchanged, nil // another run has made it
	} else if err != nil {
		return 0, d.store.withOwner(name, err)
	}
	d.done = true
	return there.replaced(), nil
}
