package perfdata

import (
	"errors"
	"fmt"
	"math/bits"
)

// AllFields asks [Layouts.DecodeSample] for all fields.
const AllFields = ^SampleType(0)

// ErrUnknownFields says that samples have fields that are newer than this package. Callers test for
// it with errors.Is.
var ErrUnknownFields = errors.New("fields that are not known here")

// DecodeSample decodes a SAMPLE record into s, by the fields of its event. want are the requested
// fields. Those from IDENTIFIER to PERIOD are always decoded, and others are skipped unless
// requested. Fields after the last requested one may be left unread, with their faults.
//
// It is an error if the record is shorter than its counts require, an *Error, or if its event is
// not among the attrs. s then has the fields before the fault. If the event has fields that are
// newer than this package, the error wraps [ErrUnknownFields]. If these come last, s has all known
// fields. [Layouts.CanDecode] reports unknown fields before the first sample.
//
// Reusing s saves allocations: it keeps the memory of its slices.
//
// The order of the fields is that of PERF_RECORD_SAMPLE in linux/perf_event.h.
func (ls *Layouts) DecodeSample(rec Record, want SampleType, s *Sample) error {
	s.reset()
	l := ls.wholeLayout(rec)
	if l == nil {
		return fmt.Errorf("%s: a %s record is of none of the recording's events", FormatName, rec.Type)
	}
	f := fields{data: rec.Data, at: l.tail.begin, order: ls.order, little: ls.little}
	t := l.sampleType & knownFields
	want = t & (want | headFields)
	head := rec.Data
	if len(head) < l.tail.begin { // decode the complete fields
		f.at = recordHead
		f.fail("head", uint64(l.tail.begin-recordHead))
		head = make([]byte, l.tail.begin)
		copy(head, rec.Data[:len(rec.Data)&^7])
	}
	s.decodeHead(t, head, &f)
	if rest := want &^ headFields; rest != 0 && f.failed == "" {
		s.decodeTail(t, rest, &l.tail, &f)
	}
	s.Fields = want
	if f.failed != "" {
		s.Fields &= before(f.current)
		return f.err(rec)
	}
	if !l.tail.known {
		return ls.unknownFields(l)
	}
	return nil
}

// reset makes s the zero Sample, except for the memory of its slices. It skips fields that the last
// decoding has not set.
func (s *Sample) reset() {
	was := s.Fields
	s.Fields, s.Callchain = 0, s.Callchain[:0]
	s.Identifier, s.IP, s.PID, s.TID, s.Time = 0, 0, 0, 0, 0
	s.Addr, s.ID, s.StreamID, s.CPU, s.Period = 0, 0, 0, 0, 0
	if was&(FieldRead|FieldRaw|FieldBranchStack) != 0 {
		s.Read, s.Raw = Read{Values: s.Read.Values[:0]}, nil
		s.BranchIndex, s.Branches = 0, s.Branches[:0]
	}
	if was&(FieldRegsUser|FieldStackUser|FieldRegsIntr) != 0 {
		s.UserRegs, s.IntrRegs = Registers{Values: s.UserRegs.Values[:0]}, Registers{Values: s.IntrRegs.Values[:0]}
		s.UserStack = Stack{}
	}
	if was&^(headFields|FieldRead|FieldCallchain|FieldRaw|FieldBranchStack|FieldRegsUser|FieldStackUser|FieldRegsIntr) != 0 {
		s.Weight, s.DataSrc, s.Transaction = 0, 0, 0
		s.PhysAddr, s.Cgroup, s.DataPageSize, s.CodePageSize, s.Aux = 0, 0, 0, 0, nil
	}
}

// recordOrder has the fields after the head, in the order of the record. Those in one element are
// decoded together.
var recordOrder = [...]SampleType{
	FieldRead, FieldCallchain, FieldRaw, FieldBranchStack, FieldRegsUser, FieldStackUser, FieldWeight | FieldWeightStruct | FieldDataSrc | FieldTransaction,
	FieldRegsIntr, FieldPhysAddr | FieldCgroup | FieldDataPageSize | FieldCodePageSize, FieldAux,
}

// before returns the fields before a field after the head; none for 0.
func before(field SampleType) (fields SampleType) {
	if field == 0 {
		return 0
	}
	fields = headFields
	for _, f := range recordOrder {
		if f&field != 0 {
			break
		}
		fields |= f
	}
	return fields
}

// headFields have a fixed size: 8 bytes each.
const headFields = FieldIdentifier | FieldIP | FieldTID | FieldTime | FieldAddr | FieldID | FieldStreamID | FieldCPU | FieldPeriod

// decodeHead decodes the headFields of a sample with fields t. b has all of them.
func (s *Sample) decodeHead(t SampleType, b []byte, f *fields) {
	b = b[recordHead:]
	if t&FieldIdentifier != 0 {
		s.Identifier, b = f.u64(b), b[8:]
	}
	if t&FieldIP != 0 {
		s.IP, b = f.u64(b), b[8:]
	}
	if t&FieldTID != 0 {
		s.PID, s.TID, b = f.order.Uint32(b), f.order.Uint32(b[4:]), b[8:]
	}
	if t&FieldTime != 0 {
		s.Time, b = f.u64(b), b[8:]
	}
	if t&FieldAddr != 0 {
		s.Addr, b = f.u64(b), b[8:]
	}
	if t&FieldID != 0 {
		s.ID, b = f.u64(b), b[8:]
	}
	if t&FieldStreamID != 0 {
		s.StreamID, b = f.u64(b), b[8:]
	}
	if t&FieldCPU != 0 {
		s.CPU, b = f.order.Uint32(b), b[8:]
	}
	if t&FieldPeriod != 0 {
		s.Period = f.u64(b)
	}
}

// decodeTail decodes the fields after the head, up to the last requested one.
func (s *Sample) decodeTail(t, want SampleType, tail *sampleTail, f *fields) {
	if t&FieldRead != 0 {
		f.enter(FieldRead)
		f.readFormat(&s.Read, tail.readFormat, want&FieldRead != 0)
	}
	if want &^= FieldRead; want == 0 {
		return
	}
	if t&FieldCallchain != 0 {
		f.enter(FieldCallchain)
		f.words(&s.Callchain, "callchain", f.count("callchain.nr"), want&FieldCallchain != 0)
	}
	if want &^= FieldCallchain; want == 0 {
		return
	}
	if t&FieldRaw != 0 {
		f.enter(FieldRaw)
		if raw := f.raw(); want&FieldRaw != 0 {
			s.Raw = raw
		}
	}
	if t&FieldBranchStack != 0 {
		f.enter(FieldBranchStack)
		f.branches(s, tail.branchType, want&FieldBranchStack != 0)
	}
	if want &^= FieldRaw | FieldBranchStack; want == 0 {
		return
	}
	if t&FieldRegsUser != 0 {
		f.enter(FieldRegsUser)
		f.registers(&s.UserRegs, tail.regsUser, want&FieldRegsUser != 0)
	}
	if t&FieldStackUser != 0 {
		f.enter(FieldStackUser)
		if stack := f.stack(); want&FieldStackUser != 0 {
			s.UserStack = stack
		}
	}
	if want &^= FieldRegsUser | FieldStackUser; want == 0 {
		return
	}
	f.enter(FieldWeight)
	f.each("weight", want, [...]wordField{
		{t & (FieldWeight | FieldWeightStruct), &s.Weight}, {t & FieldDataSrc, &s.DataSrc}, {t & FieldTransaction, &s.Transaction}, {},
	})
	if t&FieldRegsIntr != 0 {
		f.enter(FieldRegsIntr)
		f.registers(&s.IntrRegs, tail.regsIntr, want&FieldRegsIntr != 0)
	}
	f.enter(FieldPhysAddr)
	f.each("physical address", want, [...]wordField{
		{t & FieldPhysAddr, &s.PhysAddr}, {t & FieldCgroup, &s.Cgroup}, {t & FieldDataPageSize, &s.DataPageSize}, {t & FieldCodePageSize, &s.CodePageSize},
	})
	if want&FieldAux != 0 {
		f.enter(FieldAux)
		s.Aux = f.take("aux", f.count("aux.size"))
	}
}

// CanDecode reports whether [Layouts.DecodeSample] knows all fields of the samples of all events.
// The error wraps [ErrUnknownFields], and names an event with others.
func (ls *Layouts) CanDecode() error {
	for i := range ls.layouts {
		if l := &ls.layouts[i]; !l.tail.known {
			return ls.unknownFields(l)
		}
	}
	return nil
}

// unknownFields returns the error for an event with unknown fields.
func (ls *Layouts) unknownFields(l *layout) error {
	event := 0
	for i := range ls.layouts {
		if &ls.layouts[i] == l {
			event = i
		}
	}
	what, field, value := "samples have", "sample_type", uint64(l.sampleType&^knownFields)
	switch {
	case value != 0:
	case l.tail.unknownBranches() != 0:
		what, field, value = "branch stacks have", "branch_sample_type", l.tail.unknownBranches()
	default:
		what, field, value = "counts have", "read_format", l.tail.readFormat&^knownReads
	}
	return fmt.Errorf("%s: event %d: its %s %w (%s %#x)", FormatName, event, what, ErrUnknownFields, field, value)
}

// wholeLayout returns the layout for decoding a whole sample, or nil if its event is unknown.
func (ls *Layouts) wholeLayout(rec Record) *layout {
	if ls.sameTails {
		return ls.common
	}
	return ls.byRecordID(rec)
}

// A DeferredCallchain is a decoded CALLCHAIN_DEFERRED record: the user's part of the callchains of
// earlier samples of the same thread. [Layouts.SampleID] returns the thread.
type DeferredCallchain struct {
	Cookie    uint64   // in those callchains, after ContextUserDeferred
	Callchain []uint64 // as in a Sample; overwritten by the next decoding
}

// DecodeDeferred decodes a CALLCHAIN_DEFERRED record into d, which can be reused: u64 cookie, u64
// nr, u64 ips[nr].
func (ls *Layouts) DecodeDeferred(rec Record, d *DeferredCallchain) error {
	d.Cookie, d.Callchain = 0, d.Callchain[:0]
	body, err := ls.body(rec)
	if err != nil {
		return err
	}
	f := fields{data: rec.Data[:recordHead+len(body)], at: recordHead, order: ls.order, little: ls.little}
	if b := f.take("cookie", 8); b != nil {
		d.Cookie = ls.order.Uint64(b)
	}
	f.words(&d.Callchain, "callchain", f.count("callchain.nr"), true)
	if f.failed != "" {
		return f.err(rec)
	}
	return nil
}

// A sampleTail describes the fields after the headFields of a sample.
type sampleTail struct {
	begin      int // offset in the record, in bytes
	readFormat uint64
	branchType uint64 // 0 without branch stacks
	regsUser   uint64 // mask
	regsIntr   uint64
	known      bool // there are no unknown fields
	short      bool // see SampleChain
}

func compileTail(a *Attr) sampleTail {
	t := a.SampleType()
	tail := sampleTail{
		begin:      recordHead + 8*bits.OnesCount64(uint64(t&headFields)),
		readFormat: a.ReadFormat(),
		branchType: a.BranchType(),
		regsUser:   a.UserRegs(),
		regsIntr:   a.IntrRegs(),
	}
	if t&FieldRead == 0 {
		tail.readFormat = 0
	}
	if t&FieldBranchStack == 0 {
		tail.branchType = 0
	}
	const must = FieldIP | FieldTID | FieldTime
	tail.short = t&must == must && t&^(headFields&^FieldAddr|FieldCallchain) == 0
	tail.known = t&^knownFields == 0 && tail.unknownBranches() == 0 && tail.readFormat&^knownReads == 0
	return tail
}

func (t *sampleTail) unknownBranches() uint64 { return t.branchType &^ knownBranches }
