package perfdata

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"iter"

	"github.com/klauspost/compress/zstd"
)

// An unpacker makes records of compressed ones.
//
// perf record -z compresses everything into one zstd stream, which it never
// ends, and cuts that into records as it comes: a record may begin in one and end
// in the next. So what comes in is known to be used up when the decoder asks for
// more. It runs as a coroutine, whose results are pieces of output, or nothing
// for the wish for more input.
type unpacker struct {
	input []byte
	fed   bool // there may be output that was not asked for yet
	next  func() (piece, bool)
	stop  func() // ends the coroutine, which would live on otherwise
	plain []byte // unpacked
	used  int    // of plain, handed out

	yield func(piece) bool // of the coroutine
}

// A piece is a part of the output.
type piece struct {
	data []byte
	err  error
	more bool // there is none: more input is wanted
}

func newUnpacker() *unpacker {
	u := new(unpacker)
	u.next, u.stop = iter.Pull(u.run)
	return u
}

func (u *unpacker) run(yield func(piece) bool) {
	u.yield = yield
	dec, err := zstd.NewReader((*unpackerInput)(u), zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(128<<20))
	if err == nil {
		_, err = dec.WriteTo((*unpackerOutput)(u))
	}
	if err == nil {
		err = io.ErrUnexpectedEOF
	}
	for yield(piece{err: err}) {
	}
}

// unpackerInput is where the decoder reads.
type unpackerInput unpacker

func (u *unpackerInput) Read(p []byte) (int, error) {
	for len(u.input) == 0 {
		if !u.yield(piece{more: true}) {
			return 0, io.EOF
		}
	}
	n := copy(p, u.input)
	u.input = u.input[n:]
	return n, nil
}

// unpackerOutput is where the decoder writes.
type unpackerOutput unpacker

var errStopped = errors.New("stopped")

func (u *unpackerOutput) Write(p []byte) (int, error) {
	if !u.yield(piece{data: p}) {
		return 0, errStopped
	}
	return len(p), nil
}

// feed gives the contents of one compressed record. They must stay as they are
// until records has returned nothing.
func (u *unpacker) feed(data []byte) {
	u.input = data
	u.fed = true
}

// records returns whole records, valid until the next call, or nothing when the
// input is used up.
func (u *unpacker) records(order binary.ByteOrder) ([]byte, error) {
	for u.fed {
		u.plain = u.plain[:copy(u.plain, u.plain[u.used:])]
		u.used = 0
		p, _ := u.next()
		switch {
		case p.err != nil:
			return nil, fmt.Errorf("the compressed data cannot be unpacked: %w", p.err)
		case p.more:
			u.fed = false
			continue
		}
		u.plain = append(u.plain, p.data...)
		for len(u.plain)-u.used >= recordHead {
			size := int(order.Uint16(u.plain[u.used+6:]))
			if size < recordHead {
				return nil, fmt.Errorf("there is a record of %d bytes in the compressed data; its header alone has %d", size, recordHead)
			}
			if size > len(u.plain)-u.used {
				break
			}
			if RecordType(order.Uint32(u.plain[u.used:])) == RecordAuxtrace {
				return nil, errors.New("there is an AUXTRACE record in the compressed data, and its payload cannot be found")
			}
			u.used += size
		}
		if u.used > 0 {
			return u.plain[:u.used], nil
		}
	}
	return nil, nil
}

// partial returns the size of what is there of a record whose end has not come.
func (u *unpacker) partial() int { return len(u.plain) - u.used }
