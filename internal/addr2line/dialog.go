package addr2line

import (
	"bytes"
	"strconv"
)

// endMark is perf's question that ends each answer.
const endMark = ","

// noAddress is what addr2line is asked instead of endMark. No code is at the last address.
const noAddress = 1<<64 - 1

// An exchange is the state of the dialog between perf and addr2line.
type exchange struct {
	wantsAddress bool // perf expects the line with the address before each answer

	asked   []uint64 // addresses without an answer so far
	request []byte   // a line of perf without its end
	answer  []byte   // a line of addr2line without its end
	isPair  bool     // the next line of addr2line is the second of a pair
	isEnd   bool     // the next two lines of addr2line answer an end mark
}

// ask appends to dst what addr2line is to get for input of perf.
func (x *exchange) ask(dst, input []byte) []byte {
	for {
		line, rest, ok := bytes.Cut(input, []byte("\n"))
		x.request = append(x.request, line...)
		if !ok {
			return dst
		}
		if string(x.request) == endMark {
			x.request = strconv.AppendUint(x.request[:0], noAddress, 16)
		}
		if address, err := strconv.ParseUint(digits(x.request), 16, 64); err == nil {
			x.asked = append(x.asked, address)
		}
		dst = append(append(dst, x.request...), '\n')
		x.request, input = x.request[:0], rest
	}
}

// reply appends to dst what perf is to get for output of addr2line.
func (x *exchange) reply(dst, output []byte) []byte {
	for {
		line, rest, ok := bytes.Cut(output, []byte("\n"))
		x.answer = append(x.answer, line...)
		if !ok {
			return dst
		}
		dst = x.line(dst, x.answer)
		x.answer, output = x.answer[:0], rest
	}
}

// line appends to dst what perf is to get for a line of addr2line.
func (x *exchange) line(dst, line []byte) []byte {
	switch {
	case !x.isPair && x.isNext(line):
		x.isEnd = x.asked[0] == noAddress
		x.asked = x.asked[:copy(x.asked, x.asked[1:])]
		if !x.wantsAddress {
			return dst
		}
		if x.isEnd {
			line = append([]byte("0x"), bytes.Repeat([]byte("0"), len(line)-2)...)
		}
	case x.isEnd && !x.isPair:
		x.isPair, line = true, []byte("??")
	case x.isEnd:
		x.isPair, x.isEnd, line = false, false, []byte("??:0")
	default:
		x.isPair = !x.isPair
	}
	return append(append(dst, line...), '\n')
}

// isNext reports whether a line is the next address that was asked for. In 32-bit files it has the low
// half, with 8 digits.
func (x *exchange) isNext(line []byte) bool {
	if len(x.asked) == 0 || !bytes.HasPrefix(line, []byte("0x")) {
		return false
	}
	text := digits(line)
	address, err := strconv.ParseUint(text, 16, 64)
	return err == nil && (address == x.asked[0] || len(text) == 8 && address == x.asked[0]&(1<<32-1))
}

// digits returns an address without a 0x in front.
func digits(line []byte) string { return string(bytes.TrimPrefix(line, []byte("0x"))) }
