package xrayfdr

// metadata decodes the metadata record in b; its kind is in r.rec already,
// and steps over it.
func (r *Reader) metadata(b []byte, to state) (*Record, error) {
	rec, o, d := &r.rec, r.header.Order, b[1:metadataSize]
	used := 0 // bytes of d
	switch rec.Kind {
	case NewBuffer:
		rec.TID, used = r.tid(d), 4
		if rec.TID > 0xffff {
			r.fixes[WideThreadID]++
		}
	case NewCPU:
		r.cpu, r.tsc, used = o.Uint16(d), o.Uint64(d[2:]), 10
		rec.CPU, rec.TSC = r.cpu, r.tsc
	case TSCWrap:
		r.tsc, used = o.Uint64(d), 8
		rec.CPU, rec.TSC = r.cpu, r.tsc
	case WallTime:
		rec.Seconds, rec.Microseconds, used = int64(o.Uint64(d)), o.Uint32(d[8:]), 12
	case CallArgument:
		rec.Argument, used = o.Uint64(d), 8
		if to == afterEnter {
			r.fixes[PlainArguments]++
		}
	case Extents:
		rec.Extents, used = o.Uint64(d), 8
	case PID:
		rec.PID, used = o.Uint32(d), 4
	case CustomEvent, TypedEvent:
		return r.event(d, to)
	}
	r.reserved(d[used:])
	r.pos += metadataSize
	r.state = to
	return rec, nil
}

// reserved counts records with garbage in the bytes behind their fields.
func (r *Reader) reserved(d []byte) {
	if !isZero(d) {
		r.fixes[ReservedBytes]++
	}
}
