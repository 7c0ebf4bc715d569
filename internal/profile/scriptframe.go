package profile

import (
	"bytes"
	"slices"
	"strconv"
)

// A scriptFrame is a frame as perf script prints it: "ADDRESS SYMBOL+0xDISTANCE (FILE+0xPLACE)".
type scriptFrame struct {
	ip       uint64
	symbol   []byte // [unknown] if perf knows none
	file     []byte
	place    uint64 // in the file, if hasPlace
	hasPlace bool
}

// unknownSymbol is what perf script prints in place of a symbol or a file that it does not know.
const unknownSymbol = "[unknown]"

// parseFrame parses a frame. It begins at the right end, because symbols contain spaces, parentheses and
// signs. Files may do so, too: isFile reports whether a text is the name of a file that was mapped.
func parseFrame(text []byte, places bool, isFile func(name []byte) bool) (f scriptFrame, ok bool) {
	digits, rest := cutHex(text)
	if digits == nil || len(rest) < 2 || rest[0] != ' ' || rest[len(rest)-1] != ')' {
		return f, false
	}
	ip, err := strconv.ParseUint(string(digits), 16, 64)
	if err != nil {
		return f, false
	}
	rest = rest[1 : len(rest)-1]
	rank := 0
	for end, tries := len(rest), 0; rank < certain && tries < maxTries; tries++ {
		at := bytes.LastIndex(rest[:end], []byte(" ("))
		if at < 0 || len(rest)-at > maxFile {
			break
		}
		end = at
		divided, r := divideFrame(rest[:at], rest[at+2:], places, isFile)
		if r > rank || r == rank && rank == 1 && !isBalanced(f.file) {
			f, rank = divided, r
		}
	}
	f.ip = ip
	return f, rank > 0
}

// Frames are divided at the parentheses of the highest rank.
const (
	certain = 4       // a symbol with a distance, or [unknown], and a mapped file
	maxFile = 8 << 10 // bytes of a file with its place: the kernel's names are shorter than 4 KB
	// maxTries bounds the parentheses that are tried. A symbol may have thousands, and each is compared as a
	// file.
	maxTries = 16
)

// divideFrame reads the text before and in a pair of parentheses. The rank is how likely this is the
// right pair, from 1.
func divideFrame(before, inside []byte, places bool, isFile func(name []byte) bool) (f scriptFrame, rank int) {
	rank = 1
	f.symbol, f.file = before, inside
	if string(before) == unknownSymbol {
		rank++
	} else if symbol, _, ok := cutOffset(before); ok {
		f.symbol = symbol
		rank++
	}
	if places {
		if name, place, ok := cutOffset(inside); ok && (isFile(name) || !isFile(inside)) {
			f.file, f.place, f.hasPlace = name, place, true
		}
	}
	if isFile(f.file) {
		rank += 2
	}
	return f, rank
}

func cutOffset(text []byte) (before []byte, n uint64, ok bool) {
	at := bytes.LastIndexByte(text, '+')
	if at < 0 {
		return text, 0, false
	}
	digits, found := bytes.CutPrefix(text[at+1:], []byte("0x"))
	if hex, rest := cutHex(digits); !found || hex == nil || len(rest) > 0 {
		return text, 0, false
	}
	n, err := strconv.ParseUint(string(digits), 16, 64)
	return text[:at], n, err == nil
}

// isBalanced reports whether a text has as many closing parentheses as opening ones.
func isBalanced(text []byte) bool {
	return bytes.Count(text, []byte("(")) == bytes.Count(text, []byte(")"))
}

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
