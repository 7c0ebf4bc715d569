package watcher

import (
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// A Mode says what this process is.
type Mode int32

const (
	// Alone: no watcher watches this process.
	Alone Mode = iota
	// Watched: a watcher watches this process.
	Watched
	// After: this process was started because the watched one has crashed, or exited with
	// ExitAbandoned.
	After
)

// Started returns what this process is.
func Started() Mode { return state.mode }

// Status returns how the watched process has ended, in mode After.
func Status() unix.WaitStatus { return unix.WaitStatus(state.status) }

// CPU returns the CPU time of the watched process, in mode After.
func CPU() time.Duration {
	return time.Duration(state.usage.Utime.Nano() + state.usage.Stime.Nano())
}

// Stderr returns standard error. Descriptor 2 of a watched process is a file in memory, for the last
// words of the runtime.
func Stderr() *os.File {
	if state.file == 0 {
		return os.Stderr
	}
	return os.NewFile(uintptr(state.stderr), "/dev/stderr")
}

// LastWords returns what the runtime of the watched process wrote to descriptor 2, up to 1 MiB.
// ok is false if it wrote to standard error.
func LastWords() (text string, ok bool) {
	if state.mode != After || state.file == 0 {
		return "", false
	}
	b := make([]byte, 1<<20)
	n := 0
	for n < len(b) {
		got, err := unix.Pread(2, b[n:], int64(n))
		if err == unix.EINTR {
			continue
		}
		if got <= 0 {
			break
		}
		n += got
	}
	return string(b[:n]), true
}

// Memory returns zeroed memory, the same for each call. A process in mode After shares it with the
// watched one before it. Memory returns nil if there is too little of it.
func Memory() []byte {
	if state.memory != 0 {
		return memory()
	}
	return ownMemory()
}

// ownMemory returns memory that is not shared.
var ownMemory = sync.OnceValue(func() []byte {
	b, err := unix.Mmap(-1, 0, memorySize, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS|unix.MAP_NORESERVE)
	if err != nil {
		return nil
	}
	return b
})
