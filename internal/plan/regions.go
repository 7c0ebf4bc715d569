package plan

import (
	"math"
	"slices"

	"github.com/jitinject/jitinject/internal/addrs"
	"github.com/jitinject/jitinject/internal/model"
)

// A region is a group of functions that share an object because they lie close together. There
// are regions only in recordings with copies of stacks, which perf unwinds.
//
// A perf that unwinds by libdw (perf 7) registers files with libdw. It registers a file when it
// first looks up an address in one of the file's mappings [perf: __report_module]. To libdw, the
// file is a module. It reaches from the mapping's start less its offset to the end of the last
// PT_LOAD. So it begins 128 bytes or more before its code.
//
// Where modules overlap, libdw gives each address to one of them [libdwfl: reify_segments]. If
// that is not the one that perf expects, perf registers the file again. libdw refuses, because it
// has the file already under another descriptor, and drops the module [libdwfl:
// __libdwfl_report_elf]. From then on, every stack ends when it comes to that file. libdw drops
// no module otherwise, not even when the program maps something else there.
//
// So modules in use at the same time must not overlap. A module that replaces another one must
// begin elsewhere, or perf takes the old one for it:
//
//   - Functions less than regionGap apart are in one region, even if they exist at different
//     times, or are of different dumps (sharers.go).
//   - A region has an image: one object with all its functions. Where addresses are used again,
//     it has several images, one after the other. Each has the functions that exist when it
//     begins, and later ones up to the next image. (In crowded regions, images have fewer
//     functions: crowded.go.) While an image is in force, all functions are mapped from it.
//   - An image lies within the one before and begins after its beginning. libdw confuses the
//     order of its addresses if a module ends after the one that it replaces, or begins before it
//     [libdwfl: insert]. perf confuses modules that begin at the same address. So all images of a
//     region end where its last function ends. They begin before its first function, each
//     imageStep nearer to it.
//   - A second mapping of a file, as V8 makes it for its builtins, is a region with one image. It
//     is mapped as a whole: libdw refuses a program (ET_EXEC) at another place than its own, and
//     drops it.
type region struct {
	dump            *model.Dump   // has the lowest number of dumps
	dumps           []*model.Dump // those of its functions, if there are several
	placedFunctions []int         // by address
	end             uint64        // of its code, or of the mapping that it replaces
	images          []image       // nil until placeCrowds, if they would be too many
	// wanted is the number of images that would have all functions.
	wanted int
	gap    uint64 // bytes before it without code of a dump of its processes
	// kept is from the first function that is not dropped to the end of the code. If any function is
	// dropped, it ends with the last one that is not.
	kept addrs.Range
	// copied is the mapping of a file that the region replaces, or empty.
	copied addrs.Range
}

// An image is the content of a region for some time.
type image struct {
	placedFunctions []int // by address
	objects         []int // of the new plan, for each placed function
}

const (
	// regionGap is how far before its code a module may begin, in bytes: TextOffset, and as
	// much again for the alignment that the code had in memory.
	regionGap = 0x80 + 0x40

	// imageStep is the distance between the beginnings of consecutive images, in bytes.
	imageStep = 0x40

	// imageSteps bounds the images of a region that begin at addresses of their own. From
	// there on, perf 7 unwinds by tables of earlier images.
	imageSteps = 64

	// fewSteps bounds the images with beginnings that must fit before a region. If they do
	// not, the region joins the one before it.
	fewSteps = 8

	// maxRepeated bounds the functions of all images of a region, per function of the region.
	// Above that, crowded.go looks for the functions that samples refer to.
	maxRepeated = 8
)

// gapBelow returns how many bytes without code a region needs before it.
func (r *region) gapBelow() uint64 {
	return regionGap + imageStep*uint64(min(max(1, r.wanted), fewSteps)-1)
}

// low returns the address at which an image begins: before the first function of the region that is
// not dropped.
func (b *bundler) low(r *region, number int) uint64 {
	lo := r.kept.Lo
	if len(r.images) < 2 || r.gap < regionGap {
		return lo
	}
	steps := min(uint64(len(r.images)-1), imageSteps, (r.gap-regionGap)/imageStep)
	return lo - min(lo, imageStep*(steps-min(steps, uint64(number))))
}

// regionsOf divides placed functions of a dump into regions, which have no images yet. list is in the
// order of addresses.
func (b *bundler) regionsOf(d *model.Dump, list []int) (regions []*region) {
	for len(list) > 0 {
		r := b.firstRegion(d, list)
		list = list[len(r.placedFunctions):]
		for r.copied == (addrs.Range{}) && len(regions) > 0 {
			last := regions[len(regions)-1]
			if last.copied != (addrs.Range{}) || last.end+r.gapBelow() <= b.lo(r) || r.end-b.lo(last) > maxSpan {
				break
			}
			// The gap is too small for so many images. A join adds up the
			// replacements of functions.
			r.placedFunctions = append(last.placedFunctions, r.placedFunctions...)
			r.wanted += last.wanted - 1
			r.end = max(r.end, last.end)
			regions = regions[:len(regions)-1]
		}
		regions = append(regions, r)
	}
	return regions
}

// finishRegions gives the regions of a dump their images. They are in the order of addresses.
func (b *bundler) finishRegions(regions []*region) {
	end := uint64(0)
	for i, r := range regions {
		if r.gap = b.lo(r) - min(b.lo(r), end); i == 0 {
			r.gap = math.MaxUint64
		}
		b.narrow(r)
		if end = r.end; r.copied == (addrs.Range{}) {
			r.images = b.images(r.placedFunctions)
		}
		r.kept = b.keptOf(r)
	}
}

// keptOf returns the field kept of a region.
func (b *bundler) keptOf(r *region) addrs.Range {
	kept, end := addrs.Range{Lo: r.end, Hi: r.end}, uint64(0)
	for _, i := range r.placedFunctions {
		if p := &b.placedFunctions[i]; p.dropped {
			kept.Hi = 0
		} else {
			kept.Lo, end = min(kept.Lo, p.lo()), max(end, p.hi())
		}
	}
	kept.Hi = max(kept.Hi, end)
	return kept
}

// firstRegion returns the region of the first of some placed functions, not yet joined with
// others.
func (b *bundler) firstRegion(d *model.Dump, list []int) *region {
	if copied := b.placedFunctions[list[0]].first.Of().Copied; copied != (addrs.Range{}) {
		n := b.fitting(list, copied)
		r := &region{dump: d, placedFunctions: list[:n:n], images: []image{{placedFunctions: list[:n:n]}}, wanted: 1, copied: copied}
		r.end = max(copied.Hi, b.placedFunctions[list[n-1]].hi())
		return r
	}
	n, end := b.near(list)
	return &region{dump: d, placedFunctions: list[:n:n], end: end, wanted: b.replacements(list[:n]) + 1}
}

// lo returns the address of a region's first function.
func (b *bundler) lo(r *region) uint64 { return b.placedFunctions[r.placedFunctions[0]].lo() }

// fitting returns how many of the placed functions, from the first on, lie in a copy of a file
// and do not overlap.
func (b *bundler) fitting(list []int, copied addrs.Range) int {
	for n := 1; n < len(list); n++ {
		if p := &b.placedFunctions[list[n]]; p.first.Of().Copied != copied || p.lo() < b.placedFunctions[list[n-1]].hi() {
			return n
		}
	}
	return len(list)
}

// near returns how many of the placed functions, from the first on, are near each other, and
// where they end.
func (b *bundler) near(list []int) (n int, end uint64) {
	end = b.placedFunctions[list[0]].hi()
	for n = 1; n < len(list); n++ {
		p := &b.placedFunctions[list[n]]
		if p.lo() >= end && (p.lo()-end >= regionGap || p.hi()-b.placedFunctions[list[0]].lo() > maxSpan) || p.first.Of().Copied != (addrs.Range{}) {
			return n, end
		}
		end = max(end, p.hi())
	}
	return n, end
}

// replacements returns how many placed functions of a region take addresses of another one. list
// is in the order of addresses.
func (b *bundler) replacements(list []int) (n int) {
	if b.hasOverlaps(list) {
		b.play(list, func(*seating) bool { n++; return true })
	}
	return n
}

// play loads the placed functions of a region in the order of their times, and returns those that
// exist at the end. Before one takes addresses of others, it calls replace with those that exist
// then. It stops early if replace returns false.
func (b *bundler) play(list []int, replace func(now *seating) bool) (now *seating) {
	now = b.newSeating(list)
	for _, i := range b.byTime(list) {
		if old := now.overlapping(i); len(old) > 0 {
			if !replace(now) {
				return now
			}
			for _, o := range old {
				now.remove(o)
			}
		}
		now.add(i)
	}
	return now
}

// images divides the placed functions of a region among images. It returns nil if they would be
// too many.
func (b *bundler) images(list []int) []image {
	if !b.hasOverlaps(list) {
		return []image{{placedFunctions: list}}
	}
	images, ok := b.exactImages(list, maxRepeated*len(list))
	if !ok {
		return nil
	}
	return images
}

// exactImages begins an image with each function that takes addresses of another one. It fails if
// the images would have more than limit functions.
func (b *bundler) exactImages(list []int, limit int) (images []image, ok bool) {
	add := func(now *seating) bool {
		im := image{placedFunctions: now.list()}
		images = append(images, im)
		limit -= len(im.placedFunctions)
		return limit >= 0
	}
	if last := b.play(list, add); limit < 0 || !add(last) {
		return nil, false
	}
	return images, true
}

// layOutRegions adds the objects for the regions of a dump. Regions with a single image become
// runs: of one region each, or of as many as possible in a plan with bundles.
func (b *bundler) layOutRegions(of *dumpRegions) {
	var simple []*region
	var list []int // their functions
	flush := func() {
		for len(simple) > 0 {
			n, count := 0, 0 // regions of a run, and their functions
			for within := b.span(list, of.reserved, nil); n < len(simple) && count+len(simple[n].placedFunctions) <= within; n++ {
				count += len(simple[n].placedFunctions)
			}
			if n == 0 { // something lies inside the region
				b.addRegion(simple[0])
				list, simple = list[len(simple[0].placedFunctions):], simple[1:]
				continue
			}
			b.runs = append(b.runs, run{of.dump, list[:count:count], simple[:n:n]})
			list, simple = list[count:], simple[n:]
		}
	}
	moves := func(i int) bool {
		p := &b.placedFunctions[i]
		return b.clearedOf(b.dumpOf(i)).Overlap(p.lo(), p.hi())
	}
	for _, r := range of.regions {
		// In a run, a function that moves away is not mapped again when it comes back, and is in
		// processes that are forked meanwhile.
		if len(r.images) > 1 || r.copied != (addrs.Range{}) || b.isMixed(r) || slices.ContainsFunc(r.placedFunctions, moves) {
			flush()
			b.addRegion(r)
			continue
		}
		if r.dumps != nil {
			flush()
			b.runs = append(b.runs, run{of.dump, r.placedFunctions, []*region{r}})
			continue
		}
		simple, list = append(simple, r), append(list, r.placedFunctions...)
		if !b.whole {
			flush()
		}
	}
	flush()
}

// addRegion adds the objects of a region.
func (b *bundler) addRegion(r *region) {
	number := int32(len(b.regions))
	b.regions = append(b.regions, r)
	for _, i := range r.placedFunctions {
		b.placedFunctions[i].region = number
	}
	for i := range r.images {
		b.addImage(r, i)
	}
}

// addImage adds the objects of an image: one, unless the bytes of some functions are known and those of
// others are not, because no reader may take missing bytes for instructions.
//
// A map that fills the gaps of a dump has such functions all over the region. Then there are two objects.
// They begin and end at the same addresses, and both have the unwind tables of all functions. So libdw
// takes them for one module, whichever it meets first.
func (b *bundler) addImage(r *region, number int) {
	m := &r.images[number]
	m.objects = make([]int, len(m.placedFunctions))
	objects := b.plan.Objects
	if r.dumps == nil {
		b.addObject(r.dump, m.placedFunctions)
	} else {
		for _, noCode := range []bool{false, true} {
			if slices.ContainsFunc(m.placedFunctions, func(i int) bool { return b.placedFunctions[i].noCode == noCode }) {
				b.addOne(r.dump, m.placedFunctions, noCode)
			}
		}
	}
	for i, placed := range m.placedFunctions {
		m.objects[i] = int(b.placedFunctions[placed].object)
	}
	objects = b.plan.Objects[len(objects):]
	for i := range objects {
		if i == 0 || r.hasSources() {
			reachOf(&objects[i], b.low(r, number))
		}
		if i == len(objects)-1 || r.hasSources() {
			objects[i].Bundle.Region.High = r.kept.Hi
		}
	}
	// A copy is mapped as a whole.
	if r.copied != (addrs.Range{}) && len(objects) == 1 {
		reachOf(&objects[0], r.copied.Lo)
		objects[0].Bundle.Region.High = r.copied.Hi
	}
}

// isMixed reports whether images of a region may have two objects each.
func (b *bundler) isMixed(r *region) bool {
	first := b.placedFunctions[r.placedFunctions[0]].noCode
	return r.hasSources() && slices.ContainsFunc(r.placedFunctions, func(i int) bool { return b.placedFunctions[i].noCode != first })
}
