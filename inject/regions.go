package inject

import (
	"cmp"
	"slices"
)

// Where perf unwinds copies of stacks, functions that lie close together share an object.
//
// A perf that unwinds by libdw (perf 7) tells libdw of a file when an address in one of
// its mappings is looked up first [perf: __report_module]. To libdw the file is a module:
// it goes from the mapping's start less its offset to the end of the last PT_LOAD, so it
// begins 128 bytes or more in front of its code. Where modules overlap, the one that was
// told of last wins, and what is left of the other above it belongs to none
// [libdwfl: reify_segments]. An address that is not in the module expected makes perf tell
// of the file again, which libdw refuses, because it has it already under another file
// descriptor, and forgets the module [libdwfl: __libdwfl_report_elf]. From then on, every
// stack that comes to that file ends there. Modules are never forgotten otherwise: not when
// something else is mapped over them.
//
// So no two modules that are in use at the same time may overlap, and a module that
// replaces another one must begin elsewhere, or perf takes the old one for it:
//
//   - Functions less than regionGap apart are in one region, whenever they are there.
//   - A region has an image, one object with all its functions. Where addresses are used
//     again, it has several, one after the other: each has the functions that are there
//     when it begins and those that come later. From its beginning on, all of them are
//     mapped from it.
//   - An image begins in front of its first function by a length that differs from that
//     of the image before.
//   - What a file is mapped to a second time, as V8 does it with its builtins, is a region
//     with one image, which is mapped as a whole: libdw refuses a program (ET_EXEC) at
//     another place than its own, and forgets it.
type region struct {
	dump      *dump
	residents []int // in the order of their addresses
	images    []image
	copied    addrRange // the mapping of a file that it takes the place of, or empty
}

// An image is what is in a region for a time.
type image struct {
	residents []int // in the order of their addresses
	objects   []int // of the new plan, of each
}

const (
	// regionGap is how far below its code a module may begin: TextOffset, and what the code
	// is moved up to be aligned as it was in memory.
	regionGap = 0x80 + 0x40

	// imageStep is what the beginnings of consecutive images differ by, and imageSteps how
	// many there are.
	imageStep  = 0x40
	imageSteps = 4

	// maxRepeated is how many functions a region's images may have, by how many different
	// ones there are. Where there would be more, an image takes in what comes for as long
	// as that has room beside itself, and does without the functions that this replaces,
	// from its beginning on.
	maxRepeated = 8
)

// gapBelow returns how far a region with so many images stays away from what is below.
func gapBelow(images int) uint64 {
	return regionGap + imageStep*uint64(min(images, imageSteps)-1)
}

// regionsOf divides residents of a dump, in the order of their addresses, among regions.
func (b *bundler) regionsOf(d *dump, list []int) (regions []*region) {
	for len(list) > 0 {
		if copied := b.residents[list[0]].copied; copied != (addrRange{}) {
			n := b.fitting(list, copied)
			regions = append(regions, &region{dump: d, residents: list[:n:n], images: []image{{residents: list[:n:n]}}, copied: copied})
			list = list[n:]
			continue
		}
		n := b.near(list)
		r := &region{dump: d, residents: list[:n:n]}
		list = list[n:]
		r.images = b.images(r.residents)
		// What is below may be too near for so many images.
		for len(regions) > 0 {
			last := regions[len(regions)-1]
			if last.copied != (addrRange{}) || b.endOf(last)+gapBelow(len(r.images)) <= b.residents[r.residents[0]].lo {
				break
			}
			r.residents = append(last.residents, r.residents...)
			r.images = b.images(r.residents)
			regions = regions[:len(regions)-1]
		}
		regions = append(regions, r)
	}
	return regions
}

// fitting returns how many of the residents, from the first on, are in a copy of a file and
// do not overlap.
func (b *bundler) fitting(list []int, copied addrRange) int {
	for n := 1; n < len(list); n++ {
		if r := &b.residents[list[n]]; r.copied != copied || r.lo < b.residents[list[n-1]].hi {
			return n
		}
	}
	return len(list)
}

// near returns how many of the residents, from the first on, are near each other.
func (b *bundler) near(list []int) int {
	end := b.residents[list[0]].hi
	for n := 1; n < len(list); n++ {
		r := &b.residents[list[n]]
		if r.lo >= end && r.lo-end >= regionGap || r.copied != (addrRange{}) {
			return n
		}
		end = max(end, r.hi)
	}
	return len(list)
}

// endOf returns the end of a region's code.
func (b *bundler) endOf(r *region) (end uint64) {
	for _, i := range r.residents {
		end = max(end, b.residents[i].hi)
	}
	return end
}

// images divides the residents of a region among images.
func (b *bundler) images(list []int) []image {
	byTime := slices.Clone(list)
	slices.SortStableFunc(byTime, func(i, j int) int { return cmp.Compare(b.residents[i].time, b.residents[j].time) })
	images, ok := b.exactImages(byTime, maxRepeated*len(list))
	if !ok {
		images = b.longImages(byTime)
	}
	return images
}

// exactImages begins an image with each function that takes addresses of another one. It
// fails if the images would have more than limit functions.
func (b *bundler) exactImages(byTime []int, limit int) (images []image, ok bool) {
	var now seated
	flush := func() {
		images = append(images, image{residents: slices.Clone(now)})
		limit -= len(now)
	}
	for _, i := range byTime {
		if from, to := now.overlapping(b, i); from < to {
			if flush(); limit < 0 {
				return nil, false
			}
			now = slices.Delete(now, from, to)
		}
		now.insert(b, i)
	}
	flush()
	return images, limit >= 0
}

// longImages begins an image only with a function that takes addresses of one that came
// with the image before.
func (b *bundler) longImages(byTime []int) (images []image) {
	var old seated // that are still there when the image begins
	for len(byTime) > 0 {
		var now seated
		n := 0
		for ; n < len(byTime); n++ {
			if from, to := now.overlapping(b, byTime[n]); from < to {
				break
			}
			now.insert(b, byTime[n])
			if from, to := old.overlapping(b, byTime[n]); from < to {
				old = slices.Delete(old, from, to)
			}
		}
		byTime = byTime[n:]
		for _, i := range old {
			now.insert(b, i)
		}
		old = now
		images = append(images, image{residents: slices.Clone(now)})
	}
	return images
}

// seated are residents that do not overlap, in the order of their addresses.
type seated []int

// overlapping returns which of them overlap another one: s[from:to].
func (s seated) overlapping(b *bundler, resident int) (from, to int) {
	r := &b.residents[resident]
	from, _ = slices.BinarySearchFunc(s, r.lo, func(i int, lo uint64) int {
		if b.residents[i].hi <= lo {
			return -1
		}
		return 1
	})
	for to = from; to < len(s) && b.residents[s[to]].lo < r.hi; to++ {
	}
	return from, to
}

func (s *seated) insert(b *bundler, resident int) {
	at, _ := slices.BinarySearchFunc(*s, b.residents[resident].lo, func(i int, lo uint64) int { return cmp.Compare(b.residents[i].lo, lo) })
	*s = slices.Insert(*s, at, resident)
}

// layOutRegions divides residents of a dump, in the order of their addresses, among
// objects for a recording whose stacks are unwound. In a plan with bundles, neighbouring
// regions without a second image are in one object, as far as a bundle reaches.
func (b *bundler) layOutRegions(d *dump, list []int, walls walls, absent []addrRange) {
	var simple []int
	flush := func() {
		for len(simple) > 0 {
			n := b.stretch(simple, walls, absent)
			b.addObject(d, simple[:n])
			simple = simple[n:]
		}
	}
	for _, r := range b.regionsOf(d, list) {
		if b.whole && len(r.images) == 1 && r.copied == (addrRange{}) {
			simple = append(simple, r.residents...)
			continue
		}
		flush()
		number := len(b.regions)
		b.regions = append(b.regions, r)
		for _, i := range r.residents {
			b.residents[i].region = number
		}
		for i := range r.images {
			b.addImage(r, i)
		}
	}
	flush()
}

// addImage adds the objects of an image: one, unless the bytes of some functions are known
// and those of others are not.
func (b *bundler) addImage(r *region, number int) {
	m := &r.images[number]
	m.objects = make([]int, len(m.residents))
	for from := 0; from < len(m.residents); {
		noCode := b.residents[m.residents[from]].noCode
		to := from + 1
		for to < len(m.residents) && b.residents[m.residents[to]].noCode == noCode {
			to++
		}
		if r.copied != (addrRange{}) && to-from == len(m.residents) {
			b.addCopy(r)
		} else {
			b.addOne(r.dump, m.residents[from:to], noCode, imageStep*uint64(number%imageSteps))
		}
		for i := from; i < to; i++ {
			m.objects[i] = b.residents[m.residents[i]].object
		}
		from = to
	}
}

// addCopy adds the object of what a file is mapped to a second time.
func (b *bundler) addCopy(r *region) {
	first := &b.residents[r.residents[0]]
	b.addOne(r.dump, r.residents, first.noCode, first.lo-r.copied.lo)
	o := &b.planner.objects[first.object]
	o.bundle.stretch.High = r.copied.hi
}
