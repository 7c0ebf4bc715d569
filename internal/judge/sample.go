package judge

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
)

// A Sample is one sample as perf script shows it.
type Sample struct {
	Comm     string // the thread's name
	PID, TID int
	Time     uint64 // nanoseconds of the recording's clock
	Event    string
	Frames   []Frame // the sample's own function first; empty if perf shows none
}

// A Frame is one entry of a sample's call chain.
type Frame struct {
	// Addr is the address that perf prints. perf 5.18 to 6.2 print the offset in the file
	// for user space, other versions the address in memory.
	Addr    uint64
	Symbol  string // "" if perf shows [unknown]
	Offset  uint64 // from the symbol's start, in bytes; 0 if perf prints none
	DSO     string // the mapped file, or a name such as [kernel.kallsyms], //anon, [unknown]
	Line    string // perf's text for the field srcline; "" without it
	Inlined bool   // perf marks the frame as inlined into the next one
}

// jitObject matches the base names of objects written by perf inject and jitinject.
var jitObject = regexp.MustCompile(`^jit(ted|bundle)-.*\.so$`)

// Jitted reports whether the frame is in an object made of a jitdump.
func (f *Frame) Jitted() bool { return jitObject.MatchString(filepath.Base(f.DSO)) }

// Unmapped reports whether no mapping of the recording holds the frame's address.
func (f *Frame) Unmapped() bool { return f.Symbol == "" && f.DSO == "[unknown]" }

// Anonymous reports whether the frame is in memory that belongs to no file: unnamed code of
// a JIT compiler.
func (f *Frame) Anonymous() bool {
	switch d := f.DSO; {
	case d == "[unknown]", d == "//anon", strings.HasPrefix(d, "[anon:"), strings.HasPrefix(d, "/memfd:"), strings.HasPrefix(d, "/dev/zero"):
		return true
	default:
		return strings.HasPrefix(d, "/tmp/perf-") && strings.HasSuffix(d, ".map")
	}
}

func (f *Frame) String() string {
	switch {
	case f.Symbol == "":
		return fmt.Sprintf("%#x [unknown] (%s)", f.Addr, f.DSO)
	case f.Inlined:
		return f.Symbol + " (inlined)"
	default:
		return fmt.Sprintf("%s+%#x (%s)", f.Symbol, f.Offset, f.DSO)
	}
}

// bottom matches the first functions of a process and of a thread, in glibc and musl.
var bottom = regexp.MustCompile(`^(_start|_start_c|__libc_start\w*|(__)?clone3?|start_thread|thread_start)(@.*)?$`)

// libc matches the base names of C libraries.
var libc = regexp.MustCompile(`^(libc\.so\.6|libc\.musl-.*|ld-musl-.*)$`)

// Whole reports whether the stack reaches the bottom: its last frame is the first function
// of the process or of the thread. In files without symbols, that is the frame after
// __libc_start_main, or the second of two unnamed frames of the C library at the end. Its
// unwind tables are complete.
func (s *Sample) Whole() bool {
	n := len(s.Frames)
	if n == 0 {
		return false
	}
	last := &s.Frames[n-1]
	if bottom.MatchString(last.Symbol) {
		return true
	}
	if n < 2 || last.Symbol != "" || last.Anonymous() {
		return false
	}
	before := &s.Frames[n-2]
	return strings.HasPrefix(before.Symbol, "__libc_start_main") ||
		n > 2 && before.Symbol == "" && before.DSO == last.DSO && libc.MatchString(filepath.Base(last.DSO))
}

// Jitted reports whether a frame of the stack is in an object made of a jitdump.
func (s *Sample) Jitted() bool {
	for i := range s.Frames {
		if s.Frames[i].Jitted() {
			return true
		}
	}
	return false
}

func (s *Sample) String() string {
	return fmt.Sprintf("%s %d/%d %d.%09d %s", s.Comm, s.PID, s.TID, s.Time/1e9, s.Time%1e9, s.Event)
}
