package jvmti_test

import (
	"encoding/binary"
	"slices"
	"strings"
	"unicode/utf8"
)

// What fuzzagent can be asked for.
const (
	kindHotSpot = iota
	kindOpenJ9
	kindOther
	kindOptions
	kinds
)

// fuzzMethods is how many method ids fuzzagent has. Larger numbers are NULL ids.
const fuzzMethods = 16

// A javaFacts is what fuzzagent's VM says of a method.
type javaFacts struct {
	class, name, descriptor, file string
	user, hasFile, hasLines       bool
	lines                         []javaFactsLine // one for each index
}

type javaFactsLine struct {
	bci  int32
	line uint32
}

// A fuzzBytes draws an input from a fuzzer's bytes; after their end all is 0.
type fuzzBytes []byte

func (f *fuzzBytes) u8() (v uint8) {
	if len(*f) > 0 {
		v, *f = (*f)[0], (*f)[1:]
	}
	return v
}

func (f *fuzzBytes) u32() uint32 {
	return uint32(f.u8()) | uint32(f.u8())<<8 | uint32(f.u8())<<16 | uint32(f.u8())<<24
}

// bci draws a byte code index: mostly a small one.
func (f *fuzzBytes) bci() int32 {
	if b := f.u8(); b < 250 {
		return int32(b) - 1
	}
	return int32(f.u32())
}

// special are what names are made of, besides bytes: the first half of a surrogate pair, the
// second, NUL, and the end of a package.
var special = []string{"\xed\xa0\xbd", "\xed\xb8\x80", "\xc0\x80", "/"}

// What text makes long ones of.
const (
	longName = 250 // for a record
	longPath = 251 // about as long as a path may be
)

// text draws a string without NUL.
func (f *fuzzBytes) text() string {
	n := f.u8()
	switch n {
	case longName:
		return strings.Repeat("n", 1<<16-8+int(f.u8()%16))
	case longPath:
		return strings.Repeat("p", 1<<12-8+int(f.u8()%16))
	}
	var b strings.Builder
	for range min(int(n)%24, len(*f)) {
		if c := f.u8(); c == 0 || c >= 0xf0 {
			b.WriteString(special[int(c)%len(special)])
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}

func (f *fuzzBytes) method() (j javaFacts) {
	// Classes and methods have names.
	j.class, j.name, j.descriptor, j.file = "c"+f.text(), "m"+f.text(), f.text(), f.text()
	flags := f.u8()
	j.user, j.hasFile, j.hasLines = flags&1 != 0, flags&2 != 0, flags&4 != 0
	if flags&8 == 0 {
		j.class = "L" + j.class + ";"
	}
	seen := make(map[int32]bool)
	for range f.u8() % 8 {
		l := javaFactsLine{f.bci(), f.u32()}
		if !seen[l.bci] {
			j.lines = append(j.lines, l)
		}
		seen[l.bci] = true
	}
	return j
}

// places draws a compiled method. Ends are as they were posted: unsorted, and anywhere.
func (f *fuzzBytes) places(methods fuzzFacts) *posted {
	p := &posted{outer: f.index(), size: uint64(f.u32() % 4096), facts: methods}
	count := int(f.u8())
	for end := int32(0); len(p.places) < count && len(*f) > 0; {
		step := f.u8()
		if step == 255 {
			end = int32(f.u32())
		} else {
			end += int32(step) - 8
		}
		place := postedPlace{end: int(end)}
		frames := int(f.u8())
		switch {
		case frames < 200:
			frames %= 6
		case frames == 255:
			frames = 300 // more than a record may hold
		}
		for range frames {
			place.frames = append(place.frames, postedFrame{f.index(), int(f.bci())})
		}
		p.places = append(p.places, place)
	}
	return p
}

func (f *fuzzBytes) index() int { return min(int(f.u8()%20), fuzzMethods) }

// fuzzFacts are the facts of an input, by the number of the method. Of others the class is gone.
type fuzzFacts []javaFacts

func (f fuzzFacts) known(m int) bool { return m < len(f) }

func (f fuzzFacts) name(m int) string {
	if !f.known(m) {
		return "[unloaded]"
	}
	j := &f[m]
	return strings.ReplaceAll(realUTF8(bareClass(j.class)), "/", ".") + "." + realUTF8(j.name) + realUTF8(j.descriptor)
}

func (f fuzzFacts) file(m int) string {
	if !f.known(m) {
		return "[unloaded]"
	}
	j := &f[m]
	class := bareClass(j.class)
	switch {
	case !j.hasFile || j.file == "":
		return realUTF8(class) + ".class"
	case j.file[0] == '/':
		return realUTF8(j.file)
	}
	return realUTF8(class[:strings.LastIndex(class, "/")+1]) + realUTF8(j.file)
}

// lines returns the lines of a method that is known, in order.
func (f fuzzFacts) lines(m int) []javaFactsLine {
	if !f[m].hasLines {
		return nil
	}
	return slices.SortedFunc(slices.Values(f[m].lines), func(a, b javaFactsLine) int { return int(a.bci) - int(b.bci) })
}

func (f fuzzFacts) line(m, bci int) uint32 {
	if !f.known(m) || len(f.lines(m)) == 0 {
		return 0
	}
	lines := f.lines(m)
	if bci < 0 {
		return lines[0].line
	}
	line := uint32(0)
	for _, l := range lines {
		if int(l.bci) <= bci {
			line = l.line
		}
	}
	return line
}

func bareClass(signature string) string {
	if len(signature) >= 2 && signature[0] == 'L' && signature[len(signature)-1] == ';' {
		return signature[1 : len(signature)-1]
	}
	return signature
}

// realUTF8 makes UTF-8 of the VM's modified UTF-8; other bytes stay.
func realUTF8(s string) string {
	var b []byte
	for len(s) > 0 {
		high, low := surrogate(s), rune(0)
		if high != 0 && high < 0xdc00 {
			low = surrogate(s[3:])
		}
		switch {
		case low >= 0xdc00:
			b = utf8.AppendRune(b, 0x10000+(high-0xd800)<<10+(low-0xdc00))
			s = s[6:]
		case high != 0:
			b = append(b, "\ufffd"...)
			s = s[3:]
		case strings.HasPrefix(s, "\xc0\x80"):
			b = append(b, "\ufffd"...)
			s = s[2:]
		default:
			b = append(b, s[0])
			s = s[1:]
		}
	}
	return string(b)
}

// surrogate returns the surrogate that a string begins with, or 0.
func surrogate(s string) rune {
	if len(s) < 3 || s[0] != 0xed || s[1] < 0xa0 || s[1] > 0xbf || s[2]&0xc0 != 0x80 {
		return 0
	}
	return 0xd000 | rune(s[1]&0x3f)<<6 | rune(s[2]&0x3f)
}

// A question is an input for fuzzagent: numbers and strings.
type question []byte

func (q *question) number(numbers ...uint32) {
	for _, n := range numbers {
		*q = binary.NativeEndian.AppendUint32(*q, n)
	}
}

func (q *question) text(s string) {
	q.number(uint32(len(s)))
	*q = append(*q, s...)
}

func (q *question) methods(all fuzzFacts) {
	flag := map[bool]uint32{true: 1}
	q.number(uint32(len(all)))
	for _, j := range all {
		q.text(j.class)
		q.text(j.name)
		q.text(j.descriptor)
		q.text(j.file)
		q.number(flag[j.user], flag[j.hasFile], flag[j.hasLines], uint32(len(j.lines)))
		for _, l := range j.lines {
			q.number(uint32(l.bci), l.line)
		}
	}
}

func (q *question) places(p *posted) {
	q.number(uint32(p.outer), uint32(p.size), uint32(len(p.places)))
	for _, place := range p.places {
		q.number(uint32(place.end), uint32(len(place.frames)))
		for _, f := range place.frames {
			q.number(uint32(f.method), uint32(f.bci))
		}
	}
}
