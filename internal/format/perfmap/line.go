package perfmap

import (
	"bytes"
	"fmt"
	"math"

	"github.com/jitinject/jitinject/internal/wire"
)

// A Line is one function of a map.
type Line struct {
	Offset int64  // of the line in the file, in bytes
	Start  uint64 `show:"addr,addr:Size"` // address of the code
	Size   uint64 `show:"bytes"`          // of the code, in bytes; may be 0
	Name   []byte `show:"name,name"`      // not empty, and without a newline; it belongs to the Reader
}

// MaxLine is the length of the longest line, in bytes, with its newline. Longer ones are damage.
const MaxLine = 64 << 10

// Parse returns the fields of a line without its newline, which lies at an offset of its file. The
// name aliases line. The error is a *wire.Error.
func Parse(line []byte, offset int64) (Line, error) {
	l := Line{Offset: offset}
	fail := func(field string, at []byte, format string, args ...any) (Line, error) {
		return l, &wire.Error{Format: "perf map", Record: "line", Field: field, Offset: offset + int64(len(line)-len(at)), Text: fmt.Sprintf(format, args...)}
	}
	rest := trimBlanks(line)
	start, after, why := number(rest)
	if why != "" {
		return fail("start", rest, "%s", why)
	}
	sizeAt := trimBlanks(after)
	size, after, why := number(sizeAt)
	switch {
	case why != "":
		return fail("size", sizeAt, "%s", why)
	case len(after) < 2:
		return fail("name", after, "it has no name")
	case size > math.MaxUint64-start:
		return fail("size", sizeAt, "%#x bytes from %#x on end after the last address", size, start)
	}
	l.Start, l.Size, l.Name = start, size, after[1:]
	return l, nil
}

// number returns the hexadecimal number that text begins with, and the text after it, which is
// empty or begins with a blank. why is "" or says what is wrong.
func number(text []byte) (n uint64, after []byte, why string) {
	digits := text
	if len(digits) > 1 && digits[0] == '0' && digits[1]|0x20 == 'x' {
		digits = digits[2:]
	}
	i := 0
	for ; i < len(digits); i++ {
		d, ok := digit(digits[i])
		if !ok {
			break
		}
		if n > math.MaxUint64>>4 {
			return 0, nil, "the number has more than 64 bits"
		}
		n = n<<4 | d
	}
	if after = digits[i:]; i == 0 || len(after) > 0 && !isBlank(after[0]) {
		return 0, nil, "it is not a hexadecimal number"
	}
	return n, after, ""
}

// digit returns the value of a hexadecimal digit.
func digit(c byte) (uint64, bool) {
	switch {
	case c >= '0' && c <= '9':
		return uint64(c - '0'), true
	case c|0x20 >= 'a' && c|0x20 <= 'f':
		return uint64(c|0x20-'a') + 10, true
	}
	return 0, false
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' }

func trimBlanks(text []byte) []byte { return bytes.TrimLeft(text, " \t") }
