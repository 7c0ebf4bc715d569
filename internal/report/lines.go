package report

// Addresses of the source lines of a dump.

// A LineAddresses says whether the addresses of a dump's lines are right, and by what
// evidence. Tables of V8's baseline compiler do not count: they are about bytecode.
type LineAddresses struct {
	// Decision is as-written, moved-back, undecided (no evidence; lines are used as written)
	// or contradictory (no lines are used).
	Decision string `json:"decision"`

	// Basis is the evidence: instructions (entries are at starts of instructions only so),
	// extent (entries are inside the code only so, or begin with it), producer (V8 is known
	// to write them so) or none.
	Basis string `json:"basis"`

	Skew    uint64 `json:"skew"`               // in bytes: subtracted from each address, or considered
	Tables  int    `json:"tables"`             // line tables with entries
	Rows    int    `json:"rows"`               // entries in them
	Either  int    `json:"tables_either_way"`  // tables that fit both as written and moved back
	Neither int    `json:"tables_neither_way"` // tables that fit neither way

	AsWritten AddressFit `json:"as_written"`
	MovedBack AddressFit `json:"moved_back"` // by Skew

	// Early counts functions that got lines while the dump grew, and contradict later
	// evidence.
	Early int `json:"early"`
}

// An AddressFit says how well the addresses of lines fit the code.
type AddressFit struct {
	Tables   int `json:"tables"`         // tables that fit only this way
	Known    int `json:"rows_known"`     // rows in the code that can be compared with starts of instructions
	AtStarts int `json:"rows_at_starts"` // of these, rows at the start of an instruction
	Outside  int `json:"rows_outside"`   // rows before or after the code of their function
}
