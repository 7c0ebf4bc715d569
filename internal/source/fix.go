package source

// DisplacedTables is the name of the fix for unwind tables that are unreadable in perf inject's
// output: their index precedes them, or they describe another place.
const DisplacedTables = "displaced-unwind-tables"

// A Fix is a quirk of a producer that was fixed.
type Fix struct {
	Name  string // short and stable
	Count int64
	Text  string // description of the counted things, and of the fix
}
