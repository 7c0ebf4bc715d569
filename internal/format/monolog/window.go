package monolog

import "io"

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
