package profile

import (
	"bytes"
	"slices"
	"strconv"
)

// This file reads the numbers in the text of perf script.

// cutID cuts the id of a process or a thread. perf prints unknown ones as -1.
func cutID(text []byte) (id uint32, rest []byte, ok bool) {
	unsigned, negative := bytes.CutPrefix(text, []byte("-"))
	n, rest, ok := cutDecimal(unsigned)
	if !ok || n > 1<<32-1 {
		return 0, nil, false
	}
	if negative {
		return -uint32(n), rest, true
	}
	return uint32(n), rest, true
}

// cutTime cuts a time in seconds, with 9 or, without --ns, 6 digits after the point, and a colon.
func cutTime(text []byte) (nanoseconds uint64, rest []byte, ok bool) {
	seconds, rest, ok := cutDecimal(text)
	if !ok || len(rest) == 0 || rest[0] != '.' {
		return 0, nil, false
	}
	digits := slices.IndexFunc(rest[1:], func(c byte) bool { return c < '0' || c > '9' })
	fraction, after, ok := cutDecimal(rest[1:])
	if !ok || len(after) == 0 || after[0] != ':' {
		return 0, nil, false
	}
	switch digits {
	case 9:
	case 6:
		fraction *= 1000
	default:
		return 0, nil, false
	}
	return seconds*1e9 + fraction, after[1:], true
}

func cutDecimal(text []byte) (n uint64, rest []byte, ok bool) {
	i := 0
	for i < len(text) && text[i] >= '0' && text[i] <= '9' {
		i++
	}
	if i == 0 || i > 20 {
		return 0, nil, false
	}
	n, err := strconv.ParseUint(string(text[:i]), 10, 64)
	return n, text[i:], err == nil
}

// cutHex cuts the digits of a number in hexadecimal. They are nil if there are none, or more than an
// address has.
func cutHex(text []byte) (digits, rest []byte) {
	i := 0
	for i < len(text) && (text[i] >= '0' && text[i] <= '9' || text[i] >= 'a' && text[i] <= 'f') {
		i++
	}
	if i == 0 || i > 16 {
		return nil, text
	}
	return text[:i], text[i:]
}
