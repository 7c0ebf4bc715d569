package perfmap

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/jitinject/jitinject/internal/wire"
)

// A Reader reads the lines of a map one by one. It needs the same memory for every map.
type Reader struct {
	src    *bufio.Reader
	offset int64 // of the next line
	cut    int64
}

// NewReader returns a reader of a map from its first line on.
func NewReader(src io.Reader) *Reader {
	return &Reader{src: bufio.NewReaderSize(src, MaxLine), cut: -1}
}

// Next returns the next line. Its name is valid until the next call. Empty lines are skipped. A
// damaged line is a *wire.Error with its offset, and the next call goes on after it. At the end of
// the file, the error is io.EOF. Other errors are those of reading; reading ends with them.
func (r *Reader) Next() (Line, error) {
	for {
		at := r.offset
		line, err := r.src.ReadSlice('\n')
		r.offset += int64(len(line))
		if errors.Is(err, bufio.ErrBufferFull) {
			return Line{Offset: at}, r.skip(at)
		}
		if err == io.EOF && len(line) > 0 {
			r.cut, err = at, nil
		}
		if err != nil {
			return Line{Offset: at}, err
		}
		if line = bytes.TrimSuffix(line, []byte("\n")); len(trimBlanks(line)) > 0 {
			return Parse(line, at)
		}
	}
}

// skip reads to the end of a line that is too long, and returns the error for it.
func (r *Reader) skip(at int64) error {
	for {
		rest, err := r.src.ReadSlice('\n')
		r.offset += int64(len(rest))
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
		case err == nil || err == io.EOF:
			if err == io.EOF {
				r.cut = at
			}
			return &wire.Error{Format: "perf map", Record: "line", Offset: at, Text: fmt.Sprintf("it has %d bytes; the limit is %d", r.offset-at, MaxLine)}
		default:
			return err
		}
	}
}

// Offset returns the number of bytes read so far: up to the end of the last line that Next returned.
func (r *Reader) Offset() int64 { return r.offset }

// Cut returns the offset of the last line if it has no newline, or else -1: its name may be
// incomplete. It is known after Next has returned that line.
func (r *Reader) Cut() int64 { return r.cut }
