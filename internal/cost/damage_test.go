package cost

import (
	"bytes"
	"math/rand/v2"

	"github.com/jitinject/jitinject/jitdump"
)

// ones are eight bytes without NUL, which no text ends at.
const ones = uint64(0x0101010101010101)

// Damaged dumps. Ten sound functions come before the damage, and ten after it.
var damageSeries = []series{
	{"damage between functions", 250, func(s *scene, n int) {
		s.process()
		for i := range n {
			s.function(i)
			s.damage([]byte("\x07damagedamagedamagedamage")...)
		}
		s.samples(n)
	}},
	{"damage, random", 50_000, damaged(func(s *scene, n int) {
		r := rand.New(rand.NewPCG(1, 1))
		for range n {
			s.damage(words(r.Uint64())...)
		}
	})},
	{"damage like ends of records", 4000, damaged(func(s *scene, n int) {
		for range n {
			s.damage(words(uint32(jitdump.IDClose), 16, uint64(1), 7, 3)...)
		}
	})},
	{"damage like loads", 4000, damaged(func(s *scene, n int) {
		for range n {
			s.damage(words(uint32(jitdump.IDLoad), 1<<20, uint64(1), uint64(1), uint64(1))...)
		}
	})},
	{"damage like loads without a name", 4000, damaged(func(s *scene, n int) {
		for i := range n {
			s.damage(words(uint32(jitdump.IDLoad), 72*(n-i)+8, ones, ones, ones, ones, uint64(1), ones, ones, ones)...)
		}
	})},
	{"damage like lines", 4000, damaged(func(s *scene, n int) {
		for i := range n {
			s.damage(words(uint32(jitdump.IDDebugInfo), 40*(n-i)+9, ones, uint64(1), ones, ones)...)
		}
	})},
	{"damage like sources", 4000, damaged(func(s *scene, n int) {
		for i := range n {
			s.damage(words(uint32(jitdump.IDEmbeddedSource), 40*(n-i)+9, ones, ones, ones, ones)...)
		}
	})},
	{"zeros between functions", 150, func(s *scene, n int) {
		s.process()
		for i := range n {
			s.damage(make([]byte, 4096)...)
			s.function(i)
		}
		s.samples(10)
	}},
}

// damaged returns a series with damage among sound functions.
func damaged(make func(s *scene, n int)) func(s *scene, n int) {
	return func(s *scene, n int) {
		s.started()
		s.damage(bytes.Repeat([]byte{7}, 8)...)
		make(s, n)
		s.functions(10)
		s.samples(10)
	}
}
