package perfdata

import (
	"encoding/binary"
	"fmt"
)

// Touches are the addresses that a record names: where its process was, where it
// came from and what it held. The slices are good up to the next record that is
// read into the same Touches, and Stack as long as the record's block.
type Touches struct {
	PID, TID uint32
	Time     uint64 // nanoseconds of the recording's clock; 0 if the record has none

	// Addrs are, as far as the record has them: the address of the sample, the data
	// address, the entries of the callchain without PERF_CONTEXT markers, both ends
	// of the branches, and the values of the registers. Those of the kernel are among
	// them, and numbers that are no addresses.
	Addrs []uint64

	// Stack is the copy of the user's stack, as much as the kernel could copy; empty
	// where there is none. WordSize is that of the process, 4 or 8 bytes.
	Stack    []byte
	WordSize int

	// Traced says that the sample carries a piece of a hardware trace
	// (PERF_SAMPLE_AUX), which may lead anywhere.
	Traced bool

	order   binary.ByteOrder
	stackAt int // where in the record the stack's size is; 0 if it has none
}

// Touches reads what a SAMPLE or a CALLCHAIN_DEFERRED record touches into t. Other
// records touch nothing.
//
// It is an error if the record is shorter than its counts say, if it does not say
// of which process it is, or if nobody knows what is in it: its event is not among
// the attrs, or has fields that are newer than this package ([Layouts.CanTouch]
// tells that before any record comes). t then holds nothing of use.
//
// The order of the fields is that of PERF_RECORD_SAMPLE in linux/perf_event.h.
func (ls *Layouts) Touches(rec Record, t *Touches) error {
	t.PID, t.TID, t.Time, t.Traced = 0, 0, 0, false
	t.Addrs, t.Stack, t.WordSize, t.order, t.stackAt = t.Addrs[:0], nil, 8, ls.order, 0
	switch rec.Type {
	case RecordSample:
		return ls.sampleTouches(rec, t)
	case RecordCallchainDeferred:
		return ls.deferredTouches(rec, t)
	}
	return nil
}

// CanTouch says whether [Layouts.Touches] can read the samples of all events: an
// error tells which one has fields that are unknown, or no process.
func (ls *Layouts) CanTouch() error {
	for i := range ls.layouts {
		if err := ls.layouts[i].canTouch(); err != nil {
			return fmt.Errorf("%s: event %d: %w", FormatName, i, err)
		}
	}
	return nil
}

func (l *layout) canTouch() error {
	switch unknown := l.sampleType &^ knownFields; {
	case unknown != 0:
		return fmt.Errorf("its samples have fields that are not known here (sample_type %#x)", uint64(unknown))
	case l.sampleTID == 0:
		return fmt.Errorf("its samples do not say of which process they are")
	case l.tail.branchType&^knownBranches != 0 && l.sampleType&FieldBranchStack != 0:
		return fmt.Errorf("its branch stacks have fields that are not known here (branch_sample_type %#x)", l.tail.branchType&^knownBranches)
	case l.tail.readFormat&^knownReads != 0 && l.sampleType&FieldRead != 0:
		return fmt.Errorf("its counts have fields that are not known here (read_format %#x)", l.tail.readFormat&^knownReads)
	}
	return nil
}

// toRead returns the layout by which a whole record is read.
func (ls *Layouts) toRead(rec Record) (*layout, error) {
	l := ls.of(rec)
	if !ls.sameTails {
		l = ls.byRecordID(rec)
	}
	if l == nil {
		return nil, fmt.Errorf("%s: a %s record is of none of the recording's events", FormatName, rec.Type)
	}
	return l, l.canTouch()
}

// WordsWithin calls f for every word of the stack that is an address from lo to hi,
// both included. Return addresses are at multiples of the word size from the stack
// pointer, at which the copy begins.
func (t *Touches) WordsWithin(lo, hi uint64, f func(addr uint64)) {
	b, span := t.Stack, hi-lo
	switch {
	case t.WordSize == 4 && t.order != nil:
		for ; len(b) >= 4; b = b[4:] {
			if w := uint64(t.order.Uint32(b)); w-lo <= span {
				f(w)
			}
		}
	case t.order == binary.LittleEndian: // not through the interface: most of a recording is this
		for ; len(b) >= 8; b = b[8:] {
			if w := binary.LittleEndian.Uint64(b); w-lo <= span {
				f(w)
			}
		}
	case t.order != nil:
		for ; len(b) >= 8; b = b[8:] {
			if w := t.order.Uint64(b); w-lo <= span {
				f(w)
			}
		}
	}
}

// deferredTouches reads a CALLCHAIN_DEFERRED record: u64 cookie, u64 nr, u64
// ips[nr], and the trailer, which says of whom.
func (ls *Layouts) deferredTouches(rec Record, t *Touches) error {
	l, err := ls.toRead(rec)
	if err != nil {
		return err
	}
	body, err := ls.body(rec)
	if err != nil {
		return err
	}
	if !l.trailing {
		return fmt.Errorf("%s: a %s record does not say of which process it is", FormatName, rec.Type)
	}
	n := len(rec.Data)
	at := n - l.trailerTID
	t.PID, t.TID = ls.order.Uint32(rec.Data[at:]), ls.order.Uint32(rec.Data[at+4:])
	if l.trailerTime != 0 {
		t.Time = ls.order.Uint64(rec.Data[n-l.trailerTime:])
	}
	s := fields{data: rec.Data[:recordHead+len(body)], at: recordHead, order: ls.order}
	s.skip("cookie", 1)
	t.Addrs = s.callchain(t.Addrs)
	return s.err(rec)
}

// sampleTouches reads a SAMPLE record.
func (ls *Layouts) sampleTouches(rec Record, t *Touches) error {
	l, err := ls.toRead(rec)
	if err != nil {
		return err
	}
	tail := &l.tail
	s := fields{data: rec.Data, at: tail.begin, order: ls.order}
	if tail.begin > len(rec.Data) {
		s.at = recordHead
		s.fail("head", uint64(tail.begin-recordHead))
		return s.err(rec)
	}
	t.PID, t.TID = ls.order.Uint32(rec.Data[l.sampleTID:]), ls.order.Uint32(rec.Data[l.sampleTID+4:])
	if l.sampleTime != 0 {
		t.Time = ls.order.Uint64(rec.Data[l.sampleTime:])
	}
	for _, at := range [...]int{l.sampleIP, tail.addr} {
		if at != 0 {
			t.Addrs = append(t.Addrs, ls.order.Uint64(rec.Data[at:]))
		}
	}
	has := func(f SampleType) bool { return l.sampleType&f != 0 }
	if has(FieldRead) {
		s.readFormat(tail.readFormat)
	}
	if has(FieldCallchain) {
		t.Addrs = s.callchain(t.Addrs)
	}
	if has(FieldRaw) {
		s.raw()
	}
	if has(FieldBranchStack) {
		t.Addrs = s.branches(t.Addrs, tail.branchType)
	}
	if has(FieldRegsUser) {
		var abi uint64
		if t.Addrs, abi = s.registers(t.Addrs, tail.regsUser); abi == regsABI32 {
			t.WordSize = 4
		}
	}
	if has(FieldStackUser) {
		t.stackAt = s.at
		t.Stack = s.stack()
	}
	s.skip("weight", tail.words)
	if has(FieldRegsIntr) {
		t.Addrs, _ = s.registers(t.Addrs, tail.regsIntr)
	}
	s.skip("physical address", tail.lastWords)
	if has(FieldAux) {
		t.Traced = s.count("aux.size") > 0
	}
	return s.err(rec)
}
