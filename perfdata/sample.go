package perfdata

import "encoding/binary"

// A Sample says where and when a SAMPLE record was taken.
type Sample struct {
	IP       uint64
	PID, TID uint32
	Time     uint64
}

// Sample reads a SAMPLE record. ok is false where it does not have all of that.
func (ls *Layouts) Sample(rec Record) (s Sample, ok bool) {
	l := ls.of(rec)
	if l == nil || l.sampleIP == 0 || l.sampleTID == 0 || l.sampleTime == 0 || len(rec.Data) < l.sampleTime+8 {
		return Sample{}, false // the time comes last of them
	}
	s = Sample{IP: ls.order.Uint64(rec.Data[l.sampleIP:]), Time: ls.order.Uint64(rec.Data[l.sampleTime:])}
	s.PID, s.TID = ls.order.Uint32(rec.Data[l.sampleTID:]), ls.order.Uint32(rec.Data[l.sampleTID+4:])
	return s, true
}

// SamplePlace reads where a SAMPLE record was taken: as Sample, but of an event without
// times, too. The time is all ones then. It is made for asking all of a recording.
func (ls *Layouts) SamplePlace(rec Record) (pid uint32, ip, time uint64, ok bool) {
	l := ls.of(rec)
	if l == nil || l.sampleIP == 0 || l.sampleTID == 0 || len(rec.Data) < max(l.sampleTID, l.sampleTime)+8 {
		return 0, 0, 0, false
	}
	time = ^uint64(0)
	if ls.little { // not through the interface
		le := binary.LittleEndian
		if l.sampleTime != 0 {
			time = le.Uint64(rec.Data[l.sampleTime:])
		}
		return le.Uint32(rec.Data[l.sampleTID:]), le.Uint64(rec.Data[l.sampleIP:]), time, true
	}
	if l.sampleTime != 0 {
		time = ls.order.Uint64(rec.Data[l.sampleTime:])
	}
	return ls.order.Uint32(rec.Data[l.sampleTID:]), ls.order.Uint64(rec.Data[l.sampleIP:]), time, true
}

// SampleEvent returns the id of the event that took a SAMPLE record. ok is false where
// samples have none: all are of one event then.
func (ls *Layouts) SampleEvent(rec Record) (id uint64, ok bool) {
	if len(ls.layouts) == 0 {
		return 0, false
	}
	at := ls.layouts[0].sampleID // in all of them
	if at < recordHead || at+8 > len(rec.Data) {
		return 0, false
	}
	return ls.order.Uint64(rec.Data[at:]), true
}
