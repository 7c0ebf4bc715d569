package testrec

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math/bits"
	"slices"
)

// Swap turns a perf.data in file format into the one that a machine of the other
// byte order would have written: the same records with the same values. What
// stands in records and features without a known layout stays as it is.
func Swap(in []byte) ([]byte, error) {
	out := bytes.Clone(in)
	s := &swapper{b: out}
	switch {
	case bytes.HasPrefix(in, []byte("PERFILE2")):
		s.from = binary.LittleEndian
	case bytes.HasPrefix(in, []byte("2ELIFREP")):
		s.from = binary.BigEndian
	default:
		return nil, fmt.Errorf("it begins with %q: no perf.data", in[:min(len(in), 8)])
	}
	slices.Reverse(s.bytes(8))
	if size := s.u64(); size != 104 && size != 72 {
		return nil, fmt.Errorf("a file header of %d bytes", size)
	}
	attrSize := s.u64()
	attrs, data, types := s.section(out), s.section(out), s.section(out)
	var features []int
	if len(out) >= 104 && s.from.Uint64(in[8:]) == 104 {
		for word := range 4 {
			for set := s.u64(); set != 0; set &= set - 1 {
				features = append(features, 64*word+bits.TrailingZeros64(set))
			}
		}
	}
	for len(types.b) > 0 { // id, name
		types.fields("8m")
	}
	var r records
	for len(attrs.b) > 0 && s.err == nil {
		a := attrs.sub(int(attrSize) - 16)
		r.events = append(r.events, a.attr())
		ids := attrs.section(out)
		for len(ids.b) > 0 {
			r.of(ids.u64(), len(r.events)-1)
		}
		s.fail(ids.err)
	}
	end := s.from.Uint64(in[40:]) + s.from.Uint64(in[48:])
	table := swapper{b: out[min(end, uint64(len(out))):], from: s.from}
	for _, id := range features {
		content := table.section(out)
		content.feature(id, &r)
		s.fail(content.err)
	}
	for len(data.b) > 0 && data.err == nil {
		data.record(&r)
	}
	s.fail(attrs.err, data.err, types.err, table.err)
	return out, s.err
}

// A swapper reverses the fields of b in place, from front to back. Its methods
// return what the fields were. The first error sticks; from then on everything
// is 0.
type swapper struct {
	b    []byte
	from Order
	err  error
}

func (s *swapper) bytes(n int) []byte {
	if n < 0 || n > len(s.b) {
		s.fail(io.ErrUnexpectedEOF)
		s.b = nil
		return make([]byte, max(0, min(n, 8)))
	}
	b := s.b[:n:n]
	s.b = s.b[n:]
	return b
}

func (s *swapper) u16() uint16 {
	b := s.bytes(2)
	v := s.from.Uint16(b)
	slices.Reverse(b)
	return v
}

func (s *swapper) u32() uint32 {
	b := s.bytes(4)
	v := s.from.Uint32(b)
	slices.Reverse(b)
	return v
}

func (s *swapper) u64() uint64 {
	b := s.bytes(8)
	v := s.from.Uint64(b)
	slices.Reverse(b)
	return v
}

// u32s and u64s swap n fields in a row.
func (s *swapper) u32s(n int) {
	for ; n > 0 && len(s.b) > 0; n-- {
		s.u32()
	}
}

func (s *swapper) u64s(n uint64) {
	for ; n > 0 && len(s.b) > 0; n-- {
		s.u64()
	}
}

// fields swaps fields by their layout. 2, 4 and 8 are numbers of that many bytes, q, c and
// m are 8, 16 and 64 bytes of text, s is a text after its length. * is numbers of 8 bytes
// up to the end. n and N are numbers of 4 and 8 bytes that count how often the layout after
// them follows.
func (s *swapper) fields(layout string) {
	for i, f := range layout {
		n := uint64(0)
		switch f {
		case '2':
			s.u16()
		case '4':
			s.u32()
		case '8':
			s.u64()
		case 'q', 'c', 'm':
			s.bytes(map[rune]int{'q': 8, 'c': 16, 'm': 64}[f])
		case 's':
			s.bytes(int(s.u32()))
		case '*':
			s.u64s(uint64(len(s.b) / 8))
		case 'n':
			n = uint64(s.u32())
		case 'N':
			n = s.u64()
		}
		if f == 'n' || f == 'N' {
			for ; n > 0 && len(s.b) > 0; n-- {
				s.fields(layout[i+1:])
			}
			return
		}
	}
}

// sub is the next n bytes; they are for another swapper.
func (s *swapper) sub(n int) *swapper { return &swapper{b: s.bytes(n), from: s.from} }

// section swaps an offset and a size, and is that part of the file.
func (s *swapper) section(file []byte) *swapper {
	offset, size := s.u64(), s.u64()
	if size == 0 {
		return &swapper{from: s.from}
	}
	if offset > uint64(len(file)) || size > uint64(len(file))-offset {
		s.fail(fmt.Errorf("%d bytes at %#x are not inside the file", size, offset))
		return &swapper{from: s.from}
	}
	return &swapper{b: file[offset : offset+size : offset+size], from: s.from}
}

func (s *swapper) fail(errs ...error) {
	for _, err := range errs {
		if s.err == nil {
			s.err = err
		}
	}
}
