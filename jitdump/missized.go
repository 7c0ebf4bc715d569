package jitdump

import (
	"bytes"
	"errors"
)

// V8 15 announces a wrong size for a JIT_CODE_DEBUG_INFO whose last entry is of another
// script than its first. It adds up the names of the entries' scripts, but writes each
// entry with the name of the script before, so that the first one's name is there twice
// and the last one's is not (perf-jit.cc, LogWriteDebugInfo). The next record then begins some
// bytes earlier or later.

// v8Pad is what V8 writes into the header's pad field, in all versions.
const v8Pad = 0xdeadbeef

const (
	debugHead  = 2 * 8    // code_addr and nr_entry
	maxMissize = 8 << 10  // bytes that two names of files may differ by
	maxApart   = 60 * 1e9 // ns between a function's debug record and the next one
)

// debugEnd returns where the record behind the debug record at offset off begins, of
// which size bytes are announced. That is where its entries end, if no record can be
// where the size says and one is there.
func (r *Reader) debugEnd(off, size int64) (int64, error) {
	announced := off + size
	if r.header.Pad != v8Pad {
		return announced, nil
	}
	b, err := r.at(off, int(size)+prefixSize)
	if err != nil || len(b) < int(size)+prefixSize || r.follows(b, b[size:]) {
		return announced, err
	}
	b, err = r.at(off, int(size)+maxMissize)
	if err != nil || len(b) < prefixSize+debugHead {
		return announced, err
	}
	count, at := r.header.Order.Uint64(b[prefixSize+8:]), prefixSize+debugHead
	for range count {
		if len(b)-at <= DebugEntryHead {
			return announced, nil
		}
		n := bytes.IndexByte(b[at+DebugEntryHead:], 0)
		if n < 0 {
			return announced, nil
		}
		at += DebugEntryHead + n + 1
	}
	for pad := 0; pad < 8 && at+pad+prefixSize <= len(b) && allZero(b[at:at+pad]); pad++ {
		if !r.follows(b, b[at+pad:]) {
			continue
		}
		switch ok, err := r.recordAt(off + int64(at+pad)); {
		case ok:
			return off + int64(at+pad), nil
		case err != nil && !errors.Is(err, ErrCut):
			return announced, err
		}
		if b, err = r.at(off, int(size)+maxMissize); err != nil { // the window may have moved
			return announced, err
		}
	}
	return announced, nil
}

// follows reports whether next can be the prefix of the record behind the one at the
// start of b.
func (r *Reader) follows(b, next []byte) bool {
	o := r.header.Order
	time, later := o.Uint64(b[8:]), o.Uint64(next[8:])
	return RecordID(o.Uint32(next)).known() && o.Uint32(next[4:]) >= prefixSize && later-time+maxApart <= 2*maxApart
}
