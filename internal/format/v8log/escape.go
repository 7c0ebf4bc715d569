package v8log

import (
	"strconv"
	"strings"
)

// unescape decodes the escape at the start of b. size is its length in bytes, or 0 if b ends in
// it. known is false if it is none of V8's; then it stands for one character.
func unescape(b []byte) (unit uint16, size int, known bool) {
	if len(b) < 2 {
		return 0, 0, true
	}
	digits := 0
	switch b[1] {
	case '\\':
		return '\\', 2, true
	case 'n':
		return '\n', 2, true
	case 'x':
		digits = 2
	case 'u':
		digits = 4
	default:
		return uint16(b[1]), 2, false
	}
	if len(b) < 2+digits {
		return 0, 0, true
	}
	n, err := strconv.ParseUint(string(b[2:2+digits]), 16, 16)
	return uint16(n), 2 + digits, err == nil
}

// EachUnit calls f for the characters of an escaped field.
func EachUnit(field []byte, f func(unit uint16)) {
	for len(field) > 0 {
		if field[0] != '\\' {
			f(uint16(field[0]))
			field = field[1:]
			continue
		}
		unit, size, _ := unescape(field)
		if size == 0 { // cut
			return
		}
		f(unit)
		field = field[size:]
	}
}

// AppendText appends an escaped text or URL to dst, in UTF-8. Half a surrogate pair becomes U+FFFD.
func AppendText(dst, field []byte) []byte {
	t := textWriter{out: dst}
	t.add(field)
	t.endPair()
	return t.out
}

// ProcessOf returns the process in the name of a log, isolate-ADDRESS-PID-NAME, if the name is one that
// V8 makes. NAME is the last part of --logfile, v8.log by default, with the process again for %p:
// isolate-ADDRESS-PID-v8-PID.log (PrepareLogFileName of V8's log.cc). It has to end with .log, because
// what tools make of a log is often kept beside it.
func ProcessOf(name string) (pid uint32, ok bool) {
	rest, isIsolate := strings.CutPrefix(name, "isolate-")
	_, rest, _ = strings.Cut(rest, "-")
	digits, file, _ := strings.Cut(rest, "-")
	n, err := strconv.ParseUint(digits, 10, 32)
	return uint32(n), isIsolate && strings.HasSuffix(file, ".log") && err == nil
}
