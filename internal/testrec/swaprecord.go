package testrec

import (
	"bytes"
	"fmt"
	"math/bits"
)

// records is what the records and features of a file depend on.
type records struct {
	events []event
	byID   map[uint64]int
	cpus   int
}

func (r *records) of(id uint64, event int) {
	if r.byID == nil {
		r.byID = make(map[uint64]int)
	}
	r.byID[id] = event
}

// event returns the event that the id at a place of a record belongs to.
func (r *records) event(s *swapper, at int) event {
	if at >= 0 && at+8 <= len(s.b) {
		return r.events[r.byID[s.from.Uint64(s.b[at:])]]
	}
	return r.events[0]
}

// The positions of ids are the same for all events of a file: back from the end
// of a trailer, and from the start of a sample's body.
func (r *records) idFromEnd() int {
	t := r.events[0].sampleType
	if t&Identifier != 0 {
		return 8
	}
	n := 8 * bits.OnesCount64(t&(ID|StreamID|CPU))
	if t&ID == 0 {
		return 1 << 20
	}
	return n
}

func (r *records) sampleID() int {
	t := r.events[0].sampleType
	switch {
	case t&Identifier != 0:
		return 0
	case t&ID != 0:
		return 8 * bits.OnesCount64(t&(IP|TID|Time|Addr))
	}
	return -1
}

// record swaps one record, and passes over the payload of an AUXTRACE record.
func (s *swapper) record(r *records) {
	at := len(s.b)
	typ := s.u32()
	misc := s.u16()
	size := s.u16()
	body := s.sub(int(size) - 8)
	switch {
	case s.err != nil:
	case typ == 9:
		body.sample(r.event(body, r.sampleID()))
	case typ < 64:
		e := r.event(body, len(body.b)-r.idFromEnd())
		kernel := body
		var trailer *swapper
		if e.trailing {
			n := 8 * bits.OnesCount64(e.sampleType&(TID|Time|ID|StreamID|CPU|Identifier))
			kernel = body.sub(len(body.b) - n)
			trailer = body
		}
		kernel.kernel(typ, misc)
		if trailer != nil {
			trailer.trailer(e)
		}
		s.fail(kernel.err)
	case typ == 71:
		s.bytes(int(body.auxtrace()))
	default:
		body.user(typ, r)
	}
	s.fail(body.err)
	if s.err != nil {
		s.err = fmt.Errorf("a record of type %d, %d bytes before the end of the data: %w", typ, at, s.err)
	}
}

// trailer swaps a sample id [perf_event.h, struct sample_id].
func (s *swapper) trailer(e event) {
	for _, f := range []uint64{TID, Time, ID, StreamID, CPU, Identifier} {
		switch {
		case e.sampleType&f == 0:
		case f == TID || f == CPU:
			s.u32s(2)
		default:
			s.u64()
		}
	}
}

// kernel swaps what a kernel record has between header and trailer
// [perf_event.h, enum perf_event_type].
func (s *swapper) kernel(typ uint32, misc uint16) {
	switch typ {
	case 1, 10: // MMAP, MMAP2
		s.u32s(2)
		s.u64s(3)
		if typ == 10 && misc&(1<<14) != 0 {
			s.bytes(24) // size and build id
			s.u32s(2)
		} else if typ == 10 {
			s.u32s(2)
			s.u64s(2)
			s.u32s(2)
		}
	case 3: // COMM
		s.u32s(2)
	case 4, 7: // EXIT, FORK
		s.u32s(4)
		s.u64()
	case 8, 16: // READ, NAMESPACES
		s.u32s(2)
		s.rest()
	case 12: // ITRACE_START
		s.u32s(2)
	case 15: // SWITCH_CPU_WIDE
		s.u32s(2)
	case 17: // KSYMBOL: addr, len, type, flags, name
		s.u64()
		s.u32()
		s.u16()
		s.u16()
	case 18: // BPF_EVENT: type, flags, id, tag
		s.u16()
		s.u16()
		s.u32()
	case 19: // CGROUP: id, path
		s.u64()
	case 20: // TEXT_POKE: addr, old_len, new_len, bytes
		s.u64()
		s.u16()
		s.u16()
	case 2, 5, 6, 11, 13, 21: // LOST, THROTTLE, UNTHROTTLE, AUX, LOST_SAMPLES, AUX_OUTPUT_HW_ID
		s.rest()
	}
}

// user swaps the body of one of perf's own records [perf's event.h].
func (s *swapper) user(typ uint32, r *records) {
	switch typ {
	case 64: // HEADER_ATTR: attr, ids
		if len(s.b) >= 8 {
			n := int(s.from.Uint32(s.b[4:]))
			a := s.sub(n)
			a.attr()
			s.fail(a.err)
		}
		s.rest()
	case 66, 67: // TRACING_DATA: size; HEADER_BUILD_ID: pid
		s.u32()
	case 65, 69, 75, 77: // HEADER_EVENT_TYPE, ID_INDEX, STAT_CONFIG, STAT_ROUND
		if typ == 65 {
			s.u64()
			break
		}
		s.rest()
	case 70: // AUXTRACE_INFO
		s.u32s(2)
		s.rest()
	case 72: // AUXTRACE_ERROR
		s.u32s(6)
		s.u64s(2)
		s.bytes(64)
		s.u32s(2)
	case 73: // THREAD_MAP: count, {pid, comm}
		for n := s.u64(); n > 0 && len(s.b) > 0; n-- {
			s.u64()
			s.bytes(16)
		}
	case 74: // CPU_MAP
		s.cpuMap()
	case 76: // STAT
		s.u64()
		s.u32s(2)
		s.rest()
	case 78: // EVENT_UPDATE: type, id, data
		switch kind := s.u64(); {
		case kind == 1: // scale, a double
			s.u64s(2)
		case kind == 3:
			s.u64()
			s.cpuMap()
		default:
			s.u64()
		}
	case 79: // TIME_CONV: six numbers, the last two of one byte
		s.u64s(3)
		s.u64s(2)
	case 80: // HEADER_FEATURE
		id := s.u64()
		s.feature(int(id), r)
	case 81:
		s.fail(fmt.Errorf("it is compressed, unpack it before"))
	}
}

// auxtrace swaps an AUXTRACE record and returns the size of its payload.
func (s *swapper) auxtrace() uint64 {
	size := s.u64()
	s.u64s(2)
	s.u32s(4)
	return size
}

// cpuMap swaps a set of CPUs: a list, a mask, or from perf 6.1 on a range.
func (s *swapper) cpuMap() {
	switch s.u16() {
	case 0:
		for n := s.u16(); n > 0; n-- {
			s.u16()
		}
	case 1:
		n := s.u16()
		if wide := s.u16() == 8; wide {
			s.bytes(2)
			s.u64s(uint64(n))
		} else {
			s.u32s(int(n))
		}
	case 2:
		s.bytes(2)
		s.u16()
		s.u16()
	}
}

// cstring passes over a string and the NUL behind it.
func (s *swapper) cstring() { s.bytes(bytes.IndexByte(s.b, 0) + 1) }
