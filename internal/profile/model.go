package profile

import "github.com/jitinject/jitinject/internal/tier"

// A Profile has the samples of one recording.
type Profile struct {
	Recording Recording
	Events    []string // names as perf prints them, with modifiers
	Threads   []Thread
	Functions []Function
	Frames    []Frame
	Stacks    []Stack  // after their callers
	Samples   []Sample // in the order of the recording
}

// A Recording says what was recorded. Texts are "" if the recording does not have them.
type Recording struct {
	Path      string // of the file that was read
	Command   string // perf's command line
	Host, CPU string // name of the machine, description of its processor
	Kernel    string // its release
	Arch      string
	Date      string   // when it was recorded, as perf prints it
	Perf      string   // version of perf
	Frequency uint64   // samples per second; 0 if a period was given
	Lost      uint64   // samples that the kernel dropped
	Warnings  []string // in plain words
}

// A Thread is a thread of a recorded process.
type Thread struct {
	PID, TID uint32
	Process  string // name of the process: that of its main thread, at the end
	Name     string // of the thread, at the end
}

// A Kind says where code comes from.
type Kind uint8

const (
	Unknown Kind = iota // no symbol
	Kernel
	Native // of a file
	JIT    // of an object that jitinject made, or of a perf map
)

// A Function is a symbol of an object, or a function that was inlined.
type Function struct {
	Name   string // for people: without the marks of the tier
	Symbol string // as perf prints it; [unknown] if it knows none
	Object string // path of the file that has it, "" if unknown; [kernel.kallsyms] and such as perf prints it
	Kind   Kind
	Tier   tier.Tier
	File   string // of the source, "" if unknown
	Line   int    // where it begins, 0 if unknown
}

// A Frame is a place in a function.
type Frame struct {
	Function int    // index
	Line     int    // in the function's file, 0 if unknown
	Addr     uint64 // of the instruction, in the process, as perf prints it; the same for the inlined calls there
	Inlined  bool   // into the next frame outwards
}

// A Stack is a frame with its callers.
type Stack struct {
	Caller int // index of the stack without the frame, -1 for none
	Frame  int // index of the innermost frame
}

// A Sample is one sample.
type Sample struct {
	Time   uint64 // nanoseconds of the recording's clock
	Period uint64 // its weight, in the event's unit
	Stack  int    // index of its stack, -1 for none
	Thread int    // index
	Event  int    // index
}
