package xrayfdr

import "io"

// judge finds out whether the events of the block lost their data. It reads the
// rest of the block both ways, from the first event on, and takes the way that
// makes more sense. That way ends where the block ends and follows the grammar.
// Its calls return in order, and its time runs forwards. If both make the same
// sense, other blocks of the file decide, and at last the document.
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
		r.payloads, r.reported = kept, kept
	case asLost.better(asWritten):
		r.payloads, r.reported = overwritten, overwritten
	default:
		r.payloads = max(r.reported, kept)
	}
	return nil
}

// sense is how much sense a way of reading a block makes.
type sense struct {
	damaged bool
	odd     int   // things that runtimes do not do, or seldom
	reached int64 // where it is broken, or EndOfBuffer stands
}

// better prefers whole blocks, then fewer oddities, then what goes further: the
// bytes of a record that is read in the wrong place may look like EndOfBuffer.
func (s sense) better(o sense) bool {
	switch {
	case s.damaged != o.damaged:
		return o.damaged
	case s.odd != o.odd && !s.damaged:
		return s.odd < o.odd
	}
	return s.reached > o.reached
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
	p.other, p.fixes = true, Fixes{}
	p.seek(r.offset())
	s.reached = p.end
	var calls callStack
	now := r.tsc
	for {
		rec, err := p.Next()
		if err == io.EOF {
			s.odd += int(p.fixes[CutRecord]+p.fixes[NoEndOfBuffer]+p.fixes[LateEndOfBuffer]) + calls.n
			return s, nil
		}
		if err != nil {
			if !isViolation(err) {
				return s, err
			}
			s.damaged, s.reached = true, p.offset()
			return s, nil
		}
		switch rec.Kind {
		case Enter, EnterArgs, Exit, TailExit:
			s.odd += calls.step(rec)
			if rec.Function == 0 {
				s.odd++
			}
			now = rec.TSC
		case EndOfBuffer:
			s.reached = rec.Offset
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

// step notes a function record and returns how much is odd about it: an exit
// without its own entry after other entries, or the entries without exit that
// it goes past. Exceptions leave some of those.
func (c *callStack) step(rec *Record) (odd int) {
	if rec.Kind == Enter || rec.Kind == EnterArgs {
		c.ids[c.n%len(c.ids)] = rec.Function
		c.n++
		return 0
	}
	for i := c.n - 1; i >= max(c.n-len(c.ids), 0); i-- {
		if c.ids[i%len(c.ids)] == rec.Function {
			odd = c.n - 1 - i
			c.n = i
			return odd
		}
	}
	return min(c.n, 1)
}
