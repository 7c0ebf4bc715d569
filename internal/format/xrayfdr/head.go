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
