package perfsample

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"

	"github.com/jitinject/jitinject/perfdata"
)

// Refs are the addresses that a record refers to. They are valid until the next Read, and while the
// record's block is. Call Read before the other methods.
type Refs struct {
	PID, TID uint32
	Time     uint64 // nanoseconds of the recording's clock; 0 if the record has none

	// Traced reports that the sample has a piece of a hardware trace (PERF_SAMPLE_AUX), which may
	// refer to any address.
	Traced bool

	sample   *perfdata.Sample  // the record, or an empty one
	short    perfdata.Sample   // a record without other addresses than its IP and a callchain
	raw      []byte            // its callchain
	chain    []uint64          // of other records
	layouts  *perfdata.Layouts // of the last Read
	little   bool              // their byte order
	decoded  perfdata.Sample
	deferred perfdata.DeferredCallchain
}

// fields are those that may have addresses, up to AUX; DecodeSample then checks all.
const fields = perfdata.FieldIP | perfdata.FieldAddr | perfdata.FieldCallchain | perfdata.FieldBranchStack |
	perfdata.FieldRegsUser | perfdata.FieldStackUser | perfdata.FieldRegsIntr | perfdata.FieldAux

// Check reports whether [Refs.Read] can read the samples of all events of a recording. The error
// names an event with unknown fields, or with samples that have no process.
func Check(layouts *perfdata.Layouts, attrs []perfdata.Attr) error {
	if err := layouts.CanDecode(); err != nil {
		return err
	}
	for i := range attrs {
		if attrs[i].SampleType()&perfdata.FieldTID == 0 {
			return fmt.Errorf("%s: event %d: %w", perfdata.FormatName, i, errNoProcess)
		}
	}
	return nil
}

var errNoProcess = errors.New("its samples do not name their processes")

// Read reads the addresses of a SAMPLE or a CALLCHAIN_DEFERRED record. Other records refer to none.
//
// It fails in three cases: the record is shorter than its counts require, it has no process, or its
// fields are unknown. In the last case, its event is missing in the attrs, or has fields newer than
// package perfdata. After an error, r has nothing usable.
func (r *Refs) Read(layouts *perfdata.Layouts, rec perfdata.Record) error {
	r.PID, r.TID, r.Time, r.Traced = 0, 0, 0, false
	r.sample, r.raw, r.chain = &none, nil, nil
	if r.layouts != layouts { // comparing orders takes as long as reading a sample's head
		r.layouts, r.little = layouts, layouts.Order() == binary.LittleEndian
	}
	switch rec.Type {
	case perfdata.RecordSample:
		if h, chain, ok := layouts.SampleChain(rec); ok {
			r.PID, r.TID, r.Time = h.PID, h.TID, h.Time
			r.short.Fields, r.short.IP = perfdata.FieldIP, h.IP
			r.sample, r.raw = &r.short, chain
			return nil
		}
		s := &r.decoded
		if err := layouts.DecodeSample(rec, fields, s); err != nil {
			return err
		}
		if s.Fields&perfdata.FieldTID == 0 {
			return fmt.Errorf("%s: a %s record: %w", perfdata.FormatName, rec.Type, errNoProcess)
		}
		r.PID, r.TID, r.Time, r.Traced = s.PID, s.TID, s.Time, len(s.Aux) > 0
		r.sample, r.chain = s, s.Callchain
	case perfdata.RecordCallchainDeferred:
		id, ok := layouts.SampleID(rec)
		if !ok || id.Fields&perfdata.FieldTID == 0 {
			return fmt.Errorf("%s: a %s record does not name its process", perfdata.FormatName, rec.Type)
		}
		if err := layouts.DecodeDeferred(rec, &r.deferred); err != nil {
			return err
		}
		r.PID, r.TID, r.Time, r.chain = id.PID, id.TID, id.Time, r.deferred.Callchain
	}
	return nil
}

// none is the sample of other records.
var none perfdata.Sample

// Within appends every address from lo to hi, both included, to a list, except those in the stack.
// They come from the sample's ip and addr, the callchain, both ends of branches, and the registers.
// They include kernel addresses, and values that are no addresses. An address may occur several times.
func (r *Refs) Within(list []uint64, lo, hi uint64) []uint64 {
	s, span := r.sample, hi-lo
	if s.Fields&perfdata.FieldIP != 0 {
		list = appendWithin(list, s.IP, lo, span)
	}
	if s.Fields&perfdata.FieldAddr != 0 {
		list = appendWithin(list, s.Addr, lo, span)
	}
	for i := 0; i < len(r.chain); i++ {
		switch ip := r.chain[i]; {
		case ip-lo <= span && ip < perfdata.ContextMin:
			list = append(list, ip)
		case ip == perfdata.ContextUserDeferred:
			i++ // skip the cookie
		}
	}
	for i := 0; i+8 <= len(r.raw); i += 8 {
		ip := binary.LittleEndian.Uint64(r.raw[i:])
		if !r.little {
			ip = bits.ReverseBytes64(ip)
		}
		switch {
		case ip-lo <= span && ip < perfdata.ContextMin:
			list = append(list, ip)
		case ip == perfdata.ContextUserDeferred:
			i += 8
		}
	}
	for i := range s.Branches {
		list = appendWithin(list, s.Branches[i].From, lo, span)
		list = appendWithin(list, s.Branches[i].To, lo, span)
	}
	for _, v := range s.UserRegs.Values {
		list = appendWithin(list, v, lo, span)
	}
	for _, v := range s.IntrRegs.Values {
		list = appendWithin(list, v, lo, span)
	}
	return list
}

// appendWithin appends an address from lo to lo+span to a list. It is no closure, so the list stays in registers.
func appendWithin(list []uint64, addr, lo, span uint64) []uint64 {
	if addr-lo <= span {
		list = append(list, addr)
	}
	return list
}

// Stack returns the copy of the user stack, which the kernel may have truncated.
func (r *Refs) Stack() []byte { return r.sample.UserStack.Data }

// StackWithin appends every word of the stack that is an address from lo to hi, both included, to a list.
// Return addresses are at multiples of the word size from the stack pointer, at which the copy
// begins.
func (r *Refs) StackWithin(list []uint64, lo, hi uint64) []uint64 {
	b, span := r.sample.UserStack.Data, hi-lo
	switch {
	case r.sample.UserRegs.ABI == 1: // 32 bits
		for ; len(b) >= 4; b = b[4:] {
			if w := uint64(r.layouts.Order().Uint32(b)); w-lo <= span {
				list = append(list, w)
			}
		}
	case r.little: // not through the interface: most of a recording is stacks
		for ; len(b) >= 8; b = b[8:] {
			if w := binary.LittleEndian.Uint64(b); w-lo <= span {
				list = append(list, w)
			}
		}
	default:
		for ; len(b) >= 8; b = b[8:] {
			if w := binary.BigEndian.Uint64(b); w-lo <= span {
				list = append(list, w)
			}
		}
	}
	return list
}
