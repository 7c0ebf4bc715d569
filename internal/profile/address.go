package profile

import "github.com/jitinject/jitinject/perfdata"

// This file corrects where samples were taken: a sample has an address beside its stack, and perf report
// and perf annotate count that.
//
//   - perf drops a whole stack if one of its addresses is no address, as code without frame pointers
//     leaves them. perf script then prints the sample without any frame.
//   - Events with precise addresses (cycles:P, the default on many machines) have the instruction at
//     which the event happened. The stack of such a sample begins some instructions later, where the
//     processor was interrupted.

// Bits of perf_event_attr: precise_ip, of two bits [perf_event.h].
const (
	flagPrecise    perfdata.AttrFlag = 15
	flagPreciseTop perfdata.AttrFlag = 16
)

// needsAddresses reports whether a sample's stack does not say where it was taken.
func (t *tables) needsAddresses() bool {
	if t.rec.precise && t.rec.fields&perfdata.FieldCallchain != 0 {
		return true
	}
	for i := range t.profile.Samples {
		if t.profile.Samples[i].Stack < 0 {
			return true
		}
	}
	return false
}

// setAddress sets where a sample was taken, by perf script's text about its address alone. i is the
// sample's index. If the stack begins in another function, that is taken for the caller: so perf report
// counts it.
func (t *tables) setAddress(i int, of *scriptSample, d dialect) {
	if i >= len(t.profile.Samples) || of.head == nil {
		return
	}
	s := &t.profile.Samples[i]
	if s.Time != of.time || s.Thread != t.thread(threadID{of.pid, of.tid}) || s.Stack >= 0 && !t.rec.precise {
		return
	}
	t.chain = t.chain[:0]
	t.addFrame(of, of.head, d, false)
	if len(t.chain) == 0 {
		return
	}
	own := t.chain[0]
	caller := s.Stack
	if caller >= 0 {
		innermost := t.stacks[caller]
		if t.places[innermost.Frame].function == t.places[own].function {
			caller = innermost.Caller
		}
	}
	s.Stack = intern(&t.stacks, t.stackOf, Stack{Caller: caller, Frame: own})
}
