package jitdump

import (
	"bytes"
	"errors"
)

// V8 15 announces a wrong size for some JIT_CODE_DEBUG_INFO: their last entry is of another script
// than the first one. V8 adds up the names of the entries' scripts, but writes each entry with the
// name of the script before. So the first name is written twice and the last one never
// (perf-jit.cc, LogWriteDebugInfo). The next record then begins some bytes earlier or later.

// v8Pad is V8's value of the header's pad field, in all versions.
const v8Pad = 0xdeadbeef

const (
	debugHead  = 2 * 8    // code_addr and nr_entry
	maxMissize = 8 << 10  // largest difference of two file names, in bytes
	maxApart   = 60 * 1e9 // ns from a function's debug record to the next record
)

// debugEnd returns the end of the debug record at offset off, which announces size bytes. The end
// of its entries counts if a record can follow there, and none can follow at the announced end.
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
	if d := int64(at) - size; d < -maxMissize || d > maxMissize {
		return announced, nil
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

// follows reports whether next can be the prefix of the record after the one at the start
// of b.
func (r *Reader) follows(b, next []byte) bool {
	o := r.header.Order
	time, later := o.Uint64(b[8:]), o.Uint64(next[8:])
	return RecordID(o.Uint32(next)).known() && o.Uint32(next[4:]) >= prefixSize && later-time+maxApart <= 2*maxApart
}
