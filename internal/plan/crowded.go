package plan

import (
	"cmp"
	"context"
	"errors"
	"math"
	"math/bits"
	"slices"

	"github.com/jitinject/jitinject/internal/addrs"
	"github.com/jitinject/jitinject/internal/model"
	"github.com/jitinject/jitinject/internal/recording"
)

// Crowded regions use addresses again so often that an image for each time would be too
// much. Unwinding needs only functions that samples refer to, by a word in a copy of a stack
// at least: it loses a stack when it comes to a function that the image in force does not
// have. Other functions may be missing in images.

// dumpRegions are the regions of a dump.
type dumpRegions struct {
	dump    *model.Dump
	regions []*region
	walls   walls
	absent  []addrs.Range
}

// references describe which code samples refer to, and when.
type references interface {
	// within reports whether a sample may refer to an address in [lo, hi) in [from, to].
	within(lo, hi, from, to uint64) bool

	// each calls f for ranges of addresses, in any order, that have all addresses that
	// samples refer to in [from, to].
	each(from, to uint64, f func(lo, hi uint64))
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
		return recording.Error(b.rec.In.Path, err)
	}
	for _, r := range crowded {
		ok := false
		if err == nil {
			r.images, ok = b.crowdedImages(r.residents, maxCrowded*len(r.residents), touched)
		}
		if !ok {
			r.images, _ = b.crowdedImages(r.residents, maxRepeated*len(r.residents), nil)
		}
	}
	return nil
}

// crowdedImages divides the residents of a crowded region, in the order of their addresses,
// among images. An image begins with each function that replaces one of two kinds: it came
// after the image before began, or samples refer to it after that. Of the functions that
// exist when an image begins, it has those that samples refer to while it is in force.
// Others stay mapped from the images before. It fails if the images would have more than
// limit functions.
//
// If touched is nil, the references are unknown. Then an image has all functions that exist
// when it begins and are not replaced while it is in force; once limit is reached, it has
// only the functions that come later. It does not fail.
func (b *bundler) crowdedImages(list []int, limit int, touched references) (images []image, ok bool) {
	old, now, shown := b.newSeating(list), b.newSeating(list), b.newSeating(list)
	began := uint64(0)
	flush := func(time uint64) {
		shown.clear()
		shown.addAll(now)
		here := now.len()
		show := func(i int) {
			if !shown.has(i) {
				shown.add(i)
				here++
			}
		}
		if touched != nil {
			touched.each(began, time, func(lo, hi uint64) { old.eachIn(lo, hi, show) })
		} else {
			for seat := old.next(0); seat >= 0 && limit >= here; seat = old.next(seat + 1) {
				show(list[seat])
			}
		}
		images = append(images, image{residents: shown.list()})
		limit -= here
		old.addAll(now)
		now.clear()
		began = time
	}
	for _, i := range b.byTime(list) {
		r := &b.residents[i]
		isTouched := func(o int) bool {
			return touched.within(b.residents[o].lo, b.residents[o].hi, began, r.time)
		}
		if len(now.overlapping(i)) > 0 || touched != nil && slices.ContainsFunc(old.overlapping(i), isTouched) {
			if flush(r.time); limit < 0 && touched != nil {
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

// byTime returns residents in the order of their times.
func (b *bundler) byTime(list []int) []int {
	list = slices.Clone(list)
	slices.SortStableFunc(list, func(i, j int) int { return cmp.Compare(b.residents[i].time, b.residents[j].time) })
	return list
}

// A touchLog has the references to crowded regions, by any process. It implements references
// with blocks of addresses and intervals of time.
type touchLog struct {
	begin    uint64 // of the first interval
	shift    int    // an interval has 1<<shift nanoseconds
	blocks   map[uint64]*[touchIntervals / 64]uint64
	inBlocks [touchIntervals][]uint64 // by interval, the blocks
}

const (
	// touchIntervals is how many intervals of time a log tells apart.
	touchIntervals = 2048

	// touchBlock is how many addresses it does not tell apart.
	touchBlock = 16
)

// findTouched walks the recording.
func (b *bundler) findTouched(ctx context.Context, crowded []*region) (*touchLog, error) {
	ranges := make([]addrs.Range, len(crowded))
	begin, end := ^uint64(0), uint64(0)
	for n, r := range crowded {
		ranges[n] = addrs.Range{Lo: b.lo(r), Hi: r.end}
		for _, i := range r.residents {
			begin, end = min(begin, b.residents[i].time), max(end, b.residents[i].time)
		}
	}
	slices.SortFunc(ranges, func(x, y addrs.Range) int { return cmp.Compare(x.Lo, y.Lo) })
	lo, hi := ranges[0].Lo, uint64(0)
	for i := range ranges {
		hi = max(hi, ranges[i].Hi)
		ranges[i].Hi = hi // of all up to this one: what is in between costs little
	}
	l := &touchLog{begin: begin, shift: max(0, bits.Len64(end-begin)-bits.Len64(touchIntervals-1)), blocks: make(map[uint64]*[touchIntervals / 64]uint64)}
	err := eachTouch(ctx, b.rec, func(uint32) (uint64, uint64, bool) { return lo, hi, true }, func(_ uint32, time, addr uint64) {
		n, found := slices.BinarySearchFunc(ranges, addr, func(r addrs.Range, addr uint64) int { return cmp.Compare(r.Lo, addr) })
		if !found {
			n--
		}
		if n >= 0 && addr < ranges[n].Hi {
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
	if bit := uint64(1) << (i % 64); block[i/64]&bit == 0 {
		block[i/64] |= bit
		l.inBlocks[i] = append(l.inBlocks[i], addr/touchBlock)
	}
}

func (l *touchLog) each(from, to uint64, f func(lo, hi uint64)) {
	for _, blocks := range l.inBlocks[l.interval(from) : l.interval(to)+1] {
		for _, block := range blocks {
			f(block*touchBlock, (block+1)*touchBlock)
		}
	}
}

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
