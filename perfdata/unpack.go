package perfdata

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"iter"

	"github.com/klauspost/compress/zstd"
)

// An unpacker decompresses compressed records.
//
// perf record -z compresses everything into one zstd stream, which it never ends, and cuts the
// stream into records. A record may begin in one piece and end in the next. So input is known to be
// consumed when the decoder asks for more. The decoder runs as a coroutine, and yields pieces of
// output, or a request for more input.
type unpacker struct {
	input []byte
	fed   bool // there may be more output
	next  func() (piece, bool)
	stop  func() // ends the coroutine, which would otherwise never end
	plain []byte // unpacked
	used  int    // bytes of plain already returned

	packed   int64 // bytes of input so far
	unpacked int64 // bytes of output so far

	yield func(piece) bool // of the coroutine
}

// A piece is a part of the output.
type piece struct {
	data []byte
	err  error
	more bool // no data: more input is needed
}

const (
	// maxInflation bounds the unpacked bytes for each compressed byte; minInflation more are
	// allowed in all. zstd can reach 32,000. Recordings of one instruction with copies of
	// stacks of 64 KiB, all zero, reach 3,900 with perf record -z and 5,400 at level 22 with
	// large buffers; others reach less than 2,000.
	maxInflation = 6144
	minInflation = 16 << 20
)

// The decoder allocates a frame's window at once, although it is empty, and a larger one for each frame
// with a larger window. So a frame of 10 bytes costs up to maxWindow, and again in the next pass.
// The window of a decoder that no stream uses any more is therefore kept for the next stream. Only
// streams that begin with more than usualWindow may have more. Their decoder begins with wideFrame, which
// is empty and has maxWindow, and so never needs a larger one.
const (
	usualWindow = 8 << 20   // of zstd's levels up to 19
	maxWindow   = 128 << 20 // of level 22
)

var (
	idleDecoder = make(chan *zstd.Decoder, 1)
	wideFrame   = []byte{0x28, 0xb5, 0x2f, 0xfd, 0, 0x88, 1, 0, 0}
)

func newUnpacker() *unpacker {
	u := new(unpacker)
	u.next, u.stop = iter.Pull(u.run)
	return u
}

func (u *unpacker) run(yield func(piece) bool) {
	u.yield = yield
	var dec *zstd.Decoder
	var err error
	select {
	case dec = <-idleDecoder:
	default:
		dec, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1))
	}
	input, window := io.Reader((*unpackerInput)(u)), uint64(usualWindow)
	var head zstd.Header
	if head.Decode(u.input) == nil && head.WindowSize > usualWindow {
		input, window = io.MultiReader(bytes.NewReader(wideFrame), input), maxWindow
	}
	if err == nil {
		err = dec.ResetWithOptions(input, zstd.WithDecoderMaxWindow(window))
	}
	if err == nil {
		_, err = dec.WriteTo((*unpackerOutput)(u))
		dec.Reset(nil)
		select {
		case idleDecoder <- dec:
		default:
		}
	}
	if err == nil {
		err = io.ErrUnexpectedEOF
	}
	for yield(piece{err: err}) {
	}
}

// unpackerInput is the decoder's input.
type unpackerInput unpacker

// Read implements io.Reader.
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

// unpackerOutput is the decoder's output.
type unpackerOutput unpacker

var errStopped = errors.New("stopped")

// Write implements io.Writer.
func (u *unpackerOutput) Write(p []byte) (int, error) {
	if !u.yield(piece{data: p}) {
		return 0, errStopped
	}
	return len(p), nil
}

// feed passes the content of one compressed record. It must not change until records has returned
// nothing.
func (u *unpacker) feed(data []byte) {
	u.input = data
	u.fed = true
	u.packed += int64(len(data))
}

// records returns whole records, valid until the next call, or nothing after the end of the input.
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
		if u.unpacked += int64(len(p.data)); u.unpacked > minInflation+maxInflation*u.packed {
			return nil, fmt.Errorf("the compressed data unpacks to more than %d times its size, %d bytes from %d; it is damaged, or made to fill the disk; if perf record wrote it, record again without compression", maxInflation, u.unpacked, u.packed)
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

// partial returns the number of bytes of an incomplete record.
func (u *unpacker) partial() int { return len(u.plain) - u.used }
