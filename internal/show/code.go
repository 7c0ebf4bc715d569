package show

import "fmt"

// instructionBytes is how many bytes of an instruction stand in a line.
const instructionBytes = 8

// Code writes an instruction.
func (f *Form) Code(addr uint64, bytes []byte, text string) {
	if !f.json {
		f.b = fmt.Appendf(f.b, "    %12x:  %-*s %s", addr, 3*instructionBytes, fmt.Sprintf("% x ", bytes[:min(len(bytes), instructionBytes)]), text)
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
	digits := ""
	for i, c := range line {
		if i == 8 {
			digits += " "
		}
		digits += fmt.Sprintf(" %02x", c)
	}
	f.b = fmt.Appendf(f.b, "\n    %08x: %-*s  |", at, 16*3+1, digits)
	for _, c := range line {
		if c < ' ' || c > '~' {
			c = '.'
		}
		f.b = append(f.b, c)
	}
	f.b = append(f.b, '|')
}
