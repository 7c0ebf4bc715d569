package xrayfdr

import "fmt"

// open reads the records that begin the block at the window's position, so that
// the block can be handed out before its first record.
func (r *Reader) open() error {
	r.end = r.block.Offset + r.block.Size
	r.seek(r.block.Offset)
	n, err := r.fill(headSize)
	if err != nil {
		return err
	}
	own := r.readHead(r.win[r.pos : r.pos+n])
	if !own {
		if err := r.carry(); err != nil {
			return err
		}
	}
	r.begin()
	return nil
}

// headSize is enough for the records that begin a block.
const headSize = 5 * metadataSize

// readHead takes from the block's first bytes what a Block says. It returns
// whether the block has a TSC of its own.
func (r *Reader) readHead(b []byte) bool {
	o, state := r.header.Order, atStart
	for ; len(b) >= metadataSize && state < inBody; b = b[metadataSize:] {
		metadata, kind, ok := r.split(b)
		if !metadata || !ok {
			break
		}
		if state = transitions[state][kind]; state == rejected {
			break
		}
		switch d := b[1:metadataSize]; kind {
		case NewBuffer:
			r.block.TID = r.tid(d)
		case WallTime:
			r.block.Seconds, r.block.Microseconds = int64(o.Uint64(d)), o.Uint32(d[8:])
		case PID:
			r.block.PID = o.Uint32(d)
		case NewCPU:
			r.block.CPU, r.block.TSC, r.block.Base = o.Uint16(d), o.Uint64(d[2:]), OwnBase
			return true
		}
	}
	return false
}

// tid returns the thread id of a NewBuffer record. The document gives it two
// bytes and runtimes write four. Where the two are at the number's wrong end,
// as in a big-endian file that keeps to the document, the number would be a
// multiple of 65536.
func (r *Reader) tid(d []byte) uint32 {
	tid := r.header.Order.Uint32(d)
	if r.big && tid&0xffff == 0 {
		tid >>= 16
	}
	return tid
}

// errNoBlock is what NextBlock returns where a block has to begin and does not.
func (r *Reader) errNoBlock(at, next int64, what place) error {
	r.seek(at)
	end := [...]string{nothing: "the file's end", head: "the next block", header: "another trace"}[what]
	return r.bad("NewBuffer", "", 0, "no block begins here: %d bytes are not read, up to %s", next-at, end)
}

var errTooMany = fmt.Errorf("%s: more than %d blocks", FormatName, maxBlocks)

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
