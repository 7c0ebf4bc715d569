package report

// A Clock describes the conversion of a dump's times into the recording's.
type Clock struct {
	Kind   string `json:"kind"` // one of the constants below
	Offset int64  `json:"offset"`
	Error  int64  `json:"error"`
}

// These values are the kinds of clocks.
const (
	ClockMonotonic = "monotonic" // the recording's times are the dump's
	// ClockTSC means that the recording says how to convert counts of the processor.
	ClockTSC       = "tsc"
	ClockEstimated = "estimated" // the offset was estimated from the recording
	// ClockOther means that the recording's clock is CLOCK_MONOTONIC, and the dump's is another. The
	// offset was estimated from the recording.
	ClockOther = "other"
	// ClockRealtime means that the dump's times are of CLOCK_REALTIME, and the offset was
	// estimated or measured.
	ClockRealtime = "realtime"
	ClockGiven    = "given" // by Options.Clock
	ClockStart    = "start" // the dump has no times: functions are there from the start
	// ClockNone means that the times cannot be matched: functions are there from the start.
	ClockNone = "none"
)

// MaxHottest is how many functions a summary names.
const MaxHottest = 5

// A Hottest names the functions with the most samples. perf report --no-children shows the same: the
// shares are those of the periods of all samples of an event, in all processes and in the kernel.
type Hottest struct {
	Event     string        `json:"event,omitempty"`
	Functions []HotFunction `json:"functions"`
	Callers   []HotFunction `json:"callers,omitempty"`
}

// A HotFunction is a function of a process, with all pieces of code that have its name, its tier and
// its place in the source.
type HotFunction struct {
	Name       string  `json:"name"`   // without marks of the runtime
	Symbol     string  `json:"symbol"` // name of the piece of code with the most samples, as in its object
	Tier       string  `json:"tier,omitempty"`
	PID        uint32  `json:"pid"` // of the dump
	Command    string  `json:"command,omitempty"`
	Samples    int64   `json:"samples"`
	Share      float64 `json:"share"` // of the event's samples, from 0 to 1
	File       string  `json:"file,omitempty"`
	Line       int     `json:"line,omitempty"`
	HotFile    string  `json:"hot_file,omitempty"`
	HotLine    int     `json:"hot_line,omitempty"`
	HotSamples int64   `json:"hot_samples,omitempty"`
	HotShare   float64 `json:"hot_share,omitempty"`
}

// This file describes the addresses of the source lines of a dump.

// A LineAddresses says whether the addresses of a dump's lines are right, and how that was
// decided. Tables of V8's baseline compiler do not count: they describe bytecode.
type LineAddresses struct {
	Decision  string     `json:"decision"`
	Basis     string     `json:"basis"`
	Skew      uint64     `json:"skew"`
	Tables    int        `json:"tables"`             // line tables with entries
	Rows      int        `json:"rows"`               // entries in them
	Either    int        `json:"tables_either_way"`  // tables that fit both as written and moved back
	Neither   int        `json:"tables_neither_way"` // tables that fit neither way
	AsWritten AddressFit `json:"as_written"`
	MovedBack AddressFit `json:"moved_back"`
}

// An AddressFit says how well the addresses of lines fit the code.
type AddressFit struct {
	Tables   int `json:"tables"` // tables that fit only this way
	Known    int `json:"rows_known"`
	AtStarts int `json:"rows_at_starts"` // of these, rows at the start of an instruction
	Outside  int `json:"rows_outside"`   // rows before or after the code of their function
}

// A StackSummary counts the copies of stacks in the samples of a dump's process (perf record
// --call-graph dwarf). A full copy ends at the size limit: its outermost callers are missing,
// unless the stack has just that size.
type StackSummary struct {
	Samples int64 `json:"samples"` // with a copy
	Full    int64 `json:"full"`    // those with a full copy
	Room    int   `json:"room"`    // size of the largest copy, in bytes
	Used    int   `json:"-"`       // bytes of stack in the fullest copy
	Own     bool  `json:"own,omitempty"`
}

// Callers counts the stacks of a dump's processes. It is there for dumps without a sample in a function.
type Callers struct {
	Stacks int64 `json:"stacks"` // callchains of user space
	With   int64 `json:"with"`   // those with a function of the dump
	Copies int64 `json:"copies"` // copies of stacks
	Words  int64 `json:"words"`
}

// A TraceSummary has the results for one log of calls.
type TraceSummary struct {
	PID       uint32       `json:"pid"`
	Command   string       `json:"command,omitempty"`
	Path      string       `json:"path"`
	Event     string       `json:"event"`   // name of the event of its samples
	Threads   int64        `json:"threads"` // number of threads that logged anything
	Unknown   int          `json:"unknown_threads"`
	Calls     int64        `json:"calls"` // samples of the event
	Notes     int64        `json:"notes"`
	Inferred  int64        `json:"inferred"`
	Unmatched int64        `json:"unmatched"`
	Gaps      int64        `json:"gaps"`     // places where a thread's log is missing
	Backward  int64        `json:"backward"` // entries that were older than the one before
	TooDeep   int64        `json:"too_deep"`
	Cut       int64        `json:"cut"`       // callchains without the calls in the middle
	CutNotes  int64        `json:"cut_notes"` // notes that lost their ends
	Traced    uint64       `json:"traced_ns"` // sum of exclusive times
	Early     int64        `json:"early"`     // samples before all times of the recording
	Late      int64        `json:"late"`      // samples after the end of the recording
	Clock     Clock        `json:"clock"`
	XRay      *XRaySummary `json:"xray,omitempty"` // data that only traces of XRay have
}

// Programs that clang built with -fxray-instrument write traces of XRay. They log every call of a
// function by its number and a count of the processor's clock. The program has the meaning of the
// numbers. The recording has its location in memory.

// An XRaySummary has the results for a trace that only XRay has.
type XRaySummary struct {
	Format    int     `json:"format"`  // the version of the format
	Buffers   int     `json:"buffers"` // number of buffers of the process
	More      int     `json:"more"`
	Program   string  `json:"program"` // where functions were looked up
	Unchecked bool    `json:"unchecked"`
	Functions int     `json:"functions"` // number of functions in it, called or not
	Claimed   uint64  `json:"claimed_hz"`
	Frequency float64 `json:"frequency_hz"` // frequency that was used
	Measured  bool    `json:"measured"`
	Emulated  bool    `json:"emulated"` // the counts are nanoseconds of CLOCK_REALTIME
	Anchors   int     `json:"anchors"`
	Fixes     []Fix   `json:"repairs"`
}
