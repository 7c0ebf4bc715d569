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
		if layout := kernelFields[typ]; typ == 10 && misc&mmapBuildID != 0 {
			kernel.fields("44888cq44")
		} else {
			kernel.fields(layout)
		}
		if trailer != nil {
			trailer.trailer(e)
		}
		s.fail(kernel.err)
	case typ == 71:
		payload := body.u64()
		body.fields("884444")
		s.bytes(int(payload))
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

// kernelFields are what kernel records have between header and trailer
// [perf_event.h, enum perf_event_type].
var kernelFields = map[uint32]string{
	1: "44888", 10: "44888448844", 3: "44", 4: "44448", 7: "44448", // MMAP, MMAP2, COMM, EXIT, FORK
	8: "44*", 16: "44*", 12: "44", 15: "44", // READ, NAMESPACES, ITRACE_START, SWITCH_CPU_WIDE
	17: "8422", 18: "224", 19: "8", 20: "822", // KSYMBOL, BPF_EVENT, CGROUP, TEXT_POKE
	2: "*", 5: "*", 6: "*", 11: "*", 13: "*", 21: "*", // LOST, THROTTLE, UNTHROTTLE, AUX, LOST_SAMPLES, AUX_OUTPUT_HW_ID
}

// userFields are the bodies of perf's own records [perf's event.h].
var userFields = map[uint32]string{
	65: "8", 66: "4", 67: "4", 69: "*", 75: "*", 77: "*", // HEADER_EVENT_TYPE, TRACING_DATA, HEADER_BUILD_ID, ID_INDEX, STAT_CONFIG, STAT_ROUND
	70: "44*", 72: "44444488m44", 73: "N8c", 76: "844*", // AUXTRACE_INFO, AUXTRACE_ERROR, THREAD_MAP, STAT
	79: "88888", // TIME_CONV: six numbers, the last two of one byte
}

// user swaps the body of one of perf's own records.
func (s *swapper) user(typ uint32, r *records) {
	switch typ {
	case 64: // HEADER_ATTR: attr, ids
		if len(s.b) >= 8 {
			n := int(s.from.Uint32(s.b[4:]))
			a := s.sub(n)
			a.attr()
			s.fail(a.err)
		}
		s.fields("*")
	case 74: // CPU_MAP
		s.cpuMap()
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
	case 80: // HEADER_FEATURE
		id := s.u64()
		s.feature(int(id), r)
	case 81:
		s.fail(fmt.Errorf("it is compressed, unpack it before"))
	default:
		s.fields(userFields[typ])
	}
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
