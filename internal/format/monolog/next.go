package monolog

import (
	"encoding/binary"
	"io"

	"github.com/jitinject/jitinject/internal/wire"
)

// Next returns the next event of the buffer, which is valid until the next
// call, and io.EOF at its end. Any other error, a *wire.Error or one that
// wraps ErrCut, ends the buffer: what follows cannot be read without the event that
// has it. NextBuffer goes on.
func (r *Reader) Next() (*Event, error) {
	if r.bad {
		return nil, io.EOF
	}
	if r.pos == r.lim && !r.fill(1) {
		r.bad = true
		if r.left == 0 {
			return nil, io.EOF
		}
		r.reported = true
		return nil, r.cutShort()
	}
	if r.lim-r.pos < lookAhead {
		r.fill(lookAhead)
	}
	e := &r.event
	if r.full {
		*e = Event{IPs: e.IPs[:0]}
		r.text = r.text[:0]
		r.full = false
	}
	if r.call(e) {
		return e, nil
	}
	r.full = true
	e.Offset = r.offset()
	first := r.buf[r.pos]
	r.pos++
	e.Type, e.Info, e.Kind, e.Method = Type(first&15), first>>4, KindNone, 0
	r.decode(e)
	if r.err != nil {
		return nil, r.failure()
	}
	e.Length = r.offset() - e.Offset
	return e, nil
}

// call reads the event of a method's entry or exit, if it lies in the window and has no
// number of more than 8 bytes. Nearly all events of a log of calls are these, so reading
// spends its time here. It says whether there was one.
func (r *Reader) call(e *Event) bool {
	b := r.buf[r.pos:r.lim]
	if len(b) < 1+8+8 || b[0]&15 != byte(TypeMethod) {
		return false
	}
	info := b[0] >> 4
	diff, n := leb8(binary.LittleEndian.Uint64(b[1:]))
	if info-exLeave > exExcLeave-exLeave || n > 8 {
		return false
	}
	method, m := leb8(binary.LittleEndian.Uint64(b[1+n:]))
	if m > 8 {
		return false
	}
	r.time += diff
	r.method = (r.method + extend(method, m)) & r.mask
	e.Offset, e.Length = r.base+int64(r.pos), int64(1+n+m)
	e.Time, e.Method = r.time, r.method
	e.Type, e.Info, e.Kind = TypeMethod, info, KindLeave+Kind(info-exLeave)
	r.pos += 1 + n + m
	return true
}

// lookAhead is how much of an event is in the window before it is looked at, if
// it has that much: enough for a step back to its start after an error.
const lookAhead = 64

// failure ends the buffer and returns the error. It steps back to the start of
// the event, where the next buffer may begin if this one is damaged.
func (r *Reader) failure() error {
	err, cut := r.err, r.cut
	r.err, r.cut = nil, false
	r.bad = true
	if cut {
		r.reported = true
		if r.srcErr != io.EOF {
			return r.sourceError(err.Offset)
		}
		return &cutError{err}
	}
	if r.in && r.event.Offset >= r.base {
		r.pos = int(r.event.Offset - r.base)
	}
	return err
}

// A cutError is an error in a field because the log ends there.
type cutError struct{ at *wire.Error }

func (e *cutError) Error() string   { return e.at.Error() }
func (e *cutError) Unwrap() []error { return []error{ErrCut, e.at} }
