package plan

import (
	"slices"

	"github.com/jitinject/jitinject/internal/jitobj"
	"github.com/jitinject/jitinject/internal/model"
	"github.com/jitinject/jitinject/internal/recording"
)

// Functions that lie in a file, at the place where the loader mapped it, share an object that is a
// skeleton of the file. V8's builtins do, in a libnode.so without symbols for them.
//
// A mapping's start less its offset is the address of a file's beginning. It is the same for the
// skeleton and for the file. So a perf that unwinds by libdw takes both for one module, whichever
// it meets first [perf: __report_module], and finds the same unwind tables in either. An object of
// another kind would be a second module inside the file's: libdw refuses that one or, if it comes
// first, the file itself, with all stacks that go through it. libunwind reads the tables of both at
// one place.

// A fileKey identifies a file at a place in memory.
type fileKey struct {
	name, buildID string
	start         uint64
}

// addSkeletons adds the objects for the placed functions that lie in files, and returns the others.
// list is in the order of addresses.
func (b *bundler) addSkeletons(d *model.Dump, list []int) []int {
	isHome := func(i int) bool { return b.placedFunctions[i].first.Home }
	if !b.rec.CopiesStacks() || !slices.ContainsFunc(list, isHome) {
		return list
	}
	var others, dropped []int
	of := make(map[fileKey][]int)
	var keys []fileKey
	skeletons := make(map[fileKey]*model.Skeleton)
	for _, i := range list {
		m := b.placedFunctions[i].first
		in, ok := (*recording.FileMap)(nil), false
		if m.Home {
			in, ok = b.functions.files.files(m.PID, m.Time).InForce(m.Addr, m.Addr+m.Len, m.Time)
		}
		if !ok {
			others = append(others, i)
			continue
		}
		key := fileKey{in.Name, in.BuildID, in.Lo - in.Off}
		if skeletons[key] == nil {
			skeletons[key] = &model.Skeleton{Rec: b.rec, Map: in}
			keys = append(keys, key)
		}
		of[key] = append(of[key], i)
	}
	for _, key := range keys {
		dropped = append(dropped, b.addSkeleton(d, of[key], skeletons[key])...)
	}
	slices.Sort(dropped)
	for i, r := range b.of {
		if _, drop := slices.BinarySearch(dropped, int(r)); drop {
			b.of[i] = -1
		}
	}
	return others
}

// addSkeleton adds the object for placed functions of a file. Where functions overlap, it has the
// one that was loaded first, because the file has one content. It returns the others, and those that
// nothing refers to.
func (b *bundler) addSkeleton(d *model.Dump, list []int, s *model.Skeleton) (dropped []int) {
	p, number := b.plan, int32(len(b.plan.Objects))
	first := &b.placedFunctions[list[0]]
	o := model.Object{Function: &model.Function{Dump: d, PID: b.in.List[first.function()].PID}, Bundle: &model.Bundle{Skeleton: s}}
	end := uint64(0)
	var pieces []piece
	code, symbols := b.reservedOf(d).code, b.functions.files.symbolsOf(s.Map)
	for _, i := range list {
		placed := &b.placedFunctions[i]
		if placed.dropped || placed.lo() < end {
			dropped = append(dropped, i)
			continue
		}
		// The file keeps what lies between, unless it is padding.
		if len(pieces) == 0 || placed.lo()-end > maxPadding || placed.lo() > end && code.Overlap(end, placed.lo()) || symbols.CoverAny(end-s.Start(), placed.lo()-s.Start()) {
			pieces = append(pieces, piece{first: i, lo: placed.lo()})
		}
		end = placed.hi()
		placed.object, placed.piece = number, int32(len(pieces)-1)
		pieces[placed.piece].hi = end
		again := b.objectOf[placed.function()] >= 0
		b.objectOf[placed.function()] = number
		o.Bundle.Members = append(o.Bundle.Members, model.Member{Dump: d, Function: int32(b.in.List[placed.function()].Number), Addr: placed.lo(), Again: again})
	}
	if len(pieces) == 0 {
		return dropped
	}
	o.Bundle.Region = jitobj.Region{Low: pieces[0].lo, High: end}
	p.Objects, b.pieces = append(p.Objects, o), append(b.pieces, pieces)
	return dropped
}
