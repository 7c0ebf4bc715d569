package source

// A Problem is a fault in a side file that cost information.
type Problem struct {
	Offset int64  // in the side file, in bytes
	Text   string // a sentence that includes the offset
}

// MaxProblems bounds how many problems of one file are kept. Further problems are only counted.
const MaxProblems = 50

// A Clock is the clock that a dump's times are read from.
type Clock int

const (
	MonotonicClock Clock = iota // nanoseconds of CLOCK_MONOTONIC
	ArchClock                   // ticks of the processor's counter
	UnknownClock                // the header has nothing usable; the clock follows from the times
)

// DisplacedTables is the name of the fix for unwind tables that are unreadable in perf inject's
// output: their index precedes them, or they describe another place.
const DisplacedTables = "displaced-unwind-tables"

// A Fix is a quirk of a producer that was fixed.
type Fix struct {
	Name  string // short and stable
	Count int64
	Text  string // description of the counted things, and of the fix
}

// Limits for events and functions.

// MaxRange is the size of the longest plausible function, in bytes.
const MaxRange = 16 << 20

// MinCode and MaxCodeAddr bound the addresses of code. By default, the kernel maps nothing below
// MinCode (vm.mmap_min_addr). Memory from MaxCodeAddr on is the kernel's.
const (
	MinCode     = 64 << 10
	MaxCodeAddr = 1 << 63
)

// A Comparer is a Dump that can find repeated functions.
type Comparer interface {
	// Same returns a function that reports whether two functions have the same name, code, lines,
	// inlined calls and unwind tables. Only one goroutine may use it.
	Same() func(i, j int) bool
}

// A LineAddresses is the decision about the addresses of a dump's lines, with its basis. Tables of
// V8's baseline compiler do not count, because they describe bytecode.
type LineAddresses struct {
	Decision LineDecision
	Basis    LineBasis
	Skew     uint64 // in bytes: subtracted from each address, or considered

	Tables  int // tables with entries
	Rows    int // entries of these tables
	Either  int // tables that fit the code both ways
	Neither int // tables that fit the code neither way

	AsWritten AddressFit
	MovedBack AddressFit // by Skew
}

// An AddressFit counts how well addresses fit the code.
type AddressFit struct {
	Tables   int // tables that fit only this way
	Known    int // rows in the code that can be compared with starts of instructions
	AtStarts int // those of Known at the start of an instruction
	Outside  int // rows before or after the code of their function
}

// A LineDecision is the decision about the addresses of lines.
type LineDecision string

const (
	LinesAsWritten     LineDecision = "as-written"    // right as written
	LinesMovedBack     LineDecision = "moved-back"    // a skew was added to all, and is subtracted
	LinesUndecided     LineDecision = "undecided"     // nothing decides it; used as written
	LinesContradictory LineDecision = "contradictory" // tables contradict each other; lines are not used
)

// A LineBasis is the reason for a LineDecision.
type LineBasis string

const (
	ByInstructions LineBasis = "instructions" // only this way, entries are at starts of instructions
	ByExtent       LineBasis = "extent"       // only this way, entries are in the code, or begin with it
	ByProducer     LineBasis = "producer"     // V8 is known to write them this way
	// no reason: the decision is LinesUndecided
	ByNothing LineBasis = "none"
)
