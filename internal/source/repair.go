package source

// DisplacedTables is the name of the repair of unwind tables that perf inject would hand
// on unreadable: the index is in front of them, or they tell of another place.
const DisplacedTables = "displaced-unwind-tables"

// A Fix is a quirk of a producer that was repaired.
type Fix struct {
	Name  string // short and stable
	Count int64
	Text  string // what Count counts, and what was done
}
