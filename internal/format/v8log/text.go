package v8log

import (
	"bytes"
	"fmt"
	"io"
	"unicode/utf16"
	"unicode/utf8"
)

// textChunk is how much of a text is in memory at once, in bytes.
const textChunk = 64 << 10

// WriteText writes an escaped text to w, in UTF-8. It reads the text in parts: a text may be as
// long as a program. Half a surrogate pair becomes U+FFFD. WriteText fails if the text cannot be
// read again, or with w's error.
func WriteText(w io.Writer, src io.ReaderAt, s Span) error {
	var t textWriter
	buf := make([]byte, 0, textChunk)
	for s.Size > 0 || len(buf) > 0 {
		n := int(min(s.Size, int64(cap(buf)-len(buf))))
		part := buf[len(buf) : len(buf)+n]
		if got, err := src.ReadAt(part, s.Off); got < n {
			if err == nil || err == io.EOF {
				err = io.ErrUnexpectedEOF
			}
			return fmt.Errorf("offset %#x: the log has shrunk since it was read first: %w", s.Off, err)
		}
		s.Off, s.Size = s.Off+int64(n), s.Size-int64(n)
		rest := t.add(buf[:len(buf)+n])
		if s.Size == 0 {
			rest = nil // an escape that the end of the text cuts
			t.endPair()
		}
		if _, err := w.Write(t.out); err != nil {
			return err
		}
		t.out = t.out[:0]
		buf = buf[:copy(buf[:cap(buf)], rest)]
	}
	return nil
}

// A textWriter decodes a text in parts.
type textWriter struct {
	out  []byte
	high rune // first half of a surrogate pair, or 0
}

// add decodes a part, and returns the rest: an escape that the end of the part cuts.
func (t *textWriter) add(part []byte) (rest []byte) {
	for len(part) > 0 {
		if part[0] == '\\' {
			unit, size, _ := unescape(part)
			if size == 0 {
				return part
			}
			t.unit(rune(unit))
			part = part[size:]
			continue
		}
		n := bytes.IndexByte(part, '\\')
		if n < 0 {
			n = len(part)
		}
		t.endPair()
		for _, c := range part[:n] {
			if c < utf8.RuneSelf {
				t.out = append(t.out, c)
			} else {
				t.out = utf8.AppendRune(t.out, rune(c))
			}
		}
		part = part[n:]
	}
	return nil
}

// unit adds a code unit.
func (t *textWriter) unit(r rune) {
	if t.high != 0 {
		if pair := utf16.DecodeRune(t.high, r); pair != utf8.RuneError {
			t.out, t.high = utf8.AppendRune(t.out, pair), 0
			return
		}
		t.endPair()
	}
	if utf16.IsSurrogate(r) && r < 0xdc00 {
		t.high = r
		return
	}
	t.out = utf8.AppendRune(t.out, r)
}

// endPair adds half a pair that has no other half.
func (t *textWriter) endPair() {
	if t.high != 0 {
		t.out, t.high = utf8.AppendRune(t.out, utf8.RuneError), 0
	}
}
