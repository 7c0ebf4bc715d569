package v8log

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/jitinject/jitinject/internal/wire"
)

// FormatName is the name of the format in errors.
const FormatName = "V8 log"

// errNotLog is the error for a file that does not begin as a log of V8.
var errNotLog = errors.New("this is not a log of V8 (it does not begin with v8-version)")

// An Error describes a damaged line.
type Error = wire.Error

// firstKind is the kind of the first line of a log.
const firstKind = "v8-version"

// IsLog reports whether a file begins as a log of V8.
func IsLog(src io.ReaderAt) bool {
	var head [len(firstKind) + 1]byte
	n, _ := src.ReadAt(head[:], 0)
	return string(head[:n]) == firstKind+","
}

// A Span is a part of the file.
type Span struct {
	Off  int64
	Size int64 // in bytes
}

// A Reader reads the records of a log in the order of the file.
type Reader struct {
	Unknown int   // number of lines of unused kinds so far
	Cut     int64 // offset of the last line if it has no end, or -1; valid at io.EOF

	src    io.ReaderAt
	buf    []byte
	lo, hi int   // unread part of buf
	at     int64 // offset of buf[lo]
	err    error // of src, or io.EOF

	kind, tag, name []byte // held fields of the line
	lineAt          int64  // offset of the line
	fieldAt         int64  // offset of the field
	field           string // its name
	ended           bool   // the line's end was read
	fault           *wire.Error
}

// Sizes of reads and of fields that are held, in bytes.
const (
	firstSize  = 4 << 10
	bufferSize = 256 << 10
	maxKind    = 64
	maxNumber  = 32
	MaxName    = 1<<16 - 1 // of code or a URL; longer ones are damage
)

// NewReader returns a reader of the log in src. It fails with errNotLog for other files, and if src
// cannot be read.
func NewReader(src io.ReaderAt) (*Reader, error) {
	var head [len(firstKind) + 1]byte
	if n, err := src.ReadAt(head[:], 0); n < len(head) && err != nil && err != io.EOF {
		return nil, fmt.Errorf("offset 0: %w", err)
	}
	if string(head[:]) != firstKind+"," {
		return nil, errNotLog
	}
	return &Reader{src: src, Cut: -1}, nil
}

// Offset returns the offset of the next line.
func (r *Reader) Offset() int64 { return r.at }

// Line returns the offset of the line that Next read last.
func (r *Reader) Line() int64 { return r.lineAt }

// fill reads more of the file. The unread part of buf is empty before.
func (r *Reader) fill() bool {
	if r.err != nil {
		return false
	}
	if r.buf == nil { // most of many logs are small
		r.buf = make([]byte, firstSize)
	} else if len(r.buf) == firstSize {
		r.buf = make([]byte, bufferSize)
	}
	n, err := r.src.ReadAt(r.buf, r.at)
	r.lo, r.hi = 0, n
	if n == 0 && err != nil {
		r.err = err
		if err != io.EOF {
			r.err = fmt.Errorf("offset %#x: %w", r.at, err)
		}
	}
	return n > 0
}

// advance passes over n bytes of the buffer.
func (r *Reader) advance(n int) {
	r.lo += n
	r.at += int64(n)
}

// fail records the first fault of the line, in its current field.
func (r *Reader) fail(format string, args ...any) {
	if r.fault == nil {
		r.fault = &wire.Error{Format: FormatName, Record: string(r.kind), Field: r.field, Offset: r.fieldAt, Text: fmt.Sprintf(format, args...)}
	}
}

// begin begins a field, and reports whether the line has it.
func (r *Reader) begin(name string) bool {
	r.field, r.fieldAt = name, r.at
	if r.ended {
		r.fail("is missing: the line ends before it")
	}
	return r.fault == nil
}

// separators are the bytes that end a field, and those that end a line.
const (
	separators = ",\n"
	lineEnd    = "\n"
)

// next returns the unread bytes up to one of ends, or all that are in memory. It reports whether
// that byte follows, and reads it.
func (r *Reader) next(ends string) (part []byte, found bool) {
	if r.lo == r.hi && !r.fill() {
		return nil, false
	}
	part = r.buf[r.lo:r.hi]
	if len(ends) == 1 {
		if i := bytes.IndexByte(part, ends[0]); i >= 0 {
			part, found = part[:i], true
		}
	} else if i := bytes.IndexAny(part, ends); i >= 0 {
		part, found = part[:i], true
	}
	r.advance(len(part))
	if found {
		r.ended = r.buf[r.lo] == '\n'
		r.advance(1)
	}
	return part, found
}

// span passes over a field, and returns its place. each, if not nil, gets its bytes in parts.
func (r *Reader) span(name, ends string, each func([]byte)) (s Span) {
	if !r.begin(name) {
		return Span{}
	}
	s.Off = r.at
	for {
		part, found := r.next(ends)
		s.Size += int64(len(part))
		if each != nil {
			each(part)
		}
		if found || len(part) == 0 && r.err != nil {
			return s
		}
	}
}

// held reads a field into memory, of max bytes at most. The result aliases into, grown.
func (r *Reader) held(name, ends string, into []byte, max int) []byte {
	into = into[:0]
	r.span(name, ends, func(part []byte) {
		if len(into)+len(part) > max {
			r.fail("has more than %d bytes", max)
			return
		}
		into = append(into, part...)
	})
	return into
}

// seek goes back to an offset. It does not read bytes again that are in memory.
func (r *Reader) seek(off int64) {
	if back := r.at - off; back <= int64(r.lo) {
		r.lo -= int(back)
	} else {
		r.lo, r.hi = 0, 0
	}
	r.at, r.err = off, nil
}

// skipLine passes over the rest of the line.
func (r *Reader) skipLine() {
	for !r.ended {
		if part, found := r.next(lineEnd); !found && len(part) == 0 && r.err != nil {
			return
		}
	}
}

// A Record is one of *Version, *CodeCreation, *SourceInfo, *ScriptSource and *Move.
type Record interface{ record() }

// Next returns the next record of a used kind, valid until the next call. io.EOF is the end of the
// log. After an *Error, the line is left out, and reading goes on. Other errors are of the file.
func (r *Reader) Next() (Record, error) {
	for {
		r.fault, r.ended, r.lineAt = nil, false, r.at
		r.kind = r.held("kind", separators, r.kind, maxKind)
		var rec Record
		if r.fault == nil {
			rec = r.read()
		} else {
			r.fault = nil // a fragment, or something else: no line of a known kind
		}
		r.skipLine()
		switch {
		case !r.ended && r.err != io.EOF:
			return nil, r.err
		case !r.ended:
			if r.at > r.lineAt {
				r.Cut = r.lineAt
			}
			return nil, io.EOF
		case r.fault != nil:
			return nil, r.fault
		case rec != nil:
			return rec, nil
		}
		r.Unknown++
	}
}

// ReadSpan returns the bytes of a part of a log. It fails if there are more than max.
func ReadSpan(src io.ReaderAt, s Span, max int64, into []byte) ([]byte, error) {
	if s.Size > max {
		return nil, fmt.Errorf("offset %#x: a list of %d bytes; more than %d are not read", s.Off, s.Size, max)
	}
	if int64(cap(into)) < s.Size {
		into = make([]byte, s.Size)
	}
	into = into[:s.Size]
	if n, err := src.ReadAt(into, s.Off); n < len(into) {
		if err == nil || err == io.EOF {
			return nil, fmt.Errorf("offset %#x: the log has shrunk since it was read first: %w", s.Off, io.ErrUnexpectedEOF)
		}
		return nil, fmt.Errorf("offset %#x: %w", s.Off, err)
	}
	return into, nil
}
