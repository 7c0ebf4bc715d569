package sys

import (
	"io/fs"
	"sync/atomic"

	"golang.org/x/sys/unix"
)

// A Call is a system call on files, as a Seam sees it. Calls that package os makes of several
// system calls have the name of the one that matters: ReadDir is getdents64.
type Call struct {
	Name  string // as in the kernel: openat, pwrite64
	Dir   int    // descriptor of the directory of Path, or AT_FDCWD
	Path  string // "" for a call on an open file
	ToDir int    // of renameat and linkat: directory of To
	To    string // of renameat, linkat and symlinkat
	FD    int    // descriptor of the open file; -1 without
	Flags int    // of openat and flock
	Data  []byte // what write and pwrite64 write. The Seam may not keep it.
	Off   int64  // file offset; -1: the current one
}

// A Seam sees the calls of a program. Several goroutines may call it at once.
type Seam interface {
	// Before sees a call that is about to be made. If it returns an error, the call is not made,
	// and returns that error: an errno.
	Before(*Call) error

	// After sees the result of a call that was made: a descriptor, a number of bytes, or 0.
	After(c *Call, n int, err error)
}

// current is the Seam in use, or nil.
var current atomic.Pointer[Seam]

// Use passes all calls to s until restore is called. It is for tests.
func Use(s Seam) (restore func()) {
	old := current.Swap(&s)
	return func() { current.Store(old) }
}

// maxInterrupts is how often a call is repeated that a signal interrupts. Only a faulty file system
// interrupts more calls in a row.
const maxInterrupts = 1000

// call makes a system call, past the seam.
func call(c Call, do func() (int, error)) (n int, err error) {
	for range maxInterrupts {
		if s := current.Load(); s == nil {
			n, err = do()
		} else {
			n, err = seen(*s, c, do)
		}
		if err != unix.EINTR {
			break
		}
	}
	return n, err
}

// seen makes a system call that a Seam sees.
func seen(s Seam, c Call, do func() (int, error)) (int, error) {
	if err := s.Before(&c); err != nil {
		return -1, err
	}
	n, err := do()
	s.After(&c, n, err)
	return n, err
}

// named adds a path to an errno, as package os does.
func named(op, path string, err error) error {
	if errno, ok := err.(unix.Errno); ok {
		return &fs.PathError{Op: op, Path: path, Err: errno}
	}
	return err
}
