package faults

import (
	"fmt"
	"os"
	"runtime"
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
	sites []Site // of all calls
	what  string // the call that failed first
	file  string // the file that it was about, if it reads; or ""
	err   unix.Errno
	more  bool // the call has more errors
}

// Before fails the call, if it is its turn.
func (f *Fault) Before(c *sys.Call) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.sites = append(f.sites, here())
	switch calls := len(f.sites); {
	case calls == f.N:
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
	case f.N != 0 && f.Every && calls > f.N && mayReturn(c.Name, f.err):
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

// A Site is a place in the program and the way to it: the return addresses on the stack.
type Site [32]uintptr

func here() (s Site) {
	runtime.Callers(3, s[:])
	return s
}

// Sites returns where the calls were made, in their order.
func (f *Fault) Sites() []Site { return f.sites }

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
