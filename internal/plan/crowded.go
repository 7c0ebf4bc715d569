package plan

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"
	"sync"

	"github.com/jitinject/jitinject/internal/addrs"
	"github.com/jitinject/jitinject/internal/model"
	"github.com/jitinject/jitinject/internal/recording"
	"github.com/jitinject/jitinject/internal/samplerefs"
	"github.com/jitinject/jitinject/internal/sorting"
)

// Crowded regions use addresses again so often that an image for each use would be too much.
// Unwinding needs only functions that samples refer to, if only by a word in a copy of a stack.
// It loses a stack at a function that the image in force does not have. Images may lack all other
// functions.

// dumpRegions are the regions of a dump. Those of several dumps are with the first of these.
type dumpRegions struct {
	dump     *model.Dump
	regions  []*region
	reserved reserved
}

// referenceTimes tell which code samples refer to, and when.
type referenceTimes interface {
	// Within reports whether a sample may refer to an address in [lo, hi) in [from, to].
	Within(lo, hi, from, to uint64) bool

	// Each calls f for ranges of addresses, in any order. Together they have all addresses
	// that samples refer to in [from, to].
	Each(from, to uint64, f func(lo, hi uint64))
}

// maxCrowded bounds the functions of all images of a crowded region, per function of the region.
const maxCrowded = 16

// placeCrowds finds the images of regions that have none yet.
func (b *bundler) placeCrowds(ctx context.Context, all []dumpRegions) error {
	var crowded []*region
	for _, d := range all {
		for _, r := range d.regions {
			if r.images == nil {
				crowded = append(crowded, r)
			}
		}
	}
	if len(crowded) == 0 {
		return nil
	}
	referenced, err := b.findReferenced(ctx, crowded)
	var why samplerefs.Unknowable
	if err != nil && !errors.As(err, &why) {
		return recording.Error(b.rec.In.Path, err)
	}
	for _, r := range crowded {
		ok := false
		if err == nil {
			r.images, ok = b.crowdedImages(r.placedFunctions, maxCrowded*len(r.placedFunctions), referenced)
		}
		if !ok {
			r.images, _ = b.crowdedImages(r.placedFunctions, maxRepeated*len(r.placedFunctions), nil)
		}
	}
	return nil
}

// crowdedImages divides the placed functions of a crowded region among images. list is in the
// order of addresses.
//
// A new image begins with each function that replaces one of two kinds. It replaces one that came
// after the image before began, or one that samples refer to after that. Of the functions that
// exist when an image begins, it has those that samples refer to while it is in force. Others
// stay mapped from the images before. crowdedImages fails if the images would have more than
// limit functions.
//
// If referenced is nil, the references are unknown, and crowdedImages does not fail. Then an
// image has all functions that exist when it begins and are not replaced while it is in force.
// Once limit is reached, it has only the functions that come later.
func (b *bundler) crowdedImages(list []int, limit int, referenced referenceTimes) (images []image, ok bool) {
	old, now, shown := b.newSeating(list), b.newSeating(list), b.newSeating(list)
	began := uint64(0)
	flush := func(time uint64) {
		shown.clear()
		shown.addAll(now)
		here := now.len
		show := func(i int) {
			if !shown.has(i) {
				shown.add(i)
				here++
			}
		}
		if referenced != nil {
			referenced.Each(began, time, func(lo, hi uint64) { old.eachIn(lo, hi, show) })
		} else {
			for seat := old.next(0); seat >= 0 && limit >= here; seat = old.next(seat + 1) {
				show(list[seat])
			}
		}
		images = append(images, image{placedFunctions: shown.list()})
		limit -= here
		old.addAll(now)
		now.clear()
		began = time
	}
	for _, i := range b.byTime(list) {
		p := &b.placedFunctions[i]
		isReferenced := func(o int) bool {
			return referenced.Within(b.placedFunctions[o].lo(), b.placedFunctions[o].hi(), began, p.first.Time)
		}
		if len(now.overlapping(i)) > 0 || referenced != nil && slices.ContainsFunc(old.overlapping(i), isReferenced) {
			if flush(p.first.Time); limit < 0 && referenced != nil {
				return nil, false
			}
		}
		for _, o := range old.overlapping(i) {
			old.remove(o)
		}
		now.add(i)
	}
	flush(math.MaxUint64)
	return images, limit >= 0
}

// byTime returns placed functions in the order of their times.
func (b *bundler) byTime(list []int) []int {
	list = slices.Clone(list)
	sorting.Stable(list, func(i, j int) int {
		return cmp.Compare(b.placedFunctions[i].first.Time, b.placedFunctions[j].first.Time)
	})
	return list
}

// byAddress compares placed functions.
func (b *bundler) byAddress(i, j int) int {
	x, y := &b.placedFunctions[i], &b.placedFunctions[j]
	return cmp.Or(cmp.Compare(x.lo(), y.lo()), cmp.Compare(x.hi(), y.hi()), cmp.Compare(x.first.Time, y.first.Time), cmp.Compare(i, j))
}

// findReferenced returns the references to crowded regions. It walks the recording once more.
func (b *bundler) findReferenced(ctx context.Context, crowded []*region) (*samplerefs.Log, error) {
	ranges := make([]addrs.Range, len(crowded))
	begin, end := ^uint64(0), uint64(0)
	for n, r := range crowded {
		ranges[n] = addrs.Range{Lo: b.lo(r), Hi: r.end}
		for _, i := range r.placedFunctions {
			begin, end = min(begin, b.placedFunctions[i].first.Time), max(end, b.placedFunctions[i].first.Time)
		}
	}
	sorting.By(ranges, func(x, y addrs.Range) int { return cmp.Compare(x.Lo, y.Lo) })
	lo, hi := ranges[0].Lo, uint64(0)
	for i := range ranges {
		hi = max(hi, ranges[i].Hi)
		ranges[i].Hi = hi // of all up to this one: addresses between regions cost little
	}
	l, mu := samplerefs.NewLog(begin, end), new(sync.Mutex)
	err := samplerefs.Each(ctx, b.rec, func(uint32) (uint64, uint64, bool) { return lo, hi, true }, func(_ uint32, time, addr uint64) (until uint64) {
		n, found := slices.BinarySearchFunc(ranges, addr, func(r addrs.Range, addr uint64) int { return cmp.Compare(r.Lo, addr) })
		if !found {
			n--
		}
		if n >= 0 && addr < ranges[n].Hi {
			mu.Lock()
			defer mu.Unlock()
			return l.Add(addr, time)
		}
		return samplerefs.Always
	})
	return l, err
}
