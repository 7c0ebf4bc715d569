package testrec

// featureFields are features by the HEADER_* number of perf's util/header.h.
var featureFields = map[int]string{
	3: "s", 4: "s", 5: "s", 6: "s", 8: "s", 9: "s", // HOSTNAME, OSRELEASE, VERSION, ARCH, CPUDESC, CPUID
	10: "*", 18: "*", 21: "*", 22: "*", 23: "*", 24: "*", // TOTAL_MEM, AUXTRACE, SAMPLE_TIME, MEM_TOPOLOGY, CLOCKID, DIR_FORMAT
	11: "ns", 14: "n488s", 16: "n4s", 17: "ns44", 20: "4n4444sss", // CMDLINE, NUMA_TOPOLOGY, PMU_MAPPINGS, GROUP_DESC, CACHE
	25: "4", 26: "4", 27: "44444", 28: "nss", 29: "4488", 30: "nss", // BPF_PROG_INFO, BPF_BTF (perf reads no foreign ones), COMPRESSED, CPU_PMU_CAPS, CLOCK_DATA, HYBRID_TOPOLOGY
}

// feature swaps the content of a feature. Features in another format (TRACING_DATA, BPF)
// and unknown ones stay as they are.
func (s *swapper) feature(id int, r *records) {
	switch id {
	case 2: // BUILD_ID: records of an i32 pid, an id and a name
		for len(s.b) >= 8 {
			s.fields("42")
			body := s.sub(int(s.u16()) - 8)
			body.u32()
			s.fail(body.err)
		}
	case 7: // NRCPUS: those there may be, those that were online
		r.cpus = int(s.u32())
		s.u32()
	case 12:
		s.eventDesc()
	case 13: // CPU_TOPOLOGY: siblings, core and socket of each CPU, perhaps dies and the die of each CPU
		s.fields("ns")
		s.fields("ns")
		s.u32s(2 * r.cpus)
		if len(s.b) > 0 {
			s.fields("ns")
			s.u32s(r.cpus)
		}
	case 31: // PMU_CAPS
		for n := s.u32(); n > 0 && len(s.b) > 0; n-- {
			s.fields("nss")
			s.fields("s")
		}
	default:
		s.fields(featureFields[id])
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
		s.fields("s")
		s.u64s(uint64(ids))
	}
}
