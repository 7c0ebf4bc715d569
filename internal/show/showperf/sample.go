package showperf

import (
	"errors"

	"github.com/jitinject/jitinject/internal/perfsample"
	"github.com/jitinject/jitinject/internal/show"
	"github.com/jitinject/jitinject/perfdata"
)

// sample shows a SAMPLE record. Of a damaged one it shows the fields before the damage.
func (p *record) sample() error {
	if p.event == nil {
		return errors.New("its event is unknown")
	}
	o, e, s := p.Out, p.event, &p.decoded
	err := e.layouts.DecodeSample(p.Record, perfdata.AllFields, s)
	if errors.Is(err, perfdata.ErrUnknownFields) {
		err = nil
	}
	has := func(f perfdata.SampleType) bool { return e.sampleType&f&s.Fields != 0 }
	if has(perfdata.FieldIdentifier) {
		o.Hex("identifier", s.Identifier)
	}
	if has(perfdata.FieldIP) {
		o.Hex("ip", s.IP)
	}
	if has(perfdata.FieldTID) {
		p.process(s.PID, s.TID)
	}
	p.hexFields([]hexField{{perfdata.FieldAddr, "addr", s.Addr}, {perfdata.FieldID, "id", s.ID}, {perfdata.FieldStreamID, "stream_id", s.StreamID}})
	if has(perfdata.FieldCPU) {
		o.Num("cpu", uint64(s.CPU))
	}
	if has(perfdata.FieldPeriod) {
		o.Num("period", s.Period)
	}
	if len(p.events.list) > 1 {
		o.Str("event", []byte(e.name))
	}
	if has(perfdata.FieldRead) {
		p.readValues(&s.Read)
	}
	if has(perfdata.FieldCallchain) {
		p.chain(s.Callchain)
	}
	if has(perfdata.FieldRaw) {
		o.Num("raw_size", uint64(len(s.Raw)))
	}
	if has(perfdata.FieldBranchStack) {
		p.branches(s)
	}
	if has(perfdata.FieldRegsUser) {
		p.registers("user_regs", &s.UserRegs)
	}
	if has(perfdata.FieldStackUser) {
		o.Num("stack_size", uint64(s.UserStack.Size))
		if s.UserStack.Size > 0 {
			o.Num("stack_copied", uint64(len(s.UserStack.Data)))
		}
	}
	p.hexFields([]hexField{
		{perfdata.FieldWeight | perfdata.FieldWeightStruct, "weight", s.Weight}, {perfdata.FieldDataSrc, "data_src", s.DataSrc},
		{perfdata.FieldTransaction, "transaction", s.Transaction},
	})
	if has(perfdata.FieldRegsIntr) {
		p.registers("intr_regs", &s.IntrRegs)
	}
	p.hexFields([]hexField{
		{perfdata.FieldPhysAddr, "phys_addr", s.PhysAddr}, {perfdata.FieldCgroup, "cgroup", s.Cgroup},
		{perfdata.FieldDataPageSize, "data_page_size", s.DataPageSize}, {perfdata.FieldCodePageSize, "code_page_size", s.CodePageSize},
	})
	if has(perfdata.FieldAux) {
		o.Num("aux_size", uint64(len(s.Aux)))
	}
	return p.inFile(err)
}

// inFile returns an error about the record with the offset in the file.
func (p *record) inFile(err error) error {
	if at := (*perfdata.Error)(nil); errors.As(err, &at) && at.InRecord {
		e := *at
		e.Offset, e.InRecord = p.offset+e.Offset, false
		return &e
	}
	return err
}

// A hexField is a field of one number.
type hexField struct {
	field perfdata.SampleType
	name  string
	value uint64
}

// hexFields shows those fields that the event has.
func (p *record) hexFields(list []hexField) {
	for _, f := range list {
		if p.event.sampleType&f.field&p.decoded.Fields != 0 {
			p.Out.Hex(f.name, f.value)
		}
	}
}

// chain shows a callchain.
func (p *record) chain(ips []uint64) {
	p.Out.Array("callchain")
	for _, ip := range ips {
		if name, ok := contexts[ip]; ok {
			p.Out.ElemWord(name)
		} else {
			p.Out.Elem(ip)
		}
	}
	p.Out.EndArray()
}

// readValues shows the counts of one event or of a group.
func (p *record) readValues(r *perfdata.Read) {
	const enabled, running, id, group, lost = 1, 2, 4, 8, 16
	o, format := p.Out, p.event.readFormat
	var one perfdata.ReadValue
	if len(r.Values) > 0 {
		one = r.Values[0]
	}
	if format&group == 0 {
		o.Num("value", one.Value)
	}
	if format&enabled != 0 {
		o.Num("time_enabled", r.TimeEnabled)
	}
	if format&running != 0 {
		o.Num("time_running", r.TimeRunning)
	}
	if format&group == 0 {
		if format&id != 0 {
			o.Hex("read_id", one.ID)
		}
		if format&lost != 0 {
			o.Num("read_lost", one.Lost)
		}
		return
	}
	o.List("values")
	for _, v := range r.Values {
		o.Row()
		o.Num("value", v.Value)
		if format&id != 0 {
			o.Hex("id", v.ID)
		}
		if format&lost != 0 {
			o.Num("lost", v.Lost)
		}
	}
	o.EndList()
}

// branches shows a branch stack.
func (p *record) branches(s *perfdata.Sample) {
	const hwIndex = 1 << 17
	o := p.Out
	if p.event.branchType&hwIndex != 0 {
		o.Signed("hw_idx", int64(s.BranchIndex))
	}
	o.List("branches")
	for i := range s.Branches {
		b := &s.Branches[i]
		o.Row()
		o.Hex("from", b.From)
		o.Hex("to", b.To)
		o.Hex("flags", b.Flags)
	}
	o.EndList()
}

// registers shows the values of registers.
func (p *record) registers(name string, r *perfdata.Registers) {
	p.Out.Array(name)
	for _, v := range r.Values {
		p.Out.Elem(v)
	}
	p.Out.EndArray()
}

// refersTo reports whether an address of the record is in a range: where it was
// taken, the data's, those of its callchain, its branches and its registers.
func (p *record) refersTo(r show.Range) (found bool) {
	var refs perfsample.Refs
	if refs.Read(p.layouts, p.Record) != nil {
		s, ok := p.layouts.SampleHead(p.Record)
		return ok && s.Time != perfdata.NoTime && r.Meets(s.IP, 1)
	}
	refs.Within(0, ^uint64(0), func(addr uint64) { found = found || r.Meets(addr, 1) })
	return found
}
