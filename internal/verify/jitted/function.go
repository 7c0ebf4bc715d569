package jitted

// A Function is what is kept of a load.
type Function struct {
	Addr, Size, Index uint64
	Time              uint64
	Offset            int64 // of its record
	End               int64 // of the record with its code, which is last in that
	PID               uint32
	Gone              bool // other code lies at its place
	Codeless          bool // the record lacks the bytes
}
