package faults

import (
	"fmt"
	"os"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/jitinject/jitinject/internal/safefile/sys"
)

// A Fault is a sys.Seam that lets one call fail, or all from one on.
type Fault struct {
	N     int    // the number of the first call that fails, from 1 on; 0: none
	Every bool   // so do all later calls that may return Errno
	Errno uint16 // index into the errors of that call; see Errnos

	mu    sync.Mutex
	calls int
	what  string // the call that failed first
	file  string // the file that it was about, if it reads; or ""
	err   unix.Errno
	more  bool // the call has more errors
}

// Before fails the call, if it is its turn.
func (f *Fault) Before(c *sys.Call) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls++
	switch {
	case f.calls == f.N:
		errnos := Errnos(c.Name)
		i := min(int(f.Errno), len(errnos)-1) // two runs may have their calls in another order
		f.err, f.more = errnos[i], i+1 < len(errnos)
		path := c.Path
		if path == "" {
			path, _ = os.Readlink(fmt.Sprintf("/proc/self/fd/%d", c.FD))
		}
		if reads(c) {
			f.file = path
		}
		f.what = fmt.Sprintf("call %d, %s(%s%s), fails with %v", f.N, c.Name, path, to(c), f.err)
		return f.err
	case f.N != 0 && f.Every && f.calls > f.N && mayReturn(c.Name, f.err):
		return f.err
	}
	return nil
}

// reads reports whether a call reads files, directories or their states.
func reads(c *sys.Call) bool {
	switch c.Name {
	case "openat", "openat2":
		return c.Flags&unix.O_CREAT == 0
	case "read", "pread64", "lseek", "fstat", "newfstatat", "getdents64", "readlinkat":
		return true
	}
	return false
}

func to(c *sys.Call) string {
	if c.To == "" {
		return ""
	}
	return ", " + c.To
}

// After does nothing.
func (f *Fault) After(*sys.Call, int, error) {}

// Calls returns how many calls there were.
func (f *Fault) Calls() int { return f.calls }

// Happened returns which call failed, or "".
func (f *Fault) Happened() string {
	if f.what != "" && f.Every {
		return f.what + ", and so do all later ones"
	}
	return f.what
}

// File returns the path of the file that the call was about that failed first, or "" if it was not one
// that reads.
func (f *Fault) File() string { return f.file }

// More reports whether the call may return errors beyond Errno.
func (f *Fault) More() bool { return f.more }
