package showperf

import (
	"errors"
	"math/bits"

	"github.com/jitinject/jitinject/internal/show"
	"github.com/jitinject/jitinject/internal/wire"
	"github.com/jitinject/jitinject/perfdata"
)

// sample shows a SAMPLE record: its fields stand one behind the other, in the order of
// PERF_RECORD_SAMPLE in linux/perf_event.h.
func (p *record) sample() error {
	if p.event == nil {
		return errors.New("no event is known that it could be of")
	}
	o, e := p.Out, p.event
	t := e.sampleType
	has := func(f perfdata.SampleType) bool { return t&f != 0 }
	c := p.body()
	if has(perfdata.FieldIdentifier) {
		o.Hex("identifier", c.U64("identifier"))
	}
	if has(perfdata.FieldIP) {
		o.Hex("ip", c.U64("ip"))
	}
	if has(perfdata.FieldTID) {
		pid, tid := c.U32("pid"), c.U32("tid")
		p.process(pid, tid)
	}
	if has(perfdata.FieldTime) {
		c.U64("time") // stands in front
	}
	for _, f := range []struct {
		field perfdata.SampleType
		name  string
	}{{perfdata.FieldAddr, "addr"}, {perfdata.FieldID, "id"}, {perfdata.FieldStreamID, "stream_id"}} {
		if has(f.field) {
			o.Hex(f.name, c.U64(f.name))
		}
	}
	if has(perfdata.FieldCPU) {
		o.Num("cpu", uint64(c.U32("cpu")))
		c.U32("res")
	}
	if has(perfdata.FieldPeriod) {
		o.Num("period", c.U64("period"))
	}
	if len(p.events.list) > 1 {
		o.Str("event", []byte(e.name))
	}
	if has(perfdata.FieldRead) {
		p.readValues(&c)
	}
	if has(perfdata.FieldCallchain) {
		p.chain(&c)
	}
	if has(perfdata.FieldRaw) {
		n := c.U32("raw.size")
		c.Bytes("raw", uint64(n))
		o.Num("raw_size", uint64(n))
	}
	if has(perfdata.FieldBranchStack) {
		p.branches(&c)
	}
	if has(perfdata.FieldRegsUser) {
		p.registers(&c, "user_regs", e.regsUser)
	}
	if has(perfdata.FieldStackUser) {
		size := c.U64("stack.size")
		o.Num("stack_size", size)
		if size > 0 {
			c.Bytes("stack", size)
			o.Num("stack_copied", c.U64("stack.dyn_size"))
		}
	}
	for _, f := range []struct {
		field perfdata.SampleType
		name  string
	}{
		{perfdata.FieldWeight | perfdata.FieldWeightStruct, "weight"}, {perfdata.FieldDataSrc, "data_src"},
		{perfdata.FieldTransaction, "transaction"},
	} {
		if has(f.field) {
			o.Hex(f.name, c.U64(f.name))
		}
	}
	if has(perfdata.FieldRegsIntr) {
		p.registers(&c, "intr_regs", e.regsIntr)
	}
	for _, f := range []struct {
		field perfdata.SampleType
		name  string
	}{
		{perfdata.FieldPhysAddr, "phys_addr"}, {perfdata.FieldCgroup, "cgroup"},
		{perfdata.FieldDataPageSize, "data_page_size"}, {perfdata.FieldCodePageSize, "code_page_size"},
	} {
		if has(f.field) {
			o.Hex(f.name, c.U64(f.name))
		}
	}
	if has(perfdata.FieldAux) {
		n := c.U64("aux.size")
		c.Bytes("aux", n)
		o.Num("aux_size", n)
	}
	return c.Err()
}

// entries returns how many entries of so many words can be read: all that are announced,
// or none.
func entries(c *wire.Cursor, field string, n, words uint64) uint64 {
	if c.Err() == nil && n > uint64(c.Len())/(8*words) {
		c.Fail(field, "%d entries of %d bytes, but %d bytes of the record are left", n, 8*words, c.Len())
	}
	if c.Err() != nil {
		return 0
	}
	return n
}

// chain shows a callchain: u64 nr, u64 ips[nr].
func (p *record) chain(c *wire.Cursor) error {
	n := entries(c, "callchain", c.U64("callchain.nr"), 1)
	p.Out.Array("callchain")
	for range n {
		ip := c.U64("ip")
		if name, ok := contexts[-ip]; ok {
			p.Out.ElemWord(name)
		} else {
			p.Out.Elem(ip)
		}
	}
	p.Out.EndArray()
	return c.Err()
}

// readValues shows the counts of one event or of a group [perf_event.h, struct
// read_format].
func (p *record) readValues(c *wire.Cursor) {
	const enabled, running, id, group, lost = 1, 2, 4, 8, 16
	o, format := p.Out, p.event.readFormat
	n := uint64(1)
	if format&group != 0 {
		n = c.U64("read.nr")
	} else {
		o.Num("value", c.U64("read.value"))
	}
	if format&enabled != 0 {
		o.Num("time_enabled", c.U64("read.time_enabled"))
	}
	if format&running != 0 {
		o.Num("time_running", c.U64("read.time_running"))
	}
	each := uint64(bits.OnesCount64(format & (id | lost)))
	if format&group == 0 {
		if format&id != 0 {
			o.Hex("read_id", c.U64("read.id"))
		}
		if format&lost != 0 {
			o.Num("read_lost", c.U64("read.lost"))
		}
		return
	}
	o.List("values")
	for range entries(c, "read.values", n, 1+each) {
		o.Row()
		o.Num("value", c.U64("read.value"))
		if format&id != 0 {
			o.Hex("id", c.U64("read.id"))
		}
		if format&lost != 0 {
			o.Num("lost", c.U64("read.lost"))
		}
	}
	o.EndList()
}

// branches shows a branch stack: u64 nr, with HW_INDEX u64 hw_idx, nr times { u64 from,
// to, flags }, with COUNTERS u64 counters[nr].
func (p *record) branches(c *wire.Cursor) {
	const hwIndex, counters = 1 << 17, 1 << 19
	o := p.Out
	n := c.U64("branches.nr")
	if p.event.branchType&hwIndex != 0 {
		o.Signed("hw_idx", int64(c.U64("branches.hw_idx")))
	}
	n = entries(c, "branches", n, 3)
	o.List("branches")
	for range n {
		o.Row()
		o.Hex("from", c.U64("from"))
		o.Hex("to", c.U64("to"))
		o.Hex("flags", c.U64("flags"))
	}
	o.EndList()
	if p.event.branchType&counters != 0 {
		for range entries(c, "branches.counters", n, 1) {
			c.U64("counter")
		}
	}
}

// registers shows the registers of a mask: u64 abi, and unless that is 0 the values.
func (p *record) registers(c *wire.Cursor, name string, mask uint64) {
	o := p.Out
	abi := c.U64("registers.abi")
	o.Array(name)
	defer o.EndArray()
	if abi == 0 {
		return
	}
	for range entries(c, "registers", uint64(bits.OnesCount64(mask)), 1) {
		o.Elem(c.U64("register"))
	}
}

// sampleTouches reports whether an address of the record is in a range: where it was
// taken, the data's, those of its callchain, its branches and its registers.
func (p *record) sampleTouches(r show.Range) bool {
	var t perfdata.Touches
	if p.layouts.Touches(p.Record, &t) != nil {
		s, ok := p.layouts.Sample(p.Record)
		return ok && r.Touches(s.IP, 1)
	}
	for _, a := range t.Addrs {
		if r.Touches(a, 1) {
			return true
		}
	}
	return false
}
