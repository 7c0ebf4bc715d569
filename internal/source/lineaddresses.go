package source

// A LineAddresses is the decision about the addresses of a dump's lines, with its evidence.
// Tables of V8's baseline compiler do not count: they are about bytecode.
type LineAddresses struct {
	Decision LineDecision
	Basis    LineBasis
	Skew     uint64 // in bytes: subtracted from each address, or considered

	Tables  int // tables with entries
	Rows    int // their entries
	Either  int // tables that fit the code both ways
	Neither int // tables that fit it neither way

	AsWritten AddressFit
	MovedBack AddressFit // by Skew

	// Early counts functions that got lines while the dump grew, and contradict later
	// evidence.
	Early int
}

// An AddressFit says how well addresses fit the code.
type AddressFit struct {
	Tables   int // tables that fit only this way
	Known    int // rows in the code that can be compared with starts of instructions
	AtStarts int // of these, rows at the start of an instruction
	Outside  int // rows before or after the code of their function
}

// A LineDecision is the decision about the addresses of lines.
type LineDecision string

const (
	LinesAsWritten     LineDecision = "as-written"    // right as written
	LinesMovedBack     LineDecision = "moved-back"    // a skew was added to all, and is subtracted
	LinesUndecided     LineDecision = "undecided"     // no evidence; used as written
	LinesContradictory LineDecision = "contradictory" // tables contradict each other; lines are not used
)

// A LineBasis is the evidence for a LineDecision.
type LineBasis string

const (
	ByInstructions LineBasis = "instructions" // entries are at starts of instructions only so
	ByExtent       LineBasis = "extent"       // entries are inside the code only so, or begin with it
	ByProducer     LineBasis = "producer"     // V8 is known to write them so
	ByNothing      LineBasis = "none"
)
