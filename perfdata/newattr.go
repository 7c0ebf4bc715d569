package perfdata

import (
	"encoding/binary"
	"slices"
)

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
