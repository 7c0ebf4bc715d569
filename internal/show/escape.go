package show

import (
	"fmt"
	"strconv"
	"unicode/utf8"
)

// How values are spelled. What comes from a file never reaches a terminal as control
// characters, nor as anything that changes the direction or the place of writing.

const hexDigits = "0123456789abcdef"

func appendHex(b []byte, v uint64) []byte { return strconv.AppendUint(append(b, '0', 'x'), v, 16) }

// appendHexWide appends at least n digits, without 0x.
func appendHexWide(b []byte, v uint64, n int) []byte { return fmt.Appendf(b, "%0*x", n, v) }

// appendBytes appends bytes as digits without anything between.
func appendBytes(b, v []byte) []byte {
	for _, c := range v {
		b = append(b, hexDigits[c>>4], hexDigits[c&15])
	}
	return b
}

// appendSeconds appends nanoseconds as perf script --ns prints them.
func appendSeconds(b []byte, ns uint64) []byte { return fmt.Appendf(b, "%d.%09d", ns/1e9, ns%1e9) }

// appendPlace appends file:line:column, as far as they are known.
func appendPlace(b, file []byte, line, column uint64) []byte {
	b = appendQuoted(b, file)
	if line == 0 {
		return b
	}
	b = strconv.AppendUint(append(b, ':'), line, 10)
	if column != 0 {
		b = strconv.AppendUint(append(b, ':'), column, 10)
	}
	return b
}

// appendQuoted appends a string as it is where that is plain to see, or else as a
// literal of Go.
func appendQuoted(b, s []byte) []byte {
	if IsPlain(s) {
		return append(b, s...)
	}
	return strconv.AppendQuote(b, string(s))
}

func IsPlain(s []byte) bool {
	for _, c := range s {
		if c <= ' ' || c > '~' || c == '"' || c == '\\' || c == '=' {
			return false
		}
	}
	return len(s) > 0
}

// appendClean appends text as it is, spaces included, but for what cannot be printed.
// Tabs become spaces.
func appendClean(b, s []byte) []byte {
	for len(s) > 0 {
		r, n := utf8.DecodeRune(s)
		switch {
		case r == '\t':
			b = append(b, "    "...)
		case r == utf8.RuneError && n == 1:
			b = append(b, '\\', 'x', hexDigits[s[0]>>4], hexDigits[s[0]&15])
		case strconv.IsPrint(r):
			b = append(b, s[:n]...)
		default:
			q := strconv.AppendQuoteRune(nil, r)
			b = append(b, q[1:len(q)-1]...)
		}
		s = s[n:]
	}
	return b
}

// appendJSON appends a string of JSON. Bytes that are no UTF-8 become U+FFFD; what
// cannot be printed is escaped, which JSON would need for few of them only.
func appendJSON(b, s []byte) []byte {
	b = append(b, '"')
	for len(s) > 0 {
		if c := s[0]; c >= ' ' && c <= '~' && c != '"' && c != '\\' {
			b = append(b, c)
			s = s[1:]
			continue
		}
		r, n := utf8.DecodeRune(s)
		switch {
		case r == '"' || r == '\\':
			b = append(b, '\\', byte(r))
		case r == '\n':
			b = append(b, '\\', 'n')
		case r == '\t':
			b = append(b, '\\', 't')
		case r == utf8.RuneError && n == 1:
			b = append(b, `\ufffd`...)
		case strconv.IsPrint(r):
			b = append(b, s[:n]...)
		case r > 0xffff: // as two halves [RFC 8259, 7]
			r -= 0x10000
			b = appendUnit(appendUnit(b, 0xd800+r>>10), 0xdc00+r&0x3ff)
		default:
			b = appendUnit(b, r)
		}
		s = s[n:]
	}
	return append(b, '"')
}

func appendUnit(b []byte, r rune) []byte { return appendHexWide(append(b, '\\', 'u'), uint64(r), 4) }

// Names of numbers.
