package checkv8

import (
	"bytes"
	"fmt"
	"math"
	"strconv"
	"unicode/utf16"
)

// none is a number that an entry does not have.
const none = math.MinInt64

// A fault is a field that breaks a rule.
type fault struct {
	at   int // in the line
	text string
}

// address parses 0x and hexadecimal digits.
func address(field []byte) (uint64, bool) {
	digits, ok := bytes.CutPrefix(field, []byte("0x"))
	if !ok || len(digits) > 16 {
		return 0, false
	}
	n, err := strconv.ParseUint(string(digits), 16, 64)
	return n, err == nil
}

// number parses a decimal number of at most 31 bits and a sign.
func number(field []byte) (int64, bool) {
	if len(field) > 12 {
		return 0, false
	}
	n, err := strconv.ParseInt(string(field), 10, 32)
	return n, err == nil
}

// entries calls each for the entries of a list: letters with a number each. A number that the entry
// does not have, or that has no digits, is none. It returns the first fault; at is that of the list
// in its line.
func entries(list []byte, at int, letters string, each func(at int, numbers [3]int64)) *fault {
	for i := 0; i < len(list); {
		start := i
		numbers := [3]int64{none, none, none}
		for l := range len(letters) {
			if i == len(list) || list[i] != letters[l] {
				if l == len(letters)-1 { // the last letter may be missing
					continue
				}
				return &fault{at + i, fmt.Sprintf("%q instead of %c and a number", head(list[i:]), letters[l])}
			}
			i++
			end := i
			for end < len(list) && (list[end] == '-' || list[end]-'0' <= 9) {
				end++
			}
			if end > i {
				n, ok := number(list[i:end])
				if !ok {
					return &fault{at + i, fmt.Sprintf("%q is no number of 31 bits", head(list[i:end]))}
				}
				numbers[l] = n
			}
			i = end
		}
		each(at+start, numbers)
	}
	return nil
}

// addresses calls each for the entries of a list of S and an address.
func addresses(list []byte, at int, each func(addr uint64)) *fault {
	for i := 0; i < len(list); {
		end := i + 1
		for end < len(list) && list[end] != 'S' {
			end++
		}
		addr, ok := address(list[i+1 : end])
		if list[i] != 'S' || !ok {
			return &fault{at + i, fmt.Sprintf("%q is not S and an address", head(list[i:end]))}
		}
		each(addr)
		i = end
	}
	return nil
}

// head returns the beginning of a field for a message.
func head(b []byte) []byte { return b[:min(len(b), 32)] }

// A decoder reads escaped characters in parts: \\, \n, \xNN and \uNNNN, each for a UTF-16 code unit.
type decoder struct {
	escape []byte // the unfinished escape
	buffer [6]byte
}

// decode calls run for numbers of plain characters, and one for each escape. ok is false for escapes
// that V8 does not write.
func (d *decoder) decode(part []byte, run func(n int), one func(unit uint16, ok bool)) {
	for len(part) > 0 {
		if len(d.escape) == 0 {
			i := bytes.IndexByte(part, '\\')
			if i < 0 {
				run(len(part))
				return
			}
			if i > 0 {
				run(i)
			}
			d.escape = append(d.buffer[:0], '\\')
			part = part[i+1:]
			continue
		}
		d.escape = append(d.escape, part[0])
		part = part[1:]
		if unit, whole, ok := unescape(d.escape); whole {
			d.escape = d.escape[:0]
			one(unit, ok)
		}
	}
}

// unescape returns the unit of an escape, and whether it is whole.
func unescape(e []byte) (unit uint16, whole, ok bool) {
	size := 2
	switch e[1] {
	case '\\':
		return '\\', true, true
	case 'n':
		return '\n', true, true
	case 'x':
		size = 4
	case 'u':
		size = 6
	default:
		return '?', true, false
	}
	if len(e) < size {
		return 0, false, true
	}
	n, err := strconv.ParseUint(string(e[2:]), 16, 16)
	return uint16(n), true, err == nil
}

// decoded returns an escaped string of V8 as UTF-8. ok is false if it has unknown escapes.
func decoded(field []byte) (text string, ok bool) {
	if bytes.IndexByte(field, '\\') < 0 {
		return string(field), true
	}
	units := make([]uint16, 0, len(field))
	ok = true
	var d decoder
	for i := range field {
		d.decode(field[i:i+1], func(int) { units = append(units, uint16(field[i])) }, func(unit uint16, known bool) {
			units = append(units, unit)
			ok = ok && known
		})
	}
	return string(utf16.Decode(units)), ok && len(d.escape) == 0
}
