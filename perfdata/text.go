package perfdata

import (
	"unicode"
	"unicode/utf8"
)

// TextAfter returns the text that follows the last record of a stream whose end is known by Cut. It is ""
// if the stream has another end, such as a part of a record. A pipe has such a text if another program, or
// perf record's standard error, writes into it, too. The head of a record, 8 bytes, has some that no text
// has; a part of a head may have none.
func TextAfter(s Stream) string {
	r, ok := s.(*BlockReader)
	if !ok || r.cut < 0 || r.opaque > 0 || r.unpack != nil && r.unpack.partial() > 0 {
		return ""
	}
	rest := r.buf[r.lo:r.hi]
	if len(rest) < 8 || !utf8.Valid(rest) {
		return ""
	}
	for _, c := range string(rest) {
		if !unicode.IsPrint(c) && c != '\n' && c != '\r' && c != '\t' && c != '\x1b' {
			return ""
		}
	}
	return string(rest)
}
