package plan

import (
	"slices"
	"sort"

	"github.com/jitinject/jitinject/internal/addrs"
	"github.com/jitinject/jitinject/internal/model"
	"github.com/jitinject/jitinject/internal/recording"
)

// Each function of a region has a mapping of its own, from the image in force when it is loaded.
// When another image comes into force, the functions that exist then get mappings from that one.

// A regionMapper follows the functions and images of each process.
type regionMapper struct {
	*bundler
	states recording.Inherited[*regionState]
	tabled map[mappedBundle]bool // objects with mapped tables
	add    func(model.Mapping)
}

// A regionState describes a process at a time.
type regionState struct {
	images *addrs.Owners // the image in force, by region
	there  *addrs.Owners // the placed functions that exist
}

// image returns the image of a region that is in force; ok is false if there is none yet.
func (s *regionState) image(region int) (image int, ok bool) {
	s.images.Each(uint64(region), uint64(region)+1, func(t addrs.Tenancy) bool {
		image, ok = t.Owner, true
		return false
	})
	return image, ok
}

func (s *regionState) setImage(region, image int) {
	s.images.Place(uint64(region), uint64(region)+1, image)
}

func newRegionMapper(b *bundler, add func(model.Mapping)) *regionMapper {
	return &regionMapper{
		bundler: b, tabled: make(map[mappedBundle]bool), add: add,
		states: recording.Inherited[*regionState]{
			Tree:  &b.rec.ProcessTree,
			Make:  func() *regionState { return &regionState{new(addrs.Owners), new(addrs.Owners)} },
			Clone: func(s *regionState) *regionState { return &regionState{s.images.Clone(), s.there.Clone()} },
		},
	}
}

// show adds the mappings that show a placed function from m's time on.
func (mapper *regionMapper) show(m model.Mapping, number int) {
	s := mapper.states.Of(m.PID, m.Time)
	p := &mapper.placedFunctions[number]
	region := mapper.regions[p.region]
	if region.copied != (addrs.Range{}) {
		if _, mapped := s.image(int(p.region)); !mapped {
			s.setImage(int(p.region), 0)
			if i := slices.IndexFunc(region.placedFunctions, func(i int) bool { return !mapper.placedFunctions[i].dropped }); i >= 0 {
				mapper.part(m, region, 0, region.placedFunctions[i], region.copied.Lo, region.copied.Hi)
			}
		}
		return
	}
	now, ok := s.image(int(p.region))
	next := region.imageWith(mapper.bundler, number, now)
	if !ok || next != now {
		s.setImage(int(p.region), next)
		for _, i := range region.images[next].placedFunctions {
			if i == number {
				continue
			}
			for _, t := range s.there.Owned(mapper.placedFunctions[i].lo(), mapper.placedFunctions[i].hi(), i) {
				mapper.part(m, region, next, i, t.Lo, t.Hi)
			}
		}
	}
	s.there.Place(p.lo(), p.hi(), number)
	mapper.part(m, region, next, number, p.lo(), p.hi())
}

// imageWith returns the first image with a placed function, from one on. Code that moves back
// needs an earlier one: then it returns the last such image before.
func (r *region) imageWith(b *bundler, placed, from int) int {
	for i := from; i < len(r.images); i++ {
		if r.images[i].find(b, placed) >= 0 {
			return i
		}
	}
	for i := from - 1; i > 0; i-- {
		if r.images[i].find(b, placed) >= 0 {
			return i
		}
	}
	return 0
}

// part maps [lo, hi) of a placed function from an image, if the image has it.
func (mapper *regionMapper) part(m model.Mapping, region *region, number, placed int, lo, hi uint64) {
	i := region.images[number].find(mapper.bundler, placed)
	if i < 0 || mapper.placedFunctions[placed].dropped {
		return
	}
	m.Object = int32(region.images[number].objects[i])
	o := &mapper.plan.Objects[m.Object]
	m.Addr, m.Len, m.Excerpt, m.Tables = lo, hi-lo, &model.Excerpt{Off: lo - o.Bundle.Region.Base()}, false
	if key := (mappedBundle{mapper.rec.ProcessTree.Program(m.PID, m.Time), m.Object}); !mapper.tabled[key] {
		mapper.tabled[key] = true
		m.Tables = true
	}
	mapper.add(m)
}

// find returns the index of a placed function in an image, or -1.
func (im *image) find(b *bundler, placed int) int {
	list, lo := im.placedFunctions, b.placedFunctions[placed].lo()
	i := sort.Search(len(list), func(i int) bool { return b.placedFunctions[list[i]].lo() >= lo })
	if i == len(list) || list[i] != placed {
		return -1
	}
	return i
}

// clear records that code has left a range.
func (mapper *regionMapper) clear(m model.Mapping) {
	mapper.states.Of(m.PID, m.Time).there.Place(m.Addr, m.Addr+m.Len, nothing)
}
