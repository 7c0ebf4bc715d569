package plan

import (
	"cmp"
	"slices"

	"github.com/jitinject/jitinject/internal/addrs"
	"github.com/jitinject/jitinject/internal/jitobj"
	"github.com/jitinject/jitinject/internal/model"
	"github.com/jitinject/jitinject/internal/recording"
	"github.com/jitinject/jitinject/internal/sorting"
)

// This file makes the mappings of bundles.

// A bundleMapper follows which objects each process sees. It adds a mapping wherever a process
// should see another one.
type bundleMapper struct {
	*bundler
	// mapped has the time at which an object was mapped, or one of its late pieces.
	mapped  map[mappedPiece]uint64
	program recording.Program // the latest one
	until   uint64            // its end
	// last is the latest bundle, mapped at lastSince: functions of one bundle often follow each other.
	last      mappedPiece
	lastSince uint64
	// heads has the length of the last mapping of an object's head, for objects that may
	// have one.
	heads  map[mappedBundle]uint64
	others map[uint32]*overlaps // by process
	// seen has the objects of late pieces and of single functions, and cleared ranges.
	seen *places
	// out has the result.
	out []model.Mapping
}

// A mappedBundle is a bundle that has been mapped for a program.
type mappedBundle struct {
	recording.Program
	object int32
}

// A mappedPiece is a late piece of a bundle, or noPiece for all others.
type mappedPiece struct {
	mappedBundle
	piece int
}

const noPiece = -1

// maxHead bounds the length of a mapping of an object's head, in bytes. No code is there.
const maxHead = 0x40

// headOf returns the address of the head of an object, by the address of its code. The head is the
// file's beginning.
func headOf(code uint64) uint64 { return jitobj.Region{Low: code}.Base() - jitobj.TextOffset }

// nothing stands for no object.
const nothing = -1

func newBundleMapper(b *bundler) *bundleMapper {
	return &bundleMapper{bundler: b, mapped: make(map[mappedPiece]uint64), heads: make(map[mappedBundle]uint64), others: make(map[uint32]*overlaps), seen: newPlaces(&b.rec.ProcessTree)}
}

// mapAll returns the mappings in the order of their times.
func (b *bundleMapper) mapAll() []model.Mapping {
	b.out = make([]model.Mapping, 0, len(b.plan.Objects))
	regions := newRegionMapper(b.bundler, b.add)
	for i := range b.in.Mappings {
		m := &b.in.Mappings[i]
		switch r := b.of[i]; {
		// The function may be in a region at one address, and elsewhere at another.
		case m.Clear:
			regions.clear(*m)
			b.clear(*m)
		case r < 0:
		case b.placedFunctions[r].region != noRegion:
			regions.show(*m, int(r))
		default:
			b.show(*m, int(r))
		}
	}
	sorting.Stable(b.out, byTimeOfMapping)
	return b.out
}

// show adds the mapping that is missing for a placed function to be seen from m's time on.
func (b *bundleMapper) show(m model.Mapping, number int) {
	placed := &b.placedFunctions[number]
	if placed.object < 0 {
		return
	}
	obj := &b.plan.Objects[placed.object]
	if m.PID != b.program.PID || m.Time < b.program.Since || m.Time >= b.until {
		b.program, b.until = b.rec.ProcessTree.Program(m.PID, m.Time), b.rec.ProcessTree.LifeEnd(m.PID, m.Time)
	}
	key := mappedPiece{mappedBundle{b.program, placed.object}, noPiece}
	m.Object, m.Tables = placed.object, false
	since, mapped := b.lastSince, b.last == key
	if !mapped && obj.Bundle != nil {
		if since, mapped = b.mapped[key]; !mapped {
			b.mapped[key], since = m.Time, m.Time
			m.Tables = b.mapObject(m, key.mappedBundle, obj)
		}
		b.last, b.lastSince = key, since
	}
	if placed.dropped {
		return
	}
	pieces := b.pieces[m.Object]
	p := &pieces[placed.piece]
	if p.late {
		key.piece = int(placed.piece)
		if since, mapped = b.mapped[key]; !mapped {
			b.mapped[key] = m.Time
		}
	}
	single := p.late || len(pieces) == 1 && len(obj.Bundle.Members) == 1
	if p.late && !mapped || mapped && (single && !seenAs(b.seen.Of(m.PID, m.Time), placed.lo(), placed.hi(), int(m.Object)) || b.intruded(&m, placed, b.dumpOf(number), since)) {
		b.mapHead(m, key.mappedBundle, obj)
		b.part(m, placed.lo(), placed.hi(), obj)
	}
	if single {
		b.seen.Of(m.PID, m.Time).Place(placed.lo(), placed.hi(), int(m.Object))
	}
}

// mapObject maps all pieces of an object that are not late. It reports whether its tables are still to be
// mapped, because there are none.
func (b *bundleMapper) mapObject(m model.Mapping, key mappedBundle, obj *model.Object) (tables bool) {
	pieces := b.pieces[m.Object]
	if len(pieces) > 1 && !b.blind && obj.Bundle.Skeleton == nil && b.hasHead(obj.Dump, pieces[0].first) {
		b.heads[key] = 0
		b.mapHead(m, key, obj)
	}
	m.Tables = obj.Bundle.Placement != nil
	for _, p := range pieces {
		if !p.late {
			b.part(m, p.lo, p.hi, obj)
			m.Tables = false
		}
	}
	return m.Tables
}

// mapHead maps the head of an object with several pieces, before one of them. hotspot counts
// the addresses of a file from the first part of it that it needs, so names in other parts would be
// wrong. But it counts them from the file's beginning if the part follows a mapping of that. It
// skips a mapping that is not longer than the last one.
func (b *bundleMapper) mapHead(m model.Mapping, key mappedBundle, obj *model.Object) {
	n, ok := b.heads[key]
	if !ok || n == maxHead {
		return
	}
	b.heads[key] = n + 1
	head := headOf(obj.Bundle.Region.Low)
	m.Tables = false
	b.part(m, head, head+n+1, obj) // its offset wraps to the file's beginning
}

// hasHead reports whether the head of an object that begins with a placed function may be mapped:
// nothing else is there.
func (b *bundler) hasHead(d *model.Dump, first int) bool {
	p, w := &b.placedFunctions[first], b.reserved[d]
	head := headOf(p.lo())
	below, ok := b.below(d, p.lo())
	return head < p.lo() && !p.has(headUsed) && !w.hasFile(head, head+maxHead) && !w.code.Overlap(head, head+maxHead) && (!ok || below <= head)
}

// below returns the highest end of the functions of a dump that begin below an address.
func (b *bundler) below(d *model.Dump, lo uint64) (end uint64, ok bool) {
	list := b.dumps[d]
	i, _ := slices.BinarySearchFunc(list, lo, func(r int, lo uint64) int { return cmp.Compare(b.placedFunctions[r].lo(), lo) })
	if i == 0 {
		return 0, false
	}
	return b.ends[d]()[i-1], true
}

// endsOf returns the highest end of the functions of a dump up to each one.
func (b *bundler) endsOf(d *model.Dump) (ends []uint64) {
	ends = make([]uint64, len(b.dumps[d]))
	for i, r := range b.dumps[d] {
		ends[i] = max(ends[max(i, 1)-1], b.placedFunctions[r].hi())
	}
	return ends
}

// intruded reports whether something else came to lie over a placed function since its bundle was
// mapped.
func (b *bundleMapper) intruded(m *model.Mapping, p *placed, d *model.Dump, since uint64) bool {
	o := b.others[m.PID]
	if o == nil {
		o = b.overlapsOf(m.PID)
		b.others[m.PID] = o
	}
	return o.between(d, p.lo(), p.hi(), since, m.Time)
}

// seenAs reports whether all of [lo, hi) is seen as an object.
func seenAs(o *addrs.Owners, lo, hi uint64, object int) bool {
	at := lo
	for _, t := range o.Within(lo, hi) {
		if t.Owner != object || t.Lo > at {
			return false
		}
		at = t.Hi
	}
	return at >= hi
}

// part maps [lo, hi) of an object. If it is of a single function, m has the offset.
func (b *bundleMapper) part(m model.Mapping, lo, hi uint64, obj *model.Object) {
	m.Addr, m.Len = lo, hi-lo
	switch {
	case obj.Bundle == nil:
	case obj.Bundle.Skeleton != nil:
		m.Excerpt = &model.Excerpt{Off: lo - obj.Bundle.Skeleton.Start() - jitobj.TextOffset} // as in the file
	default:
		m.Excerpt = &model.Excerpt{Off: lo - obj.Bundle.Region.Base()}
	}
	b.add(m)
}

func (b *bundleMapper) add(m model.Mapping) { b.out = append(b.out, m) }

// clear clears a range that code has left.
func (b *bundleMapper) clear(m model.Mapping) {
	b.seen.Of(m.PID, m.Time).Place(m.Addr, m.Addr+m.Len, nothing)
	if m.Object = b.objectOf[m.Object]; m.Object >= 0 {
		b.add(m)
	}
}
