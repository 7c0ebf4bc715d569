package perfdata

import (
	"encoding/binary"
	"fmt"
	"math/bits"
	"slices"
)

// knownFields are the bits of sample_type up to PERF_SAMPLE_WEIGHT_STRUCT, Linux 5.12. A newer bit
// may put a field anywhere.
const knownFields SampleType = 1<<25 - 1

// Bits of branch_sample_type that determine the format of a branch stack [perf_event.h, enum
// perf_branch_sample_type]. The others below PERF_SAMPLE_BRANCH_MAX select its entries.
const (
	branchHWIndex  = 1 << 17
	branchCounters = 1 << 19
	knownBranches  = 1<<20 - 1
)

// Bits of read_format [perf_event.h, enum perf_event_read_format].
const (
	readTimeEnabled = 1 << 0
	readTimeRunning = 1 << 1
	readID          = 1 << 2
	readGroup       = 1 << 3
	readLost        = 1 << 4
	knownReads      = 1<<5 - 1
)

// Values of the first word of a set of registers [perf_regs.h]; 0 means that there are none.
const (
	regsABI32 = 1
	regsABI64 = 2
)

// fields reads the fields of a sample that have no fixed place, in order. The first failure stays,
// and no field is read after it.
type fields struct {
	data   []byte // the record
	at     int
	order  binary.ByteOrder
	little bool

	current SampleType // field that is being decoded; 0 in the head

	failed string // name of the incomplete field
	needs  uint64 // size of that field, in bytes
	text   string // another fault of that field
}

func (f *fields) fail(field string, needs uint64) {
	if f.failed == "" {
		f.failed, f.needs = field, needs
	}
}

// err returns the failure.
func (f *fields) err(rec Record) error {
	text := f.text
	if text == "" {
		text = fmt.Sprintf("needs %d bytes, %d are left", f.needs, len(f.data)-f.at)
	}
	return &Error{Format: FormatName, Record: rec.Type.String(), Field: f.failed, Offset: int64(f.at), InRecord: true, Text: text}
}

// enter says which field is decoded next.
func (f *fields) enter(field SampleType) {
	if f.failed == "" {
		f.current = field
	}
}

// take returns the next n bytes, or nil.
func (f *fields) take(field string, n uint64) []byte {
	if f.failed != "" || n > uint64(len(f.data)-f.at) {
		f.fail(field, n)
		return nil
	}
	b := f.data[f.at : f.at+int(n) : f.at+int(n)]
	f.at += int(n)
	return b
}

// u64 reads the number at the start of b.
func (f *fields) u64(b []byte) uint64 {
	if f.little { // without the interface, for speed: this is the hot path
		return binary.LittleEndian.Uint64(b)
	}
	return f.order.Uint64(b)
}

// count reads a u64.
func (f *fields) count(field string) uint64 {
	b := f.take(field, 8)
	if b == nil {
		return 0
	}
	return f.u64(b)
}

// entries returns n entries of the given number of words.
func (f *fields) entries(field string, n, words uint64) []byte {
	if n > uint64(len(f.data))/8 { // also checks that the product does not overflow
		if f.failed == "" {
			f.text = fmt.Sprintf("%d entries of %d bytes, but %d bytes of the record are left", n, 8*words, len(f.data)-f.at)
		}
		f.fail(field, 0)
		return nil
	}
	return f.take(field, 8*n*words)
}

// words reads n words into to if they are wanted.
func (f *fields) words(to *[]uint64, field string, n uint64, wanted bool) {
	b := f.entries(field, n, 1)
	if !wanted {
		return
	}
	list := slices.Grow((*to)[:0], len(b)/8)[:len(b)/8]
	*to = list
	if f.little { // without the interface, for speed: this is the hot path
		for i := 0; i < len(list) && len(b) >= 8; i++ {
			list[i], b = binary.LittleEndian.Uint64(b), b[8:]
		}
		return
	}
	for i := range list {
		list[i] = f.order.Uint64(b[8*i:])
	}
}

// A wordField is a field of one word: the event has it if field is not 0.
type wordField struct {
	field SampleType
	to    *uint64
}

// each reads those fields of list that the event has, and sets the wanted ones.
func (f *fields) each(name string, want SampleType, list [4]wordField) {
	n := uint64(0)
	for i := range list {
		if list[i].field != 0 {
			n++
		}
	}
	b := f.entries(name, n, 1)
	for i := range list {
		if list[i].field != 0 && len(b) >= 8 {
			if list[i].field&want != 0 {
				*list[i].to = f.u64(b)
			}
			b = b[8:]
		}
	}
}

// readFormat reads the counts of one event, or of a group [perf_event.h, struct
// read_format]:
//
//	u64 value, TIME_ENABLED u64, TIME_RUNNING u64, ID u64, LOST u64
//	GROUP: u64 nr, TIME_ENABLED u64, TIME_RUNNING u64, nr times { u64 value, ID u64, LOST u64 }
func (f *fields) readFormat(r *Read, format uint64, wanted bool) {
	times := uint64(bits.OnesCount64(format & (readTimeEnabled | readTimeRunning)))
	each := 1 + uint64(bits.OnesCount64(format&(readID|readLost)))
	group := format&readGroup != 0
	var b, values []byte
	if group {
		n := f.count("read.nr")
		b = f.entries("read", times, 1)
		values = f.entries("read.values", n, each)
	} else {
		b = f.entries("read", each+times, 1)
	}
	if !wanted || f.failed != "" {
		return
	}
	next := func(b *[]byte, bit uint64) uint64 {
		if format&bit == 0 {
			return 0
		}
		v := f.u64(*b)
		*b = (*b)[8:]
		return v
	}
	var one ReadValue
	if !group {
		one.Value, b = f.u64(b), b[8:]
	}
	r.TimeEnabled, r.TimeRunning = next(&b, readTimeEnabled), next(&b, readTimeRunning)
	if !group {
		one.ID, one.Lost = next(&b, readID), next(&b, readLost)
		r.Values = append(r.Values, one)
	}
	for len(values) > 0 {
		r.Values = append(r.Values, ReadValue{next(&values, readGroup), next(&values, readID), next(&values, readLost)})
	}
}

// raw returns the data of a tracepoint or a hypervisor: u32 size and as many bytes, which end at a
// multiple of 8.
func (f *fields) raw() []byte {
	if b := f.take("raw.size", 4); b != nil {
		return f.take("raw", uint64(f.order.Uint32(b)))
	}
	return nil
}

// branches reads a branch stack: u64 nr, with HW_INDEX u64 hw_idx, nr times { u64
// from, to, flags }, with COUNTERS u64 counters[nr].
func (f *fields) branches(s *Sample, branchType uint64, wanted bool) {
	n := f.count("branches.nr")
	index := uint64(0)
	if branchType&branchHWIndex != 0 {
		index = f.count("branches.hw_idx")
	}
	b := f.entries("branches", n, 3)
	var counters []byte
	if branchType&branchCounters != 0 {
		counters = f.entries("branches.counters", n, 1)
	}
	if !wanted {
		return
	}
	s.BranchIndex = index
	s.Branches = slices.Grow(s.Branches[:0], len(b)/24)[:len(b)/24]
	for i := range s.Branches {
		e := b[24*i : 24*i+24]
		s.Branches[i] = Branch{From: f.u64(e), To: f.u64(e[8:]), Flags: f.u64(e[16:])}
	}
	for i := 0; i < len(s.Branches) && len(counters) >= 8; i, counters = i+1, counters[8:] {
		s.Branches[i].Counters = f.u64(counters)
	}
}

// registers reads the registers of a mask: u64 abi, and unless that is 0, u64 regs[n].
func (f *fields) registers(to *Registers, mask uint64, wanted bool) {
	abi := f.count("registers.abi")
	switch abi {
	case 0:
		return
	case regsABI32, regsABI64:
	default:
		f.text = fmt.Sprintf("%d is unknown", abi)
		f.fail("registers.abi", 0)
		return
	}
	f.words(&to.Values, "registers", uint64(bits.OnesCount64(mask)), wanted)
	if wanted {
		to.ABI, to.Mask = abi, mask
	}
}

// stack reads a copy of the stack: u64 size, and unless that is 0, as many bytes, and u64 dyn_size,
// the number of copied bytes.
func (f *fields) stack() Stack {
	size := f.count("stack.size")
	if size == 0 {
		return Stack{}
	}
	at := f.at
	b := f.take("stack", size)
	copied := f.count("stack.dyn_size")
	if copied > uint64(len(b)) {
		f.text = fmt.Sprintf("%d bytes of the stack are said to have been copied, there is room for %d", copied, len(b))
		f.fail("stack.dyn_size", 0)
	}
	if f.failed != "" {
		return Stack{}
	}
	return Stack{Data: b[:copied], Size: len(b), Offset: at}
}
