package xrayfdr

// event decodes the marker of an event with the data d, and finds its payload.
func (r *Reader) event(d []byte, to state) (*Record, error) {
	rec, o := &r.rec, r.header.Order
	size := int32(o.Uint32(d))
	if size < 0 || size > maxPayload {
		return r.fail(r.bad(rec.Kind.String(), "event_size", 1, "is %d; 0 to %d are plausible", size, maxPayload))
	}
	rec.PayloadSize = uint32(size)
	// The layouts behind the size:
	//	custom 1-3   u64 tsc
	//	custom 4     u64 tsc, u16 cpu
	//	custom 5     i32 delta
	//	typed  3-4   u64 tsc, u16 type
	//	typed  5     i32 delta, u16 type
	tsc, used := r.tsc, 4
	if r.version() >= 5 {
		rec.Delta = int64(int32(o.Uint32(d[used:])))
		tsc += uint64(rec.Delta)
		used += 4
	} else {
		rec.TSC = o.Uint64(d[used:])
		used += 8
	}
	rec.CPU = r.cpu
	switch {
	case rec.Kind == TypedEvent:
		rec.Type = o.Uint16(d[used:])
		used += 2
	case r.version() == 4:
		rec.CPU = o.Uint16(d[used:])
		used += 2
	}
	if r.version() >= 5 {
		rec.TSC = tsc
	}
	garbage := !isZero(d[used:])

	step := metadataSize + int(size)
	n, err := r.fill(step)
	if err != nil {
		return r.fail(err)
	}
	if n < step {
		if r.version() == 1 && !r.block.Cut || r.header.BufferSize > 0 && uint64(size) > r.header.BufferSize {
			return r.fail(r.bad(rec.Kind.String(), "event_size", 1, "is %d, but the buffer ends after %d bytes", size, max(n-metadataSize, 0)))
		}
		return r.cut()
	}
	if garbage {
		r.fixes[ReservedBytes]++
	}
	rec.Payload = r.win[r.pos+metadataSize : r.pos+step : r.pos+step]
	if rec.Kind == TypedEvent {
		r.typed++
	}
	r.tsc = tsc
	r.pos += step
	r.state = to
	return rec, nil
}
