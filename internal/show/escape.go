package show

import (
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/jitinject/jitinject/internal/wire"
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

// MachineName is what people call an ELF e_machine, "" if it is nothing.
func MachineName(m uint32) string {
	switch elf.Machine(m) {
	case elf.EM_386:
		return "i386"
	case elf.EM_X86_64:
		return "x86-64"
	case elf.EM_AARCH64:
		return "arm64"
	case elf.EM_RISCV:
		return "riscv"
	case elf.EM_LOONGARCH:
		return "loongarch"
	case elf.EM_S390:
		return "s390"
	}
	if m > 0xffff {
		return ""
	}
	name := elf.Machine(m).String()
	if short, ok := strings.CutPrefix(name, "EM_"); ok {
		return strings.ToLower(short)
	}
	return ""
}

// BitNames names the bits of v; those without a name are in one hexadecimal number.
func BitNames(v uint64, names []string) (list []string) {
	for i, name := range names {
		if bit := uint64(1) << i; v&bit != 0 && name != "" {
			list = append(list, name)
			v &^= bit
		}
	}
	if v != 0 {
		list = append(list, fmt.Sprintf("%#x", v))
	}
	return list
}

// nameOf is the i-th name, or "".
func nameOf(names []string, i uint64) string {
	if i < uint64(len(names)) {
		return names[i]
	}
	return ""
}

// Unnamed is how records are called that have no name.
func Unnamed(t uint32) string { return fmt.Sprintf("type %d", t) }

// OrderName is what people call a byte order.
func OrderName(o binary.ByteOrder) string {
	if o == binary.ByteOrder(binary.BigEndian) {
		return "big-endian"
	}
	return "little-endian"
}

// OffsetOf returns where a codec's error says that it is, or else what is given.
func OffsetOf(err error, at int64) int64 {
	var located *wire.Error
	if errors.As(err, &located) {
		return located.Offset
	}
	return at
}
