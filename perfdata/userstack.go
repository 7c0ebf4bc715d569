package perfdata

// UserStack returns the room of a SAMPLE record for its thread's user stack, and the size
// of the copy, in bytes [perf_event.h: size and dyn_size of PERF_SAMPLE_STACK_USER]. The
// room is the SIZE of perf record --call-graph dwarf,SIZE, or less if the record would be
// too large. The kernel copies from the stack pointer to the end of the room, or of the
// stack's memory. ok is false for a record without a stack, or an unreadable one.
func (ls *Layouts) UserStack(rec Record) (room, copied int, ok bool) {
	l := ls.of(rec)
	if l == nil || l.sampleType&FieldStackUser == 0 || l.tail.begin > len(rec.Data) {
		return 0, 0, false
	}
	has := func(f SampleType) bool { return l.sampleType&f != 0 }
	s := fields{data: rec.Data, at: l.tail.begin, order: ls.order}
	if has(FieldRead) {
		s.readFormat(l.tail.readFormat)
	}
	if has(FieldCallchain) {
		s.skip("callchain", s.count("callchain.nr"))
	}
	if has(FieldRaw) {
		s.raw()
	}
	if has(FieldBranchStack) {
		s.skipBranches(l.tail.branchType)
	}
	if has(FieldRegsUser) {
		s.skipRegisters(l.tail.regsUser)
	}
	at := s.at
	b := s.stack()
	if s.failed != "" || s.at == at+8 { // there is none
		return 0, 0, false
	}
	return s.at - at - 16, len(b), true
}

// skipBranches skips the fields that branches reads.
func (s *fields) skipBranches(branchType uint64) {
	n := s.count("branches.nr")
	if branchType&branchHWIndex != 0 {
		s.skip("branches.hw_idx", 1)
	}
	s.entries("branches", n, 3)
	if branchType&branchCounters != 0 {
		s.skip("branches.counters", n)
	}
}

// skipRegisters skips the fields that registers reads.
func (s *fields) skipRegisters(n uint64) {
	if abi := s.count("registers.abi"); abi == regsABI32 || abi == regsABI64 {
		s.skip("registers", n)
	} else if abi != 0 {
		s.fail("registers.abi", 0)
	}
}
