package testrec

import (
	"encoding/binary"
	"math/bits"
)

// Bits of sample_type that matter only to who walks a whole sample.
const (
	sampleRead      = 1 << 4
	sampleCallchain = 1 << 5
	sampleRaw       = 1 << 10
	sampleBranches  = 1 << 11
	sampleRegsUser  = 1 << 12
	sampleStackUser = 1 << 13
	sampleRegsIntr  = 1 << 18
	sampleAux       = 1 << 20
)

// sample swaps the body of a sample, its fields in their order [perf_event.h,
// PERF_RECORD_SAMPLE].
func (s *swapper) sample(e event) {
	has := func(bit uint64) bool { return e.sampleType&bit != 0 }
	s.u64s(count(e.sampleType, Identifier, IP))
	if has(TID) {
		s.u32s(2)
	}
	s.u64s(count(e.sampleType, Time, Addr, ID, StreamID))
	if has(CPU) {
		s.u32s(2)
	}
	s.u64s(count(e.sampleType, Period))
	if has(sampleRead) {
		s.readValues(e.readFormat)
	}
	if has(sampleCallchain) {
		s.u64s(s.u64())
	}
	if has(sampleRaw) { // in the order of the tracepoint's own fields
		s.bytes(int(s.u32()))
	}
	if has(sampleBranches) {
		s.branches(e.branchType)
	}
	if has(sampleRegsUser) {
		s.registers(e.regsUser)
	}
	if has(sampleStackUser) { // words, as pointers are what unwinders look for
		if size := s.u64(); size != 0 {
			s.u64s(size / 8)
			s.u64()
		}
	}
	// WEIGHT, or three numbers laid out as a bit field is; DATA_SRC, which is
	// declared for both orders; TRANSACTION
	s.u64s(count(e.sampleType, 1<<14|1<<24, 1<<15, 1<<17))
	if has(sampleRegsIntr) {
		s.registers(e.regsIntr)
	}
	s.u64s(count(e.sampleType, 1<<19, 1<<21, 1<<22, 1<<23)) // PHYS_ADDR, CGROUP, page sizes
	if has(sampleAux) {
		s.bytes(int(s.u64()))
	}
}

// count returns how many of the fields there are.
func count(sampleType uint64, fields ...uint64) (n uint64) {
	for _, f := range fields {
		if sampleType&f != 0 {
			n++
		}
	}
	return n
}

// readValues swaps counts of one event or of a group [struct read_format].
func (s *swapper) readValues(format uint64) {
	const enabled, running, id, group, lost = 1, 2, 4, 8, 16
	times := uint64(bits.OnesCount64(format & (enabled | running)))
	each := 1 + uint64(bits.OnesCount64(format&(id|lost)))
	if format&group == 0 {
		s.u64s(each + times)
		return
	}
	n := s.u64()
	s.u64s(times + n*each)
}

func (s *swapper) registers(mask uint64) {
	if abi := s.u64(); abi != 0 {
		s.u64s(uint64(bits.OnesCount64(mask)))
	}
}

// branches swaps a branch stack. The flags of an entry are bit fields of several
// bits, declared for one order only.
func (s *swapper) branches(branchType uint64) {
	const hwIndex, counters = 1 << 17, 1 << 19
	n := s.u64()
	if branchType&hwIndex != 0 {
		s.u64()
	}
	for range n {
		s.u64s(2) // from, to
		if b := s.bytes(8); len(b) == 8 && s.err == nil {
			s.branchFlags(b)
		}
	}
	if branchType&counters != 0 {
		s.u64s(n)
	}
}

// branchFlags moves every field of perf_branch_entry to the other end of the word.
func (s *swapper) branchFlags(b []byte) {
	widths := []int{1, 1, 1, 1, 16, 4, 2, 4, 3, 31} // mispred, predicted, in_tx, abort, cycles, type, spec, new_type, priv, reserved
	in, out := s.from.Uint64(b), uint64(0)
	little := s.from == Order(binary.LittleEndian)
	low := 0
	for _, w := range widths {
		high := 64 - low - w
		from, to := low, high
		if !little {
			from, to = high, low
		}
		out |= in >> from & (1<<w - 1) << to
		low += w
	}
	if little {
		binary.BigEndian.PutUint64(b, out)
	} else {
		binary.LittleEndian.PutUint64(b, out)
	}
}
