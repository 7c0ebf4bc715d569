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
	s.fields("4488") // type, size, config, sample_period
	e.sampleType = s.u64()
	e.readFormat = s.u64()
	flags := s.bytes(8)
	e.trailing = s.flag(flags, 18)
	swapBits(flags)
	s.fields("448") // wakeup_events, bp_type, config1: up to here, 64 bytes
	for i := range 8 {
		switch {
		case len(s.b) < 8:
		case i == 1:
			e.branchType = s.u64()
		case i == 2:
			e.regsUser = s.u64()
		case i == 4:
			e.regsIntr = s.u64()
		default: // config2; sample_stack_user, clockid; aux_watermark, sample_max_stack, reserved; aux_sample_size, aux_action; sig_data
			s.fields([]string{"8", "", "", "44", "", "422", "44", "8"}[i])
		}
	}
	s.fields("*") // config3, ...
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
