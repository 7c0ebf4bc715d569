package sourcemap

import (
	"cmp"
	"fmt"
	"math"
	"sort"

	"github.com/jitinject/jitinject/internal/sorting"
)

// A segment is a decoded segment, or the state of a decoder before the next one.
type segment struct {
	generatedLine uint32
	generated     int64 // column
	source        int32
	line, column  int32
	name          int32
	fields        int // 1, 4 or 5
}

// A mark is the state before a segment.
type mark struct {
	state  segment
	first  int64  // column of the segment
	offset uint32 // of the segment in the mappings
}

// markEvery is the number of segments from one mark to the next.
const markEvery = 64

// A decoder reads segments.
type decoder struct {
	text string
	at   int // offset of the next character
	segment
}

// next reads the next segment. It reports whether there is one.
func (d *decoder) next() (bool, error) {
	if d.skip(); d.at == len(d.text) {
		return false, nil
	}
	var values [5]int64
	n := 0
	for ; d.at < len(d.text) && d.text[d.at] != ',' && d.text[d.at] != ';'; n++ {
		if n == len(values) {
			return false, d.fail("a segment has more than %d numbers", len(values))
		}
		var err error
		if values[n], err = d.number(); err != nil {
			return false, err
		}
	}
	if d.fields = n; n != 1 && n != 4 && n != 5 {
		return false, d.fail("a segment has %d numbers", n)
	}
	d.generated += values[0]
	if d.generated < 0 || d.generated > math.MaxInt32 {
		return false, d.fail("the column %d is invalid", d.generated)
	}
	sum := func(v *int32, i int) error {
		s := int64(*v) + values[i]
		if s < math.MinInt32 || s > math.MaxInt32 {
			return d.fail("the number %d is invalid", s)
		}
		*v = int32(s)
		return nil
	}
	for i, v := range []*int32{&d.source, &d.line, &d.column, &d.name} {
		if err := sum(v, i+1); err != nil {
			return false, err
		}
	}
	return true, nil
}

// maxDigits is the number of digits of the longest number, of 32 bits and a sign.
const maxDigits = 7

// number reads a number.
func (d *decoder) number() (int64, error) {
	value := uint64(0)
	for i := range maxDigits {
		if d.at == len(d.text) {
			return 0, d.fail("the mappings end inside a number")
		}
		digit := digits[d.text[d.at]]
		if digit == noDigit {
			return 0, d.fail("%q is no digit of Base64", d.text[d.at])
		}
		d.at++
		value |= uint64(digit&31) << (5 * i)
		if digit&32 == 0 {
			if value&1 != 0 {
				return -int64(value >> 1), nil
			}
			return int64(value >> 1), nil
		}
	}
	return 0, d.fail("a number has more than %d digits", maxDigits)
}

// fail returns an error at the next character.
func (d *decoder) fail(format string, args ...any) error {
	return fmt.Errorf("source map: mappings at character %d, of generated line %d: %s", d.at, d.generatedLine+1, fmt.Sprintf(format, args...))
}

// noDigit is the value of characters that are no digits.
const noDigit = 255

const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"

var digits = func() (values [256]byte) {
	for i := range values {
		values[i] = noDigit
	}
	for i := range len(alphabet) {
		values[alphabet[i]] = byte(i)
	}
	return values
}()

// index makes the marks of a part. damaged is the number of segments without a possible place.
func (p *part) index() (damaged int, err error) {
	d, unsorted := decoder{text: p.mappings}, false
	for n := 0; ; n++ {
		d.skip()
		before := d
		ok, err := d.next()
		if err != nil {
			return 0, err
		}
		if !ok {
			if p.lines = d.generatedLine + 1; unsorted {
				p.sort()
			}
			return damaged, nil
		}
		unsorted = unsorted || d.generated < before.generated
		if n%markEvery == 0 {
			p.marks = append(p.marks, mark{before.segment, d.generated, uint32(before.at)})
		}
		if d.fields > 1 && !p.has(&d.segment) {
			damaged++
		}
	}
}

// skip passes over separators.
func (d *decoder) skip() {
	for ; d.at < len(d.text) && (d.text[d.at] == ',' || d.text[d.at] == ';'); d.at++ {
		if d.text[d.at] == ';' {
			d.generatedLine++
			d.generated = 0
		}
	}
}

// has reports whether a segment has an original place, and one that can be.
func (p *part) has(s *segment) bool {
	return s.fields > 1 && s.line >= 0 && s.column >= 0 && s.source >= 0 && s.source < p.sources.count &&
		(s.fields < 5 || s.name >= 0 && s.name < p.names.count)
}

// sort decodes mappings with a line that is not in the order of its columns.
func (p *part) sort() {
	d := decoder{text: p.mappings}
	for ok, _ := d.next(); ok; ok, _ = d.next() {
		p.sorted = append(p.sorted, d.segment)
	}
	sorting.Stable(p.sorted, func(a, b segment) int {
		return cmp.Or(cmp.Compare(a.generatedLine, b.generatedLine), cmp.Compare(a.generated, b.generated))
	})
}

// isAfter reports whether a segment begins after a place of the generated file. Both count from 0.
func (s *segment) isAfter(line, column uint32) bool {
	return s.generatedLine > line || s.generatedLine == line && s.generated > int64(column)
}

// find returns the last segment of a line that begins at a column or before it. Both count from 0.
func (p *part) find(line, column uint32) (found segment, ok bool) {
	if p.sorted != nil {
		i := sort.Search(len(p.sorted), func(i int) bool { return p.sorted[i].isAfter(line, column) })
		if i == 0 {
			return segment{}, false
		}
		return p.sorted[i-1], p.sorted[i-1].generatedLine == line
	}
	i := sort.Search(len(p.marks), func(i int) bool {
		k := &p.marks[i]
		return k.state.generatedLine > line || k.state.generatedLine == line && k.first > int64(column)
	}) - 1
	if i < 0 {
		return segment{}, false
	}
	d := decoder{text: p.mappings, at: int(p.marks[i].offset), segment: p.marks[i].state}
	for range markEvery {
		more, err := d.next()
		if err != nil || !more || d.isAfter(line, column) {
			break
		}
		found, ok = d.segment, d.generatedLine == line
	}
	return found, ok
}
