package jitted

// A Function is a function in JIT memory, as a record of a side file has it.
type Function struct {
	Addr, Size  uint64 // in the process, in bytes
	Index       uint64 // the code_index or method that the record gives
	Time        uint64 // of the record, by the file's clock
	Offset      int64  // of the record in the file
	End         int64  // of the record with the code, which is last in it
	PID         uint32 // 0 if the record does not say
	Gone        bool   // other code lies at its place
	WithoutCode bool   // the record lacks the bytes
}
