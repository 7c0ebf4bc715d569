package perfdata

import (
	"encoding/binary"
	"slices"

	"github.com/jitinject/jitinject/internal/wire"
)

// A NewSample is a sample of user space, to be written by AppendSample.
type NewSample struct {
	ID       uint64   // of its event
	IP       uint64   // address
	PID, TID uint32   // of the thread
	Time     uint64   // nanoseconds of the recording's clock
	Addr     uint64   // as the event defines it
	CPU      uint32   // from 0
	Period   uint64   // number of events that the sample stands for
	Stack    []uint64 // addresses, the outermost first
	Raw      []byte   // cut at MaxRaw bytes
}

// MaxStack and MaxRaw always fit into a record: entries of the callchain, and bytes of raw data.
// Longer callchains lose their outermost entries.
const (
	MaxStack = 1024
	MaxRaw   = maxRecord - recordHead - 8*(MaxStack+16)
)

// newFields are the fields that AppendSample can write.
const newFields = FieldIdentifier | FieldIP | FieldTID | FieldTime | FieldAddr | FieldCPU | FieldPeriod | FieldCallchain | FieldRaw

// AppendSample appends a SAMPLE record with the given fields, which must be among IDENTIFIER, IP,
// TID, TIME, ADDR, CPU, PERIOD, CALLCHAIN and RAW. It panics otherwise. In the callchain, the
// innermost address comes first, after PERF_CONTEXT_USER. Raw data is padded with zeros so that the
// record's length is a multiple of 8, as in the kernel.
func AppendSample(dst []byte, order binary.ByteOrder, fields SampleType, s *NewSample) []byte {
	if fields&^newFields != 0 {
		panic("perfdata: AppendSample cannot write these fields")
	}
	begin := len(dst)
	b := wire.AppendTo(dst, order)
	b.U32(uint32(RecordSample))
	b.U16(MiscUser)
	b.U16(0) // set below
	if fields&FieldIdentifier != 0 {
		b.U64(s.ID)
	}
	if fields&FieldIP != 0 {
		b.U64(s.IP)
	}
	if fields&FieldTID != 0 {
		b.U32(s.PID)
		b.U32(s.TID)
	}
	if fields&FieldTime != 0 {
		b.U64(s.Time)
	}
	if fields&FieldAddr != 0 {
		b.U64(s.Addr)
	}
	if fields&FieldCPU != 0 {
		b.U32(s.CPU)
		b.U32(0)
	}
	if fields&FieldPeriod != 0 {
		b.U64(s.Period)
	}
	if fields&FieldCallchain != 0 {
		stack := s.Stack[max(0, len(s.Stack)-MaxStack):]
		b.U64(uint64(len(stack)) + 1)
		b.U64(ContextUser)
		for i := len(stack) - 1; i >= 0; i-- {
			b.U64(stack[i])
		}
	}
	if fields&FieldRaw != 0 {
		raw := s.Raw[:min(len(s.Raw), MaxRaw)]
		padded := (4+max(len(raw), 4)+7)&^7 - 4
		b.U32(uint32(padded))
		b.Bytes(raw)
		b.Zeros(padded - len(raw))
	}
	order.PutUint16(b.Data[begin+6:], uint16(len(b.Data)-begin))
	return b.Data
}

// Types and configs of software events, and offsets and flags of perf_event_attr [perf_event.h,
// enum perf_sw_ids].
const (
	TypeSoftware     = 1
	ConfigDummy      = 9
	ConfigBPFOutput  = 10
	flagExcludeK     = 5
	flagExcludeHV    = 6
	attrSize         = 4
	attrSamplePeriod = 16
)

// NewAttr returns a software event for a recording. It has the size, clock and read format of like,
// and sample_id_all if that has it.
func NewAttr(order binary.ByteOrder, like *Attr, config uint64, fields SampleType, id uint64) Attr {
	a := Attr{Raw: make([]byte, len(like.Raw)), IDs: []uint64{id}, order: order}
	order.PutUint32(a.Raw, TypeSoftware)
	copy(a.Raw[attrSize:attrSize+4], like.Raw[attrSize:])
	order.PutUint64(a.Raw[attrConfig:], config)
	order.PutUint64(a.Raw[attrSamplePeriod:], 1)
	order.PutUint64(a.Raw[attrSampleType:], uint64(fields))
	copy(a.Raw[attrReadFormat:attrReadFormat+8], like.Raw[attrReadFormat:])
	a.set(flagExcludeK)
	a.set(flagExcludeHV)
	if like.Has(FlagSampleIDAll) {
		a.set(FlagSampleIDAll)
	}
	if clock, ok := like.ClockID(); ok {
		a.set(FlagUseClockID)
		order.PutUint32(a.Raw[attrClockID:], uint32(clock))
	}
	return a
}

// set sets a one-bit field.
func (a *Attr) set(f AttrFlag) {
	if a.order == binary.BigEndian {
		a.Raw[attrFlags+int(f)/8] |= 1 << (7 - f%8)
	} else {
		a.Raw[attrFlags+int(f)/8] |= 1 << (f % 8)
	}
}

// WithField returns a copy of the attr with another field in samples.
func (a *Attr) WithField(f SampleType) Attr {
	c := Attr{Raw: slices.Clone(a.Raw), IDs: slices.Clone(a.IDs), order: a.order}
	a.order.PutUint64(c.Raw[attrSampleType:], uint64(a.SampleType()|f))
	return c
}
