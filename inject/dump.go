package inject

import "github.com/jitinject/jitinject/internal/report"

// A DumpSummary has the results for one side file.
type DumpSummary struct {
	PID     uint32 `json:"pid"`               // the process in the recording
	Command string `json:"command,omitempty"` // its name in the recording
	Kind    string `json:"kind"`              // one of the Kind constants
	Path    string `json:"path"`
	// Note says why this file was chosen among several.
	Note    string `json:"note,omitempty"`
	Objects string `json:"objects"` // directory of its objects
	// Captures is the number of captures that are one dump. Path is that of the first one.
	Captures  int `json:"captures,omitempty"`
	Functions int `json:"functions"` // loaded
	// Empty counts functions without code, which need no object.
	Empty int `json:"empty"`
	// Repeated counts functions loaded again with the same code at the same place.
	Repeated     int `json:"repeated"`
	Unreferenced int `json:"untouched"` // left out by Options.Sampled
	// Nowhere counts methods of a Mono log without an address. They are not in Functions.
	Nowhere int `json:"without_address"`
	// Merged counts further names in a Mono log, of functions that have one already.
	Merged int `json:"merged"`
	// WithoutCode counts functions with unknown code. Their objects have no code bytes.
	WithoutCode int `json:"codeless"`
	// CodeFiles counts files of Options.CodeFrom that belong to its process.
	CodeFiles int `json:"code_files"`
	// Late counts functions known to be loaded after the core dumps were taken.
	Late int `json:"late"`
	// InImages counts functions of a Mono log, or of a perf map, that are left to the symbols of
	// files.
	InImages int `json:"in_images"`
	// Elsewhere counts functions of a perf map outside executable memory: bytecode of V8.
	Elsewhere int `json:"elsewhere,omitempty"`
	// Overwritten counts functions of a perf map with addresses that later lines have as well.
	// They count only at the other addresses.
	Overwritten int    `json:"overwritten,omitempty"`
	WithLines   int    `json:"with_lines"`
	Inlining    int    `json:"with_inlines"` // functions into which calls were inlined
	Unwind      Unwind `json:"unwind"`
	// Frames is the obstacle to unwinding stacks through its functions, or "".
	Frames string `json:"frames,omitempty"`
	// Stacks is nil if no sample has a copy of the stack, or if samples were not counted.
	Stacks *StackSummary `json:"stacks,omitempty"`
	// Callers is nil if a sample is in one of its functions, or if callers were not counted.
	Callers *Callers    `json:"callers,omitempty"`
	Sources int         `json:"sources"` // source files in the dump
	Moved   int         `json:"moved"`
	Samples *JitSamples `json:"samples"` // nil if they were not counted
	Clock   Clock       `json:"clock"`
	Bytes   int64       `json:"bytes"` // the dump's size
	// Cut is the offset of a record that the end of the file cuts, or -1.
	Cut int64 `json:"cut"`
	// CutName is the function in that record, if its name is whole and all of its code is
	// missing.
	CutName string `json:"cut_name,omitempty"`
	Fixes   []Fix  `json:"repairs"`
	// Writer says whether the process still writes the file, if that is cut.
	Writer Writer `json:"-"`

	// Logs are logs of V8 that describe its functions.
	Logs []LogSummary `json:"logs,omitempty"`

	// Unlogged counts optimized functions of V8 that have no inlined calls because they are in no
	// log.
	Unlogged int `json:"unlogged,omitempty"`

	// LineAddresses is nil if it has no lines, or if its kind records no addresses of lines.
	LineAddresses *LineAddresses `json:"line_addresses,omitempty"`
}

// A Writer says what is known of the process that writes a dump.
type Writer uint8

const (
	WriterUnknown Writer = iota // also if the recording is of another machine
	WriterRuns
	WriterEnded
)

// A LogSummary has the results for a log of V8 that describes functions of a dump.
type LogSummary struct {
	Path      string `json:"path"`
	Bytes     int64  `json:"bytes"`     // its size
	Optimized int    `json:"optimized"` // code objects in it with lines and inlined calls
	Paired    int    `json:"paired"`    // of these, those that are in the dump
	Damaged   int    `json:"damaged"`   // lines that were left out
}

// Unwind counts functions by where their unwind tables come from.
type Unwind struct {
	Sent int `json:"sent"` // from the runtime
	// Fixed counts those of them that were in an order, or for a place, that perf cannot
	// follow.
	Fixed    int `json:"repaired"`
	Derived  int `json:"derived"`  // from the code
	Unplaced int `json:"unplaced"` // no address was free for them
}

// A Fix is a quirk of a producer that was fixed.
type Fix struct {
	Name  string `json:"name"`
	Count int64  `json:"count"`
	Text  string `json:"text"`
}

// A Clock describes the conversion of a dump's times into the recording's.
type Clock struct {
	Kind string `json:"kind"` // one of the constants below

	// Offset is what was added to the dump's times, in nanoseconds. Error bounds the error of
	// an estimated offset, in nanoseconds; it is -1 if there is no bound. An estimated offset
	// is never too large, so functions come a little early and never late. Both are for the
	// time when the dump was mapped. From then on the two clocks may have drifted apart.
	Offset int64 `json:"offset"`
	Error  int64 `json:"error"`
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

// A StackSummary counts the copies of stacks in the samples of a dump's process (perf record
// --call-graph dwarf). A full copy ends at the size limit: its outermost callers are missing,
// unless the stack has just that size.
type StackSummary struct {
	Samples int64 `json:"samples"` // with a copy
	Full    int64 `json:"full"`    // those with a full copy
	Room    int   `json:"room"`    // size of the largest copy, in bytes
	Used    int   `json:"-"`       // bytes of stack in the fullest copy
	// Own says that code of the process runs on a stack of its own: larger copies have no more callers.
	Own bool `json:"own,omitempty"`
}

// Callers counts the stacks of a dump's processes. It is there for dumps without a sample in a function.
type Callers struct {
	Stacks int64 `json:"stacks"` // callchains of user space
	With   int64 `json:"with"`   // those with a function of the dump
	Copies int64 `json:"copies"` // copies of stacks
	// Words counts those with an address in a function of the dump. perf may find it as a caller, or it
	// is left over from an earlier call.
	Words int64 `json:"words"`
}

// A LineAddresses says whether the addresses of a dump's lines are right, and how that was
// decided. Tables of V8's baseline compiler do not count: they describe bytecode.
type LineAddresses struct {
	// Decision is as-written, moved-back, undecided (lines are used as written) or
	// contradictory (no lines are used).
	Decision string `json:"decision"`

	// Basis is the reason of the decision: instructions, extent, producer or none. With
	// instructions, entries are at starts of instructions only this way. With extent, entries
	// are inside the code, or begin with it, only this way. With producer, V8 is known to
	// write them so.
	Basis string `json:"basis"`

	// Skew is subtracted from each address, or was considered for that, in bytes.
	Skew    uint64 `json:"skew"`
	Tables  int    `json:"tables"`             // line tables with entries
	Rows    int    `json:"rows"`               // entries in them
	Either  int    `json:"tables_either_way"`  // tables that fit both as written and moved back
	Neither int    `json:"tables_neither_way"` // tables that fit neither way

	// AsWritten says how well the addresses fit unchanged.
	AsWritten AddressFit `json:"as_written"`
	// MovedBack says how well they fit with Skew subtracted.
	MovedBack AddressFit `json:"moved_back"`
}

// An AddressFit says how well the addresses of lines fit the code.
type AddressFit struct {
	Tables int `json:"tables"` // tables that fit only this way
	// Known counts rows in code for which the starts of instructions are known.
	Known    int `json:"rows_known"`
	AtStarts int `json:"rows_at_starts"` // of these, rows at the start of an instruction
	Outside  int `json:"rows_outside"`   // rows before or after the code of their function
}

// CutText says that the file ends too early. It is for dumps with a Cut that is not -1.
func (d *DumpSummary) CutText() string { return d.reported().CutText() }

// CutAdvice returns advice about that.
func (d *DumpSummary) CutAdvice() string { return d.reported().CutAdvice(report.Setting.String) }

// reported returns d as the engine has it.
func (d *DumpSummary) reported() *report.DumpSummary {
	r := new(report.DumpSummary)
	convert(r, d)
	return r
}
