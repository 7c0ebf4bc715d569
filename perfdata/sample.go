package perfdata

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
