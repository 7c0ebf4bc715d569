package inject

// MaxHottest is how many functions a summary names.
const MaxHottest = 5

// A Hottest names the functions with the most samples. perf report --no-children shows the same: the
// shares are those of the periods of all samples of an event, in all processes and in the kernel.
type Hottest struct {
	// Event is the event that counts: the one with the most samples in jitted functions, and the first
	// of several such. It is "" if only one event has samples, or if its name is unknown.
	Event string `json:"event,omitempty"`

	// Functions are sorted by their shares, then by name and address. They are at most MaxHottest.
	Functions []HotFunction `json:"functions"`

	// Callers are functions that are in no sample themselves, as they only call others. They are of
	// dumps without a sample in a function, sorted like Functions, and have the numbers of the
	// callchains that they are in.
	Callers []HotFunction `json:"callers,omitempty"`
}

// A HotFunction is a function of a process, with all pieces of code that have its name, its tier and
// its place in the source.
type HotFunction struct {
	Name    string  `json:"name"`   // without marks of the runtime
	Symbol  string  `json:"symbol"` // name of the piece of code with the most samples, as in its object
	Tier    string  `json:"tier,omitempty"`
	PID     uint32  `json:"pid"` // of the dump
	Command string  `json:"command,omitempty"`
	Samples int64   `json:"samples"`
	Share   float64 `json:"share"` // of the event's samples, from 0 to 1

	// File and Line are where it begins. Line is 0 if that is unknown.
	File string `json:"file,omitempty"`
	Line int    `json:"line,omitempty"`

	// HotFile and HotLine are the line with the most of its samples, maybe of an inlined function.
	// HotLine is 0 if no sample has a line. HotShare is its share of the function's samples, from 0 to 1.
	HotFile    string  `json:"hot_file,omitempty"`
	HotLine    int     `json:"hot_line,omitempty"`
	HotSamples int64   `json:"hot_samples,omitempty"`
	HotShare   float64 `json:"hot_share,omitempty"`
}
