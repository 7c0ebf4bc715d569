package testrec

import "math/bits"

// An event is what its attr says about the event's records.
type event struct {
	sampleType, readFormat uint64
	branchType             uint64
	regsUser, regsIntr     uint64
	trailing               bool // sample_id_all
}

// attr swaps a perf_event_attr of any version.
func (s *swapper) attr() (e event) {
	s.u32s(2) // type, size
	s.u64s(2) // config, sample_period
	e.sampleType = s.u64()
	e.readFormat = s.u64()
	flags := s.bytes(8)
	e.trailing = s.flag(flags, 18)
	swapBits(flags)
	s.u32s(2) // wakeup_events, bp_type
	s.u64()   // config1: up to here, 64 bytes
	fields := []func(){
		func() { s.u64() }, // config2: 72
		func() { e.branchType = s.u64() },
		func() { e.regsUser = s.u64() },
		func() { s.u32s(2) }, // sample_stack_user, clockid
		func() { e.regsIntr = s.u64() },
		func() { s.u32(); s.u16(); s.u16() }, // aux_watermark, sample_max_stack, reserved
		func() { s.u32s(2) },                 // aux_sample_size, aux_action
		func() { s.u64() },                   // sig_data
	}
	for _, f := range fields {
		if len(s.b) >= 8 {
			f()
		}
	}
	s.rest() // config3, ...
	return e
}

// Bit fields begin at the low end of the first byte on little-endian machines,
// and at the high end on big-endian ones.
func swapBits(b []byte) {
	for i := range b {
		b[i] = bits.Reverse8(b[i])
	}
}

// flag returns the n-th bit field of one bit.
func (s *swapper) flag(b []byte, n int) bool {
	if n/8 >= len(b) {
		return false
	}
	if b := b[n/8]; s.from.Uint16([]byte{1, 0}) != 1 {
		return b>>(7-n%8)&1 != 0
	} else {
		return b>>(n%8)&1 != 0
	}
}
