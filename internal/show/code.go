package show

import (
	"fmt"
	"strconv"
)

// instructionBytes is how many bytes of an instruction stand in a line.
const instructionBytes = 8

// Code writes an instruction.
func (f *Form) Code(addr uint64, bytes []byte, text string) {
	if !f.json {
		var number [16]byte
		digits := strconv.AppendUint(number[:0], addr, 16)
		f.b = append(append(f.b, "                "[:4+max(0, 12-len(digits))]...), digits...)
		f.b = append(f.b, ':', ' ')
		f.digits(bytes[:min(len(bytes), instructionBytes)], 3*instructionBytes)
		f.b = append(append(f.b, "  "...), text...)
		return
	}
	f.Hex("addr", addr)
	if f.hexed {
		f.ID("bytes", bytes)
	}
	f.Word("text", text)
}

// Source writes a line of the program's text.
func (f *Form) Source(text []byte) {
	if f.json {
		f.Str("source", text)
	} else {
		f.b = appendClean(append(f.b, "   "...), text)
	}
}

// Data writes bytes at an offset of the file, if bytes are wanted.
func (f *Form) Data(name string, b []byte, at int64) {
	switch {
	case !f.hexed:
	case f.json:
		f.key(name)
		f.mark()
		for len(b) > 0 {
			n := min(len(b), pageSize)
			f.b = appendBytes(f.b, b[:n])
			f.full()
			b = b[n:]
		}
		f.mark()
	default:
		for len(b) > 0 {
			n := min(16, len(b))
			f.full()
			f.dataLine(b[:n], at)
			b, at = b[n:], at+int64(n)
		}
	}
}

func (f *Form) dataLine(line []byte, at int64) {
	f.b = fmt.Appendf(f.b, "\n    %08x: ", at)
	f.digits(line[:min(len(line), 8)], 3*8+1)
	f.digits(line[min(len(line), 8):], 3*8)
	f.b = append(f.b, "  |"...)
	for _, c := range line {
		if c < ' ' || c > '~' {
			c = '.'
		}
		f.b = append(f.b, c)
	}
	f.b = append(f.b, '|')
}

// digits writes bytes in hexadecimal, each after a space, and fills the width with spaces.
func (f *Form) digits(b []byte, width int) {
	end := len(f.b) + width
	for _, c := range b {
		f.b = append(f.b, ' ', hexDigits[c>>4], hexDigits[c&15])
	}
	for len(f.b) < end {
		f.b = append(f.b, ' ')
	}
}
