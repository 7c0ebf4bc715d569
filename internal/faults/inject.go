package faults

import (
	"fmt"
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
		f.what = fmt.Sprintf("call %d, %s(%s%s), fails with %v", f.N, c.Name, c.Path, to(c), f.err)
		return f.err
	case f.N != 0 && f.Every && f.calls > f.N && mayReturn(c.Name, f.err):
		return f.err
	}
	return nil
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

// More reports whether the call may return errors beyond Errno.
func (f *Fault) More() bool { return f.more }
