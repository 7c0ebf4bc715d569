package source

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
