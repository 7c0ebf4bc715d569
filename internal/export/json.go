package export

import (
	"bufio"
	"strconv"
	"unicode/utf8"
)

// A jsonWriter writes JSON as a stream. Errors of the writer below stick there.
type jsonWriter struct {
	*bufio.Writer
	number [32]byte
}

// raw writes JSON as it is. bufio.Writer keeps the error for Flush.
func (j *jsonWriter) raw(s string) {
	_, _ = j.WriteString(s)
}

// integer writes a whole number.
func (j *jsonWriter) integer(n int) {
	_, _ = j.Write(strconv.AppendInt(j.number[:0], int64(n), 10))
}

// unsigned writes a whole number. JavaScript rounds those above 2^53.
func (j *jsonWriter) unsigned(n uint64) {
	_, _ = j.Write(strconv.AppendUint(j.number[:0], n, 10))
}

// milliseconds writes nanoseconds as milliseconds, exactly.
func (j *jsonWriter) milliseconds(ns uint64) {
	j.unsigned(ns / 1e6)
	rest := ns % 1e6
	if rest == 0 {
		return
	}
	digits := strconv.AppendUint(j.number[:0], 1e6+rest, 10)
	digits[0] = '.'
	for digits[len(digits)-1] == '0' {
		digits = digits[:len(digits)-1]
	}
	_, _ = j.Write(digits)
}

// integers writes an array of whole numbers. A number below 0 is written as null.
func (j *jsonWriter) integers(numbers []int) {
	_ = j.WriteByte('[')
	for i, n := range numbers {
		if i > 0 {
			_ = j.WriteByte(',')
		}
		if n < 0 {
			j.raw("null")
			continue
		}
		j.integer(n)
	}
	_ = j.WriteByte(']')
}

// repeat writes an array with n times the same value.
func (j *jsonWriter) repeat(value string, n int) {
	_ = j.WriteByte('[')
	for i := range n {
		if i > 0 {
			_ = j.WriteByte(',')
		}
		j.raw(value)
	}
	_ = j.WriteByte(']')
}

// quote writes a string. Bytes that are no UTF-8 become U+FFFD. The separators of lines and paragraphs
// are escaped, so that the JSON is JavaScript as well.
func (j *jsonWriter) quote(s string) {
	const hex = "0123456789abcdef"
	_ = j.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			_ = j.WriteByte('\\')
			_ = j.WriteByte(byte(r))
		case r < ' ' || r == 0x7f || r == '\u2028' || r == '\u2029' || r == utf8.RuneError:
			j.raw(`\u`)
			for shift := 12; shift >= 0; shift -= 4 {
				_ = j.WriteByte(hex[r>>shift&0xf])
			}
		default:
			_, _ = j.WriteRune(r)
		}
	}
	_ = j.WriteByte('"')
}
