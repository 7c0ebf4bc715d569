package inject

import (
	"cmp"
	"context"
	"errors"
	"math"
	"math/bits"
	"slices"
)

// Regions in which addresses are used again so often that an image for each time would be
// too many. What counts is what samples touch, words in copies of stacks included: stacks
// are lost where an image is in force without a function that unwinding comes to. A
// function that nothing touches until it is replaced needs no image of its own.

// dumpRegions are the regions of a dump.
type dumpRegions struct {
	dump    *dump
	regions []*region
	walls   walls
	absent  []addrRange
}

// maxCrowded is how many functions the images of a crowded region may have, by how many
// different ones there are.
const maxCrowded = 16

// settleCrowds finds the images of regions that have none yet.
func (b *bundler) settleCrowds(ctx context.Context, all []dumpRegions) error {
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
	touched, err := b.findTouched(ctx, crowded)
	var why unknowable
	if err != nil && !errors.As(err, &why) {
		return inputError(b.rec.in.path, err)
	}
	for _, r := range crowded {
		byTime := b.byTime(r.residents)
		ok := false
		if err == nil {
			r.images, ok = b.crowdedImages(byTime, maxCrowded*len(byTime), touched.within)
		}
		if !ok {
			r.images, _ = b.crowdedImages(byTime, maxRepeated*len(byTime), nil)
		}
	}
	return nil
}

// crowdedImages begins an image with each function that takes addresses of another one
// which came with the image before, or is touched after that began. Of the functions that
// are there when it begins, it has those that are touched as long as it is in force; others
// stay to be seen from images before. It fails if the images would have more than limit
// functions.
//
// If touched is nil, nobody knows, and it does not fail: an image has what is there when it
// begins and is not replaced, and nothing of that once limit is reached.
func (b *bundler) crowdedImages(byTime []int, limit int, touched func(lo, hi, from, to uint64) bool) (images []image, ok bool) {
	var old, now seated // what is there when the image begins, and what comes later
	began := uint64(0)
	flush := func(time uint64) {
		all := slices.Clone(now)
		for _, i := range old {
			r := &b.residents[i]
			if touched == nil && limit >= len(all) || touched != nil && touched(r.lo, r.hi, began, time) {
				all.insert(b, i)
			}
		}
		images = append(images, image{residents: all})
		limit -= len(all)
		for _, i := range old {
			now.insert(b, i)
		}
		old, now, began = now, nil, time
	}
	for _, i := range byTime {
		r := &b.residents[i]
		from, to := now.overlapping(b, i)
		if from < to || touched != nil && slices.ContainsFunc(old.there(b, i), func(o int) bool {
			return touched(b.residents[o].lo, b.residents[o].hi, began, r.time)
		}) {
			if flush(r.time); limit < 0 && touched != nil {
				return nil, false
			}
		}
		from, to = old.overlapping(b, i)
		old = slices.Delete(old, from, to)
		now.insert(b, i)
	}
	flush(math.MaxUint64)
	return images, limit >= 0
}

// there returns which of them overlap another one.
func (s seated) there(b *bundler, resident int) []int {
	from, to := s.overlapping(b, resident)
	return s[from:to]
}

// byTime returns residents in the order of their times.
func (b *bundler) byTime(list []int) []int {
	list = slices.Clone(list)
	slices.SortStableFunc(list, func(i, j int) int { return cmp.Compare(b.residents[i].time, b.residents[j].time) })
	return list
}

// A touchLog knows, roughly, when addresses of crowded regions are touched, by any process.
type touchLog struct {
	begin  uint64 // of the first interval
	shift  int    // an interval has 1<<shift nanoseconds
	blocks map[uint64]*[touchIntervals / 64]uint64
}

const (
	// touchIntervals is how many intervals of time a log tells apart.
	touchIntervals = 2048

	// touchBlock is how many addresses it does not tell apart.
	touchBlock = 16
)

// findTouched walks the recording.
func (b *bundler) findTouched(ctx context.Context, crowded []*region) (*touchLog, error) {
	ranges := make([]addrRange, len(crowded))
	begin, end := ^uint64(0), uint64(0)
	for n, r := range crowded {
		ranges[n] = addrRange{b.residents[r.residents[0]].lo, b.endOf(r)}
		for _, i := range r.residents {
			begin, end = min(begin, b.residents[i].time), max(end, b.residents[i].time)
		}
	}
	slices.SortFunc(ranges, func(x, y addrRange) int { return cmp.Compare(x.lo, y.lo) })
	lo, hi := ranges[0].lo, uint64(0)
	for i := range ranges {
		hi = max(hi, ranges[i].hi)
		ranges[i].hi = hi // of all up to this one: what is in between costs little
	}
	l := &touchLog{begin: begin, shift: max(0, bits.Len64(end-begin)-bits.Len64(touchIntervals-1)), blocks: make(map[uint64]*[touchIntervals / 64]uint64)}
	err := b.rec.eachTouch(ctx, func(uint32) (uint64, uint64, bool) { return lo, hi, true }, func(_ uint32, time, addr uint64) {
		n, found := slices.BinarySearchFunc(ranges, addr, func(r addrRange, addr uint64) int { return cmp.Compare(r.lo, addr) })
		if !found {
			n--
		}
		if n >= 0 && addr < ranges[n].hi {
			l.add(addr, time)
		}
	})
	return l, err
}

func (l *touchLog) interval(time uint64) int {
	if time <= l.begin {
		return 0
	}
	return int(min((time-l.begin)>>l.shift, touchIntervals-1))
}

func (l *touchLog) add(addr, time uint64) {
	block := l.blocks[addr/touchBlock]
	if block == nil {
		block = new([touchIntervals / 64]uint64)
		l.blocks[addr/touchBlock] = block
	}
	i := l.interval(time)
	block[i/64] |= 1 << (i % 64)
}

// within reports whether an address in [lo, hi) may have been touched in [from, to].
func (l *touchLog) within(lo, hi, from, to uint64) bool {
	first, last := l.interval(from), l.interval(to)
	for at := lo / touchBlock; at <= (hi-1)/touchBlock; at++ {
		block := l.blocks[at]
		if block == nil {
			continue
		}
		for i := first; i <= last; i++ {
			if block[i/64]&(1<<(i%64)) != 0 {
				return true
			}
		}
	}
	return false
}
