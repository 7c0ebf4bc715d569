package perfdata

import (
	"encoding/binary"

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
