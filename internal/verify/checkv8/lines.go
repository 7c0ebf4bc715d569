package checkv8

import (
	"bufio"
	"bytes"
	"io"
)

// A lineReader reads the lines of a log as a stream.
type lineReader struct {
	src  *bufio.Reader
	line []byte // without its end; valid until the next call
	at   int64  // offset of the line
	next int64  // offset of the next line
	cut  bool   // the file ends inside the line
	long bool   // the line has more than maxLine bytes; line has the first ones
}

// Sizes in bytes.
const (
	readSize = 256 << 10
	// Lines but those of scripts. A code object has at most some 100,000 positions, of a dozen bytes
	// each.
	maxLine = 16 << 20
)

func newLineReader(src io.Reader) *lineReader {
	return &lineReader{src: bufio.NewReaderSize(src, readSize)}
}

// begin begins the next line, and reports whether it starts with prefix.
func (l *lineReader) begin(prefix string) bool {
	l.line, l.at, l.cut, l.long = l.line[:0], l.next, false, false
	return l.follows(prefix)
}

// follows reports whether the unread part of the log begins with prefix.
func (l *lineReader) follows(prefix string) bool {
	b, _ := l.src.Peek(len(prefix))
	return string(b) == prefix
}

// rest appends the rest of the line to l.line. It returns io.EOF at the end of the file, if there is
// no line.
func (l *lineReader) rest() error {
	return l.each(func(part []byte) {
		if room := maxLine - len(l.line); len(part) > room {
			l.long = true
			part = part[:room]
		}
		l.line = append(l.line, part...)
	})
}

// each calls f for the parts of the rest of the line, without its end.
func (l *lineReader) each(f func(part []byte)) error {
	for first := true; ; first = false {
		part, err := l.src.ReadSlice('\n')
		l.next += int64(len(part))
		switch {
		case err == nil:
			f(part[:len(part)-1])
			return nil
		case err == bufio.ErrBufferFull:
			f(part)
		case err != io.EOF:
			return err
		case first && len(part) == 0 && l.next == l.at:
			return io.EOF
		default:
			f(part)
			l.cut = true
			return nil
		}
	}
}

// another appends the next line to l.line, after a newline.
func (l *lineReader) another() error {
	l.line = append(l.line, '\n')
	return l.rest()
}

// field appends the next field of the line to l.line, with the comma after it. It reports whether
// there is a comma.
func (l *lineReader) field() (ok bool, err error) {
	for len(l.line) < maxLine {
		c, err := l.src.ReadByte()
		if err == io.EOF {
			l.cut = true
			return false, nil
		}
		if err != nil {
			return false, err
		}
		l.next++
		if c == '\n' {
			return false, nil
		}
		if l.line = append(l.line, c); c == ',' {
			return true, nil
		}
	}
	l.long = true
	return false, l.each(func([]byte) {})
}

// kinds are the kinds of lines that V8 writes [src/logging/log.cc, code-events.h, log-file.cc]. true
// are those that are checked.
var kinds = map[string]bool{
	"v8-version": true, "code-creation": true, "code-source-info": true, "script-source": true,
	"sfi-move": true, "code-move": true, "code-delete": true,

	"v8-platform": false, "new": false, "delete": false, "heap-capacity": false, "heap-available": false,
	"profiler": false, "tick": false, "shared-library": false, "shared-library-end": false, "current-time": false,
	"code-deopt": false, "code-disable-optimization": false, "code-disassemble": false, "code-moving-gc": false,
	"code-dependency-change": false, "feedback-vector": false, "snapshot-code-name": false,
	"timer-event": false, "timer-event-start": false, "timer-event-end": false, "active-runtime-timer": false,
	"heap-sample-begin": false, "heap-sample-end": false, "heap-sample-item": false, "heap-sample-stats": false,
	"script": false, "script-details": false, "function": false, "first-execution": false, "compilation-cache": false,
	"map": false, "map-create": false, "map-details": false, "api": false, "uncaught_exception": false,
	"LoadIC": false, "StoreIC": false, "KeyedLoadIC": false, "KeyedStoreIC": false, "LoadGlobalIC": false,
	"StoreGlobalIC": false, "StoreInArrayLiteralIC": false,
}

// maxKind is the length of the longest kind.
const maxKind = len("code-disable-optimization")

// kindOf returns the kind of a line, the part before the first comma.
func kindOf(line []byte) string {
	if i := bytes.IndexByte(line, ','); i >= 0 {
		line = line[:i]
	}
	return string(line[:min(len(line), 2*maxKind)])
}

// beginsRecord reports whether the unread part of the log begins with a line of a known kind.
func (l *lineReader) beginsRecord() bool {
	b, _ := l.src.Peek(maxKind + 1)
	i := bytes.IndexByte(b, ',')
	if i < 0 {
		return false
	}
	_, ok := kinds[string(b[:i])]
	return ok
}
