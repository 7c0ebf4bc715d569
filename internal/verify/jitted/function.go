package jitted

// A Function is a function in JIT memory, as a record of a side file has it.
type Function struct {
	Addr, Size uint64 // in the process, in bytes
	Offset     int64  // of the record in the file
	PID        uint32 // 0 if the record does not say
	Gone       bool   // other code lies at its place
}
