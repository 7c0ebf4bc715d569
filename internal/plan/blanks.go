package plan

import (
	"github.com/jitinject/jitinject/internal/addrs"
	"github.com/jitinject/jitinject/internal/model"
)

// blankRoom bounds the size of unwind tables without an entry, in bytes.
const blankRoom = 64

// maxBlankGap bounds the distance from code to its blank table, in bytes.
const maxBlankGap = 1 << 20

// behind reserves an address for a blank table after end. The address is free of functions and
// other blank tables at all times. The result is 0 if it would be farther than maxBlankGap, or
// may lie in a file. libunwind follows frame pointers where a table has no entry, and gives up
// where there is no table.
func (b *bundler) behind(d *model.Dump, end uint64) uint64 {
	if b.taken == nil {
		b.taken = new(addrs.Owners)
		for i := range b.placedFunctions {
			b.take(b.placedFunctions[i].lo(), b.placedFunctions[i].hi())
		}
	}
	at := afterBlank(end)
	for at-end <= maxBlankGap {
		t, ok := b.taken.Next(at)
		if !ok || t.Lo >= at+blankRoom {
			break
		}
		at = afterBlank(t.Hi)
	}
	if at-end > maxBlankGap || b.gaps.InFile(d, at+blankRoom) {
		return 0
	}
	b.take(at, at+blankRoom)
	return at
}

// afterBlank returns the first address for a blank table after code or another table.
func afterBlank(end uint64) uint64 { return (end + 15) &^ 7 }

// take makes addresses taken, in one piece with those between which no blank table has room.
func (b *bundler) take(lo, hi uint64) {
	if t, ok := b.taken.Last(lo); ok && lo < afterBlank(t.Hi)+blankRoom {
		lo, hi = t.Lo, max(hi, t.Hi)
	}
	for {
		t, ok := b.taken.Next(hi)
		if !ok || t.Lo >= afterBlank(hi)+blankRoom {
			break
		}
		hi = t.Hi
	}
	b.taken.Place(lo, hi, 0)
}
