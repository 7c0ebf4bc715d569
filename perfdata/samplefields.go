package perfdata

import (
	"encoding/binary"
	"fmt"
	"math/bits"
)

// knownFields are the bits of sample_type up to PERF_SAMPLE_WEIGHT_STRUCT, Linux
// 5.12. A bit that is newer may put a field anywhere.
const knownFields SampleType = 1<<25 - 1

// Bits of branch_sample_type that say what a branch stack looks like
// [perf_event.h, enum perf_branch_sample_type]; the others below
// PERF_SAMPLE_BRANCH_MAX choose what goes into it.
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

// What the first word of a set of registers says [perf_regs.h]: 0 that there are
// none.
const (
	regsABI32 = 1
	regsABI64 = 2
)

// Callchain entries from contextMax on are no addresses but say whose follow
// [perf_event.h, enum perf_callchain_context]. Behind contextUserDeferred stands a
// cookie: the entries come later, in a CALLCHAIN_DEFERRED record with the same one.
const (
	contextMax          = ^uint64(4095) + 1
	contextUserDeferred = ^uint64(640) + 1
)

// A sampleTail is what follows the fields of a sample whose places are fixed.
type sampleTail struct {
	addr       int // ADDR, which has a place; 0 if there is none
	begin      int // of what has none
	readFormat uint64
	branchType uint64
	regsUser   uint64 // numbers of registers
	regsIntr   uint64
	words      uint64 // WEIGHT or WEIGHT_STRUCT, DATA_SRC, TRANSACTION
	lastWords  uint64 // PHYS_ADDR, CGROUP, DATA_PAGE_SIZE, CODE_PAGE_SIZE
}

// Offsets in perf_event_attr of what says how samples end.
const (
	attrReadFormat = 32
	attrBranchType = 72
	attrRegsUser   = 80
	attrRegsIntr   = 96
)

func compileTail(a *Attr) sampleTail {
	t := a.SampleType()
	count := func(fields ...SampleType) (n uint64) {
		for _, f := range fields {
			if t&f != 0 {
				n++
			}
		}
		return n
	}
	fixed := bits.OnesCount64(uint64(t & (FieldIdentifier | FieldIP | FieldTID | FieldTime | FieldAddr | FieldID | FieldStreamID | FieldCPU | FieldPeriod)))
	tail := sampleTail{
		begin:      recordHead + 8*fixed,
		readFormat: a.word(attrReadFormat),
		branchType: a.word(attrBranchType),
		regsUser:   uint64(bits.OnesCount64(a.word(attrRegsUser))),
		regsIntr:   uint64(bits.OnesCount64(a.word(attrRegsIntr))),
		words:      count(FieldWeight|FieldWeightStruct, FieldDataSrc, FieldTransaction),
		lastWords:  count(FieldPhysAddr, FieldCgroup, FieldDataPageSize, FieldCodePageSize),
	}
	if t&FieldAddr != 0 {
		tail.addr = recordHead + 8*int(count(FieldIdentifier, FieldIP, FieldTID, FieldTime))
	}
	return tail
}

// word returns a u64 of the attr; those of older, shorter ones are 0.
func (a *Attr) word(at int) uint64 {
	if len(a.Raw) < at+8 {
		return 0
	}
	return a.order.Uint64(a.Raw[at:])
}

// fields reads the tail of a sample from front to back. After the first failure,
// which sticks, there is nothing left to read.
type fields struct {
	data  []byte // the record
	at    int
	order binary.ByteOrder

	failed string // the field that is not whole
	needs  uint64 // bytes
	text   string // what else is wrong with it
}

func (s *fields) fail(field string, needs uint64) {
	if s.failed == "" {
		s.failed, s.needs = field, needs
	}
}

func (s *fields) err(rec Record) error {
	if s.failed == "" {
		return nil
	}
	text := s.text
	if text == "" {
		text = fmt.Sprintf("needs %d bytes, %d are left", s.needs, len(s.data)-s.at)
	}
	return fmt.Errorf("%s: %s: %s at offset %#x of the record: %s", FormatName, rec.Type, s.failed, s.at, text)
}

// take returns n bytes, or nothing.
func (s *fields) take(field string, n uint64) []byte {
	if s.failed != "" || n > uint64(len(s.data)-s.at) {
		s.fail(field, n)
		return nil
	}
	b := s.data[s.at : s.at+int(n)]
	s.at += int(n)
	return b
}

// count reads a u64.
func (s *fields) count(field string) uint64 {
	b := s.take(field, 8)
	if b == nil {
		return 0
	}
	return s.order.Uint64(b)
}

// entries returns n entries of the given number of words.
func (s *fields) entries(field string, n, words uint64) []byte {
	if n > uint64(len(s.data))/8 { // also that the product is one
		s.fail(field, 8*min(n, 1<<60))
		return nil
	}
	return s.take(field, 8*n*words)
}

func (s *fields) skip(field string, words uint64) { s.entries(field, words, 1) }

// readFormat steps over counts of one event, or of a group [perf_event.h, struct
// read_format].
func (s *fields) readFormat(format uint64) {
	times := uint64(bits.OnesCount64(format & (readTimeEnabled | readTimeRunning)))
	each := 1 + uint64(bits.OnesCount64(format&(readID|readLost)))
	if format&readGroup == 0 {
		s.skip("read", each+times)
		return
	}
	n := s.count("read.nr")
	s.skip("read", times)
	s.entries("read.values", n, each)
}

// callchain appends the addresses of a callchain: u64 nr, u64 ips[nr].
func (s *fields) callchain(addrs []uint64) []uint64 {
	b := s.entries("callchain", s.count("callchain.nr"), 1)
	little := s.order == binary.LittleEndian
	for ; len(b) >= 8; b = b[8:] {
		var ip uint64
		if little {
			ip = binary.LittleEndian.Uint64(b)
		} else {
			ip = s.order.Uint64(b)
		}
		switch {
		case ip < contextMax:
			addrs = append(addrs, ip)
		case ip == contextUserDeferred && len(b) >= 16:
			b = b[8:]
		}
	}
	return addrs
}

// raw steps over what a tracepoint or a hypervisor added: u32 size and as many
// bytes, which end at a multiple of 8.
func (s *fields) raw() {
	if b := s.take("raw.size", 4); b != nil {
		s.take("raw", uint64(s.order.Uint32(b)))
	}
}

// branches appends both ends of the branches: u64 nr, with HW_INDEX u64 hw_idx, nr
// times { u64 from, to, flags }, with COUNTERS u64 counters[nr].
func (s *fields) branches(addrs []uint64, branchType uint64) []uint64 {
	n := s.count("branches.nr")
	if branchType&branchHWIndex != 0 {
		s.skip("branches.hw_idx", 1)
	}
	for b := s.entries("branches", n, 3); len(b) >= 24; b = b[24:] {
		addrs = append(addrs, s.order.Uint64(b), s.order.Uint64(b[8:]))
	}
	if branchType&branchCounters != 0 {
		s.skip("branches.counters", n)
	}
	return addrs
}

// registers appends the values of n registers: u64 abi, and unless that is 0, u64
// regs[n].
func (s *fields) registers(addrs []uint64, n uint64) (_ []uint64, abi uint64) {
	abi = s.count("registers.abi")
	switch abi {
	case 0:
		return addrs, 0
	case regsABI32, regsABI64:
	default:
		s.text = fmt.Sprintf("%d is none that is known", abi)
		s.fail("registers.abi", 0)
		return addrs, 0
	}
	for b := s.entries("registers", n, 1); len(b) >= 8; b = b[8:] {
		addrs = append(addrs, s.order.Uint64(b))
	}
	return addrs, abi
}

// stack returns what there is of a copy of the stack: u64 size, and unless that is
// 0, as many bytes, and u64 dyn_size, how many of them were copied.
func (s *fields) stack() []byte {
	size := s.count("stack.size")
	if size == 0 {
		return nil
	}
	b := s.take("stack", size)
	copied := s.count("stack.dyn_size")
	if copied > uint64(len(b)) {
		s.text = fmt.Sprintf("%d bytes of the stack are said to have been copied, there is room for %d", copied, len(b))
		s.fail("stack.dyn_size", 0)
		return nil
	}
	return b[:copied]
}
