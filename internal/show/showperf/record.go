package showperf

import (
	"fmt"
	"math/bits"

	"github.com/jitinject/jitinject/internal/show"
	"github.com/jitinject/jitinject/internal/wire"
	"github.com/jitinject/jitinject/perfdata"
)

// recordHead is the length of the header of every record of a recording.
const recordHead = 8

// A record is a record of a recording that is about to be shown.
type record struct {
	perfdata.Record
	*recordingViewer
	offset int64
	event  *event

	said             bool // which thread it is about
	saidPID, saidTID uint32
}

// find finds out which event the record is of.
func (p *record) find() {
	if p.Type.IsKernel() {
		p.event = p.events.of(p.Record)
	}
}

// body is a cursor behind the header, and in front of the sample id.
func (p *record) body() wire.Cursor {
	end := len(p.Data)
	if p.Type != perfdata.RecordSample && p.event != nil {
		end = max(recordHead, end-p.event.trailer)
	}
	return wire.NewCursor(perfdata.FormatName, p.Type.String(), p.Data[recordHead:end], p.order, p.offset+recordHead)
}

// trailer is a cursor at the sample id, if there is one.
func (p *record) trailer() (wire.Cursor, bool) {
	if p.event == nil || p.Type == perfdata.RecordSample || p.event.trailer == 0 || len(p.Data) < recordHead+p.event.trailer {
		return wire.Cursor{}, false
	}
	at := len(p.Data) - p.event.trailer
	return wire.NewCursor(perfdata.FormatName, p.Type.String(), p.Data[at:], p.order, p.offset+int64(at)), true
}

// time returns the record's time; perf's own have none, and those that perf made when
// it began have 0.
func (p *record) time() (uint64, bool) {
	if p.event == nil || p.event.sampleType&perfdata.FieldTime == 0 {
		return 0, false
	}
	at := 0
	if p.Type == perfdata.RecordSample {
		before := p.event.sampleType & (perfdata.FieldIdentifier | perfdata.FieldIP | perfdata.FieldTID)
		at = recordHead + 8*bits.OnesCount64(uint64(before))
	} else {
		if p.event.trailer == 0 {
			return 0, false
		}
		at = len(p.Data) - p.event.trailer
		if p.event.sampleType&perfdata.FieldTID != 0 {
			at += 8
		}
	}
	if at < recordHead || at+8 > len(p.Data) {
		return 0, false
	}
	return p.order.Uint64(p.Data[at:]), true
}

// pid returns the process that the record is about.
func (p *record) pid() (uint32, bool) {
	switch p.Type {
	case perfdata.RecordSample:
		if p.event == nil || p.event.sampleType&perfdata.FieldTID == 0 {
			return 0, false
		}
		at := recordHead + 8*bits.OnesCount64(uint64(p.event.sampleType&(perfdata.FieldIdentifier|perfdata.FieldIP)))
		if at+4 > len(p.Data) {
			return 0, false
		}
		return p.order.Uint32(p.Data[at:]), true
	case perfdata.RecordMmap, perfdata.RecordMmap2, perfdata.RecordComm, perfdata.RecordFork, perfdata.RecordExit, perfdata.RecordNamespaces,
		perfdata.RecordRead, perfdata.RecordItraceStart:
		if len(p.Data) >= recordHead+4 {
			return p.order.Uint32(p.Data[recordHead:]), true
		}
	}
	if p.event != nil && p.event.trailer > 0 && p.event.sampleType&perfdata.FieldTID != 0 && len(p.Data) >= recordHead+p.event.trailer {
		return p.order.Uint32(p.Data[len(p.Data)-p.event.trailer:]), true
	}
	return 0, false
}

// wanted reports whether the filter lets the record through.
func (p *record) wanted() bool {
	f := &p.Opts.Filter
	if len(f.PIDs) > 0 {
		if pid, ok := p.pid(); !ok || !f.MatchesPID(pid) {
			return false
		}
	}
	if f.Time.Set {
		if t, ok := p.time(); !f.MatchesTime(t, ok) {
			return false
		}
	}
	if len(f.Names) > 0 && !p.wantedName(f) {
		return false
	}
	return !f.Address.Set || p.wantedAddress(f)
}

// wantedName reports whether the name of a mapping or a thread is one that is looked for.
func (p *record) wantedName(f *show.Filter) bool {
	switch p.Type {
	case perfdata.RecordMmap, perfdata.RecordMmap2:
		m, err := p.layouts.Mmap(p.Record)
		return err == nil && f.MatchesName(m.Filename)
	case perfdata.RecordComm:
		c, err := p.layouts.Comm(p.Record)
		return err == nil && f.MatchesName(c.Name)
	}
	return false
}

// wantedAddress reports whether the record touches addresses that are looked for.
func (p *record) wantedAddress(f *show.Filter) bool {
	switch p.Type {
	case perfdata.RecordMmap, perfdata.RecordMmap2:
		m, err := p.layouts.Mmap(p.Record)
		return err == nil && f.Address.Meets(m.Addr, m.Len)
	case perfdata.RecordSample, perfdata.RecordCallchainDeferred:
		return p.refersTo(f.Address)
	case perfdata.RecordKsymbol, perfdata.RecordTextPoke:
		c := p.body()
		return f.Address.Meets(c.U64("addr"), 1)
	}
	return false
}

// show shows the record's fields.
func (p *record) show() error {
	o := p.Out
	if p.Misc != 0 {
		o.Hex("misc", uint64(p.Misc))
	}
	if mode := show.NameOf(cpuModes, uint64(p.Misc&7)); mode != "" {
		o.Word("mode", mode)
	}
	var err error
	switch p.Type {
	case perfdata.RecordSample:
		return p.sample()
	case perfdata.RecordMmap, perfdata.RecordMmap2:
		err = p.mmap()
	case perfdata.RecordComm:
		var c perfdata.Comm
		if c, err = p.layouts.Comm(p.Record); err == nil {
			p.process(c.PID, c.TID)
			if c.Exec {
				o.Word("by", "exec")
			}
			o.Str("comm", c.Name)
		}
	case perfdata.RecordFork, perfdata.RecordExit:
		var t perfdata.Task
		if t, err = p.layouts.Task(p.Record); err == nil {
			p.process(t.PID, t.TID)
			o.Num("ppid", uint64(t.ParentPID))
			o.Num("ptid", uint64(t.ParentTID))
			if _, ok := p.time(); !ok {
				o.Time("at", t.Time)
			}
		}
	case perfdata.RecordNamespaces:
		err = p.namespaces()
	case perfdata.RecordTimeConv:
		var t perfdata.TimeConv
		if t, err = p.layouts.TimeConv(p.Record); err == nil {
			o.Num("time_shift", t.Shift)
			o.Num("time_mult", t.Mult)
			o.Hex("time_zero", t.Zero)
			if t.Cycles != 0 || t.Mask != 0 {
				o.Hex("time_cycles", t.Cycles)
				o.Hex("time_mask", t.Mask)
			}
		}
	case perfdata.RecordCallchainDeferred:
		var d perfdata.DeferredCallchain
		layouts := p.layouts
		if p.event != nil {
			layouts = p.event.layouts
		}
		err = p.inFile(layouts.DecodeDeferred(p.Record, &d))
		o.Hex("cookie", d.Cookie)
		p.chain(d.Callchain)
	case perfdata.RecordHeaderAttr:
		var a perfdata.Attr
		if a, err = perfdata.HeaderAttr(p.order, p.Record); err == nil {
			p.attr(&a, len(p.events.list)-1)
		}
	case perfdata.RecordHeaderFeature:
		if id, content, ok := perfdata.HeaderFeature(p.order, p.Record); ok {
			return p.feature(id, content)
		}
		o.Word("feature", "none: the features end here")
	case perfdata.RecordHeaderBuildID:
		table := perfdata.AppendBuildIDRecord(nil, p.order, p.Record)
		for e, berr := range perfdata.BuildIDs(p.order, table) {
			if err = berr; err == nil {
				buildID(p.recordingViewer.Viewer, &e)
			}
		}
	default:
		err = p.plain()
	}
	if err != nil {
		return err
	}
	return p.sampleID()
}

func (p *record) process(pid, tid uint32) {
	p.said, p.saidPID, p.saidTID = true, pid, tid
	p.Out.Signed("pid", int64(int32(pid)))
	p.Out.Signed("tid", int64(int32(tid)))
}

func (p *record) mmap() error {
	m, err := p.layouts.Mmap(p.Record)
	if err != nil {
		return err
	}
	o := p.Out
	p.process(m.PID, m.TID)
	o.Hex("addr", m.Addr)
	o.Hex("len", m.Len)
	o.Hex("pgoff", m.PgOff)
	if p.Type == perfdata.RecordMmap2 {
		if m.BuildID != nil {
			o.ID("build_id", m.BuildID)
		} else {
			o.Word("dev", fmt.Sprintf("%x:%x", m.File.Major, m.File.Minor))
			o.Num("ino", m.File.Inode)
			o.Num("ino_generation", m.File.InodeGeneration)
		}
		o.Word("prot", protection(m.Prot))
		o.Hex("flags", uint64(m.Flags))
	}
	o.Str("filename", m.Filename)
	return nil
}

// protection writes PROT_* as ls writes modes.
func protection(prot uint32) string {
	b := []byte("---")
	for i, c := range []byte("rwx") {
		if prot&(1<<i) != 0 {
			b[i] = c
		}
	}
	if rest := prot &^ 7; rest != 0 {
		return fmt.Sprintf("%s+%#x", b, rest)
	}
	return string(b)
}

func (p *record) namespaces() error {
	n, err := p.layouts.Namespaces(p.Record)
	if err != nil {
		return err
	}
	o := p.Out
	p.process(n.PID, n.TID)
	o.List("namespaces")
	for i, link := range n.Links {
		o.Row()
		o.Named("kind", uint64(i), show.NameOf([]string{"net", "uts", "ipc", "pid", "user", "mnt", "cgroup"}, uint64(i)))
		o.Hex("dev", link.Dev)
		o.Num("inode", link.Inode)
	}
	o.EndList()
	return nil
}

func buildID(v *show.Viewer, e *perfdata.BuildIDEntry) {
	v.Out.Signed("pid", int64(e.PID))
	v.Out.ID("build_id", e.BuildID)
	v.Out.Str("filename", e.Filename)
}

// sampleID shows the sample id behind the record, without the time, which stands in
// front of it, and the thread, if the record is about that.
func (p *record) sampleID() error {
	c, ok := p.trailer()
	if !ok {
		return nil
	}
	o, t := p.Out, p.event.sampleType
	if t&perfdata.FieldTID != 0 {
		pid, tid := c.U32("pid"), c.U32("tid")
		if !p.said || pid != p.saidPID || tid != p.saidTID {
			o.Signed("sample_pid", int64(int32(pid)))
			o.Signed("sample_tid", int64(int32(tid)))
		}
	}
	if t&perfdata.FieldTime != 0 {
		c.U64("time")
	}
	if t&perfdata.FieldID != 0 {
		o.Hex("id", c.U64("id"))
	}
	if t&perfdata.FieldStreamID != 0 {
		o.Hex("stream_id", c.U64("stream_id"))
	}
	if t&perfdata.FieldCPU != 0 {
		o.Signed("cpu", int64(int32(c.U32("cpu"))))
		c.U32("res")
	}
	if t&perfdata.FieldIdentifier != 0 {
		o.Hex("identifier", c.U64("identifier"))
	}
	return c.Err()
}
