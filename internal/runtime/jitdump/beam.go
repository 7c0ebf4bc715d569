package jitdump

// Quirks of BeamAsm, the JIT compiler of Erlang.

// maxTID is the largest possible thread id (PID_MAX_LIMIT of linux/threads.h). BeamAsm writes
// pthread handles.
const maxTID = 1 << 22

// thread returns the thread of a record, or the process if the id is impossible.
func (s *scanner) thread(pid, tid uint32) uint32 {
	if tid > maxTID {
		s.fixes.tids.Add(1)
		return pid
	}
	return tid
}

// maxBefore is how far before a function, in bytes, an entry may lie that still describes its first
// instructions. Entries of BeamAsm lie up to 0x37 before, at the function's header.
const maxBefore = 4 << 10
