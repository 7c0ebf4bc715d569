package v8log

import (
	"bytes"
	"fmt"
	"iter"
	"strconv"

	"github.com/jitinject/jitinject/internal/wire"
)

// None is an index or a script offset that an entry does not have.
const None = -1

// A Position is an entry of a position table: the source of the code from CodeOffset up to the
// next entry.
type Position struct {
	CodeOffset   uint32
	ScriptOffset int32 // in the script of the innermost function; None if unknown
	Inlining     int32 // index in the list of calls, or None
}

// A Call is an entry of the list of inlined calls.
type Call struct {
	Function     int32 // index in the list of functions, or None for the compiled function itself
	ScriptOffset int32 // of the call, in the script of the caller
	Parent       int32 // index of the call that the caller was inlined by, or None
}

// A list reads entries of a letter and a number.
type list struct {
	name string
	rest []byte
	at   int64 // offset of rest
}

// fail returns an error at the list's next byte.
func (l *list) fail(format string, args ...any) error {
	return &wire.Error{Format: FormatName, Record: "code-source-info", Field: l.name, Offset: l.at, Text: fmt.Sprintf(format, args...)}
}

// number reads a letter and the number after it. ok is false if another letter comes first. A
// letter without a number is None.
func (l *list) number(letter byte) (n int32, ok bool, err error) {
	if len(l.rest) == 0 || l.rest[0] != letter {
		return None, false, nil
	}
	i := 1
	if i < len(l.rest) && l.rest[i] == '-' {
		i++
	}
	for i < len(l.rest) && l.rest[i]-'0' <= 9 {
		i++
	}
	if i > 1 {
		v, err := strconv.ParseInt(string(l.rest[1:i]), 10, 32)
		if err != nil || v < None {
			return None, false, l.fail("%q is no number of 31 bits", l.rest[1:min(i, maxNumber)])
		}
		n = int32(v)
	} else {
		n = None
	}
	l.rest, l.at = l.rest[i:], l.at+int64(i)
	return n, true, nil
}

// need is number for a letter that must come next.
func (l *list) need(letter byte) (int32, error) {
	n, ok, err := l.number(letter)
	if err == nil && !ok {
		err = l.fail("%q is not %c and a number", l.rest[:min(len(l.rest), 8)], letter)
	}
	return n, err
}

// Positions reads a list of positions at an offset of the file. It ends with the first error.
func Positions(b []byte, off int64) iter.Seq2[Position, error] {
	return func(yield func(Position, error) bool) {
		l := list{"positions", b, off}
		for len(l.rest) > 0 {
			var p Position
			code, err := l.need('C')
			if err == nil && code < 0 {
				err = l.fail("the code offset is missing")
			}
			p.CodeOffset = uint32(code)
			if err == nil {
				p.ScriptOffset, err = l.need('O')
			}
			if err == nil {
				p.Inlining, _, err = l.number('I')
			}
			if !yield(p, err) || err != nil {
				return
			}
		}
	}
}

// Calls reads a list of inlined calls at an offset of the file. It ends with the first error.
func Calls(b []byte, off int64) iter.Seq2[Call, error] {
	return func(yield func(Call, error) bool) {
		l := list{"inlining", b, off}
		for len(l.rest) > 0 {
			var c Call
			var err error
			c.Function, err = l.need('F')
			if err == nil {
				c.ScriptOffset, err = l.need('O')
			}
			if err == nil {
				c.Parent, _, err = l.number('I')
			}
			if !yield(c, err) || err != nil {
				return
			}
		}
	}
}

// Functions reads a list of addresses at an offset of the file. It ends with the first error.
func Functions(b []byte, off int64) iter.Seq2[uint64, error] {
	return func(yield func(uint64, error) bool) {
		l := list{"functions", b, off}
		for len(l.rest) > 0 {
			rest, ok := bytes.CutPrefix(l.rest, []byte("S0x"))
			if !ok {
				yield(0, l.fail("%q is not S and an address", l.rest[:min(len(l.rest), 8)]))
				return
			}
			end := bytes.IndexByte(rest, 'S')
			if end < 0 {
				end = len(rest)
			}
			n, err := strconv.ParseUint(string(rest[:min(end, maxNumber)]), 16, 64)
			if err != nil {
				yield(0, l.fail("%q is no address", rest[:min(end, maxNumber)]))
				return
			}
			if !yield(n, nil) {
				return
			}
			l.rest, l.at = rest[end:], l.at+int64(len("S0x")+end)
		}
	}
}

// MaxList is the size of the longest list that is worth reading, in bytes. A code object has at
// most some 100,000 positions, of a dozen bytes each.
const MaxList = 4 << 20
