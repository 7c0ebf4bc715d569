package inject

import (
	"bytes"
	"errors"
	"io"
	"os"
	"sync"

	"golang.org/x/sys/unix"
)

// A draft is a file that will have its name when it is complete.
type draft struct {
	store   *store
	file    *os.File
	partial *partial
	done    bool
	mu      sync.Mutex
	written int64 // bytes
	ino     uint64
}

// draft begins a file, which is called like prefix until it is complete.
func (s *store) draft(prefix string, mode uint32) (*draft, error) {
	file, p, err := createPartial(s.fd, prefix, mode)
	if err != nil {
		return nil, &storeError{err}
	}
	return &draft{store: s, file: file, partial: p}, nil
}

// WriteAt writes to the file; what is never written is zero.
func (d *draft) WriteAt(p []byte, off int64) (int, error) {
	n, err := d.file.WriteAt(p, off)
	d.mu.Lock()
	d.written += int64(n)
	d.mu.Unlock()
	return n, err
}

// abandon removes the file, unless it is complete.
func (d *draft) abandon() {
	if !d.done {
		d.file.Close()
		d.partial.remove()
		d.done = true
	}
}

// commit gives the file a name, unless what has it already is the same.
func (d *draft) commit(name string) (outcome, error) {
	defer d.abandon()
	did, safe, fresh := created, false, false
	if fd, err := unix.Openat(d.store.fd, name, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0); err == nil {
		there := os.NewFile(uintptr(fd), name)
		var st unix.Stat_t
		same := equalFiles(there, d.file)
		if unix.Fstat(fd, &st) == nil { // of what was opened: another run may give the name away at any time
			safe, fresh = same && d.store.isSafe(&st), d.store.isFresh(&st)
		}
		there.Close()
		if safe && d.store.alone {
			return unchanged, nil
		}
		if did = replaced; same {
			did = unchanged
		}
	} else if !errors.Is(err, unix.ENOENT) {
		did = replaced
	}
	var st unix.Stat_t
	if unix.Fstat(int(d.file.Fd()), &st) == nil {
		d.ino = st.Ino
	}
	if err := d.partial.rename(name); safe && err != nil {
		return unchanged, nil
	} else if err != nil {
		return 0, d.store.whose(name, err)
	}
	d.done = true
	if fresh {
		did = created
	}
	return did, d.file.Close()
}

// equalFiles reports whether two files are regular and have the same content.
func equalFiles(a, b *os.File) bool {
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
