package xrayfdr

import "io"

// judge finds out whether the events of the block lost their data. It reads the
// rest of the block both ways, from the first event on, and takes the way that
// makes more sense: that ends where the block ends, without breaking the
// grammar, whose calls return in order and whose time runs forwards. Where both
// make sense alike, other blocks of the file decide, and at last the document.
func (r *Reader) judge() error {
	asWritten, err := r.try(kept)
	if err != nil {
		return err
	}
	asLost, err := r.try(overwritten)
	if err != nil {
		return err
	}
	switch {
	case asWritten.better(asLost):
		r.payloads, r.told = kept, kept
	case asLost.better(asWritten):
		r.payloads, r.told = overwritten, overwritten
	default:
		r.payloads = max(r.told, kept)
	}
	return nil
}

// sense is how much sense a way of reading a block makes.
type sense struct {
	broken  bool
	reached int64 // broken: where
	odd     int   // things that runtimes do not do, or seldom
}

// better prefers whole blocks, then fewer oddities, then what goes further.
func (s sense) better(o sense) bool {
	switch {
	case s.broken != o.broken:
		return o.broken
	case s.broken && s.reached != o.reached:
		return s.reached > o.reached
	}
	return s.odd < o.odd
}

// try reads the rest of the block with the event's data kept or overwritten.
func (r *Reader) try(how payloads) (s sense, err error) {
	p := r.probe
	if p == nil {
		p = newReader(r.src, r.header, r.size, blockWindowSize)
		r.probe = p
	}
	p.block, p.end, p.limit, p.claimed = r.block, r.end, r.end, r.claimed
	p.state, p.tsc, p.cpu, p.payloads = r.state, r.tsc, r.cpu, how
	p.other, p.repairs = true, Repairs{}
	p.seek(r.offset())
	var calls callStack
	now := r.tsc
	for {
		rec, err := p.Next()
		if err == io.EOF {
			s.odd += int(p.repairs[CutRecord])
			return s, nil
		}
		if err != nil {
			if !isViolation(err) {
				return s, err
			}
			s.broken, s.reached = true, p.offset()
			return s, nil
		}
		switch rec.Kind {
		case Enter, EnterArgs, Exit, TailExit:
			if rec.Function == 0 || !calls.step(rec) {
				s.odd++
			}
			now = rec.TSC
		case NewCPU, TSCWrap:
			if rec.TSC < now {
				s.odd++
			}
			now = rec.TSC
		case CustomEvent, TypedEvent:
			if rec.TSC < now {
				s.odd++
			}
		}
	}
}

// A callStack holds the innermost calls that have not ended. Deeper ones fall
// off its end.
type callStack struct {
	ids [256]uint32
	n   int
}

// step notes a function record and says whether calls are in order with it: an
// exit is that of the innermost call, or of one whose entry was not seen.
func (c *callStack) step(rec *Record) bool {
	if rec.Kind == Enter || rec.Kind == EnterArgs {
		c.ids[c.n%len(c.ids)] = rec.Function
		c.n++
		return true
	}
	if c.n == 0 {
		return true
	}
	c.n--
	return c.ids[c.n%len(c.ids)] == rec.Function
}
