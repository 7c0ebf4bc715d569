package report

// This file describes the addresses of the source lines of a dump.

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
