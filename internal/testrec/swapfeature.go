package testrec

// feature swaps the content of a feature, by the HEADER_* number of perf's
// util/header.h. Features that are raw in another format (TRACING_DATA, BPF) and
// those that are not known here stay as they are.
func (s *swapper) feature(id int, r *records) {
	switch id {
	case 2: // BUILD_ID: records of an i32 pid, an id and a name
		for len(s.b) >= 8 {
			s.u32()
			s.u16()
			body := s.sub(int(s.u16()) - 8)
			body.u32()
			s.fail(body.err)
		}
	case 3, 4, 5, 6, 8, 9: // HOSTNAME, OSRELEASE, VERSION, ARCH, CPUDESC, CPUID
		s.string()
	case 7: // NRCPUS: those there may be, those that were online
		r.cpus = int(s.u32())
		s.u32()
	case 10, 21, 23, 24: // TOTAL_MEM, SAMPLE_TIME, CLOCKID, DIR_FORMAT
		s.rest()
	case 11: // CMDLINE
		s.strings(int(s.u32()))
	case 12:
		s.eventDesc()
	case 13:
		s.cpuTopology(r.cpus)
	case 14: // NUMA_TOPOLOGY
		for n := s.u32(); n > 0 && len(s.b) > 0; n-- {
			s.u32()
			s.u64s(2)
			s.string()
		}
	case 16: // PMU_MAPPINGS
		for n := s.u32(); n > 0 && len(s.b) > 0; n-- {
			s.u32()
			s.string()
		}
	case 17: // GROUP_DESC
		for n := s.u32(); n > 0 && len(s.b) > 0; n-- {
			s.string()
			s.u32s(2)
		}
	case 18: // AUXTRACE: the index
		s.rest()
	case 20: // CACHE
		s.u32()
		for n := s.u32(); n > 0 && len(s.b) > 0; n-- {
			s.u32s(4)
			s.strings(3)
		}
	case 22: // MEM_TOPOLOGY: three numbers, and for each node three and a bitmap, all u64
		s.rest()
	case 25, 26: // BPF_PROG_INFO, BPF_BTF: perf does not read foreign ones
		s.u32()
	case 27: // COMPRESSED
		s.u32s(5)
	case 28: // CPU_PMU_CAPS
		s.strings(2 * int(s.u32()))
	case 29: // CLOCK_DATA
		s.u32s(2)
		s.u64s(2)
	case 30: // HYBRID_TOPOLOGY
		s.strings(2 * int(s.u32()))
	case 31: // PMU_CAPS
		for n := s.u32(); n > 0 && len(s.b) > 0; n-- {
			s.strings(2*int(s.u32()) + 1)
		}
	}
}

// string swaps the length of a string, padding included, and passes over it.
func (s *swapper) string() { s.bytes(int(s.u32())) }

func (s *swapper) strings(n int) {
	for ; n > 0 && len(s.b) > 0; n-- {
		s.string()
	}
}

// eventDesc swaps the attrs with their names and ids.
func (s *swapper) eventDesc() {
	n, size := s.u32(), s.u32()
	for ; n > 0 && len(s.b) > 0; n-- {
		a := s.sub(int(size))
		a.attr()
		s.fail(a.err)
		ids := s.u32()
		s.string()
		s.u64s(uint64(ids))
	}
}

// cpuTopology swaps lists of siblings, then core and socket of each CPU, and, if
// the machine has such, lists of dies and the die of each CPU.
func (s *swapper) cpuTopology(cpus int) {
	s.strings(int(s.u32()))
	s.strings(int(s.u32()))
	s.u32s(2 * cpus)
	if len(s.b) > 0 {
		s.strings(int(s.u32()))
		s.u32s(cpus)
	}
}
