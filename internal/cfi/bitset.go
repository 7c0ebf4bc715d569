package cfi

import (
	mathbits "math/bits"
)

// A bitset is a set of small numbers. Each level has a bit for each non-empty word of the level
// below, so next is fast everywhere.
type bitset struct{ levels [][]uint64 }

// reset empties the set, and makes space for numbers below n.
func (b *bitset) reset(n int) {
	b.levels = b.levels[:0]
	for l := 0; ; l++ {
		n = (n + 63) / 64
		if l < cap(b.levels) {
			b.levels = b.levels[:l+1] // reuse its memory
		} else {
			b.levels = append(b.levels, nil)
		}
		if cap(b.levels[l]) < n {
			b.levels[l] = make([]uint64, n)
		}
		b.levels[l] = b.levels[l][:n]
		clear(b.levels[l])
		if n <= 1 {
			return
		}
	}
}

func (b *bitset) add(i int) {
	for _, words := range b.levels {
		words[i/64] |= 1 << (i % 64)
		i /= 64
	}
}

func (b *bitset) remove(i int) {
	for _, words := range b.levels {
		if words[i/64] &^= 1 << (i % 64); words[i/64] != 0 {
			return
		}
		i /= 64
	}
}

// next returns the first number in the set from i on, or -1.
func (b *bitset) next(i int) int {
	l := 0
	for ; ; l++ {
		if l == len(b.levels) {
			return -1
		}
		if i/64 < len(b.levels[l]) {
			if rest := b.levels[l][i/64] >> (i % 64); rest != 0 {
				i += mathbits.TrailingZeros64(rest)
				break
			}
		}
		i = i/64 + 1
	}
	for ; l > 0; l-- {
		i = i*64 + mathbits.TrailingZeros64(b.levels[l-1][i])
	}
	return i
}
