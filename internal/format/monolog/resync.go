package monolog

import (
	"bytes"
	"encoding/binary"
	"io"
)

// skip moves behind the current buffer, or to a header that begins inside it, which shows
// that its length is wrong. It reports whether the log goes that far.
func (r *Reader) skip() bool {
	end := r.offset() + int64(r.lim-r.pos) + int64(r.left)
	if r.offset() == end {
		return true
	}
	r.limit(uint64(end-r.offset()) + bufferHeaderSize - 1)
	if r.toHeader() {
		return true
	}
	if r.offset() < end {
		return false
	}
	r.pos -= int(r.offset() - end) // toHeader keeps what a header may begin with
	return true
}

// search moves to the next header, or to the end, and returns by how many bytes.
func (r *Reader) search(from int64) int64 {
	r.limit(1 << 62)
	r.pos++
	r.toHeader()
	n := r.offset() - from
	r.limit(0)
	return n
}

// toHeader moves to the next header before the limit, or else to the limit or the end.
func (r *Reader) toHeader() bool {
	for {
		if i := r.findHeader(r.buf[r.pos:r.lim]); i >= 0 {
			r.pos += i
			return true
		}
		if r.left == 0 {
			r.pos = r.lim
			return false
		}
		r.pos = max(r.pos, r.lim-bufferHeaderSize+1) // a header may begin here
		if !r.fill(r.lim - r.pos + 1) {
			r.pos = r.lim
			return false
		}
	}
}

// findHeader looks for the whole header of a buffer of the same program, and
// returns where it begins, or -1.
func (r *Reader) findHeader(b []byte) int {
	for at := 0; ; at++ {
		i := bytes.Index(b[at:], magicBytes)
		if i < 0 || len(b)-at-i < bufferHeaderSize {
			return -1
		}
		at += i
		apart := int64(binary.LittleEndian.Uint64(b[at+8:]) - r.buffer.Time)
		if r.buffer.Time == 0 || apart > -searchTime && apart < searchTime {
			return at
		}
	}
}

var magicBytes = binary.LittleEndian.AppendUint32(nil, magicBuffer)

// searchTime is how far, in nanoseconds, times of buffers one behind the other may be apart for
// a header to be believed that is not where it should be: a day.
const searchTime = 24 * 3600 * 1e9

// offset returns the offset of the next byte.
func (r *Reader) offset() int64 { return r.base + int64(r.pos) }

// limit says that the next n bytes belong together.
func (r *Reader) limit(n uint64) {
	have := uint64(r.end - r.pos)
	take := min(have, n)
	r.lim = r.pos + int(take)
	r.left = n - take
}

// maxIdle is how often a source may give nothing, and no error.
const maxIdle = 100

// fill sees to it that n bytes are in the window before lim, and reports whether
// they are. It moves what is in the window to its front.
func (r *Reader) fill(n int) bool {
	if r.lim-r.pos >= n {
		return true
	}
	if r.left == 0 {
		return false
	}
	if r.pos > 0 {
		copy(r.buf, r.buf[r.pos:r.end])
		r.base += int64(r.pos)
		r.lim -= r.pos
		r.end -= r.pos
		r.pos = 0
	}
	for idle := 0; r.lim < n && r.srcErr == nil && r.end < len(r.buf); {
		m, err := r.src.Read(r.buf[r.end:])
		r.end += m
		r.srcErr = err
		if m > 0 {
			idle = 0
		} else if idle++; idle > maxIdle && err == nil {
			r.srcErr = io.ErrNoProgress
		}
		r.limit(uint64(r.lim-r.pos) + r.left)
	}
	return r.lim-r.pos >= n
}
