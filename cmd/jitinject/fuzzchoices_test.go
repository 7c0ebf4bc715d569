package main

import (
	"encoding/binary"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"strings"
)

// Choices are made by the bytes of a fuzzer's input. After the last byte, a generator makes them that
// the input seeds: short inputs make whole scenes, too.
type choices struct {
	input []byte
	rest  *rand.Rand
}

func newChoices(input []byte) *choices {
	h := fnv.New64a()
	h.Write(input)
	return &choices{input, rand.New(rand.NewPCG(h.Sum64(), uint64(len(input))))}
}

func (c *choices) byte() byte {
	if len(c.input) == 0 {
		return byte(c.rest.Uint32())
	}
	b := c.input[0]
	c.input = c.input[1:]
	return b
}

// upTo returns a number from 0 to most, which is at most 65535.
func (c *choices) upTo(most int) int {
	n := int(c.byte())
	if most > math.MaxUint8 {
		n |= int(c.byte()) << 8
	}
	return n % (most + 1)
}

// once is true once in n times.
func (c *choices) once(n int) bool { return c.upTo(n-1) == 0 }

// number returns a number that is near n, of another size, or at a limit.
func (c *choices) number(n uint64) uint64 {
	switch c.upTo(11) {
	case 0:
		return 0
	case 1:
		return math.MaxUint64 - uint64(c.upTo(16))
	case 2:
		return 1<<uint(c.upTo(63)) - uint64(c.upTo(1))
	case 3, 4:
		return n + uint64(c.upTo(64)) - 32
	case 5:
		return n << uint(c.upTo(20))
	}
	return n
}

// chosen returns an element of a list.
func chosen[T any](c *choices, list []T) T { return list[c.upTo(len(list)-1)] }

// edited drops, doubles, swaps and moves elements of a list, once in a while.
func edited[T any](c *choices, list []T) []T {
	if len(list) == 0 || !c.once(3) {
		return list
	}
	list = append([]T(nil), list...)
	for range 1 + c.upTo(3) {
		i, j := c.upTo(len(list)-1), c.upTo(len(list)-1)
		switch c.upTo(3) {
		case 0:
			list = append(list[:i], list[i+1:]...)
		case 1:
			list = append(list, list[i])
		case 2:
			list[i], list[j] = list[j], list[i]
		default:
			list = list[:max(i, len(list)/2)]
		}
		if len(list) == 0 {
			break
		}
	}
	return list
}

// damaged changes the bytes of a file, once in a while.
func (c *choices) damaged(b []byte) []byte {
	if len(b) == 0 || !c.once(4) {
		return b
	}
	b = append([]byte(nil), b...)
	for range 1 + c.upTo(2) {
		// Heads and tables are at the beginning of most files.
		i := c.upTo(min(len(b)-1, math.MaxUint16))
		if c.once(2) {
			i = c.upTo(min(len(b)-1, math.MaxUint8))
		}
		end := min(i+1+c.upTo(300), len(b))
		switch c.upTo(5) {
		case 0:
			b[i] ^= 1 << c.upTo(7)
		case 1:
			b[i] = c.byte()
		case 2:
			var word [8]byte
			binary.LittleEndian.PutUint64(word[:], c.number(uint64(len(b))))
			copy(b[i:], word[:chosen(c, []int{2, 4, 8})])
		case 3:
			b = b[:max(i, 1)]
		case 4:
			b = append(b[:i], b[end:]...)
		default:
			b = append(b[:end:end], b[i:]...)
		}
		if len(b) == 0 {
			break
		}
	}
	return b
}

// outsideNames are names of runtimes, and names that are hard to print.
var outsideNames = []string{
	"f", "JS:*f /a.js:1:1", "JS:~inner /a.js:2:1", "LazyCompile:*f /a.js:3:7", "Builtin:ArrayMap", "py::f:/a.py", "void App::Main(int)", "Lcom/App;->run(I)V",
	"PHP::App->run", "RegExp:a+", "[unknown]", "stub", "_ZN3app4mainEi", "", "a\x1b]0;title\ab", "\xff\xfe(", "line\nline\r", "\u202eright", "/etc/passwd", "../../x", "libjit.so",
	"%s%n", "name with spaces, and a comma", "[stub] [p]", "very long: " + strings.Repeat("long", 300),
}

func (c *choices) name() string {
	if c.once(3) {
		return chosen(c, outsideNames)
	}
	return "f" + string(rune('a'+c.upTo(25))) + string(rune('a'+c.upTo(25)))
}

// source returns the name of a source file.
func (c *choices) source() string {
	return chosen(c, []string{"/a.js", "/a.js", "/b/App.java", "lib/f.toy", "main.py", "", "file:///a.js", "\x1b[2J", "../../../etc/passwd", "\xff"})
}
