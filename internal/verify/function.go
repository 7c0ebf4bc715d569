package verify

// A function is what is kept of a load.
type function struct {
	addr, size, index uint64
	time              uint64
	offset            int64 // of its record
	end               int64 // of the record with its code, which is last in that
	pid               uint32
	gone              bool // other code lies at its place
	codeless          bool // the record lacks the bytes
}
