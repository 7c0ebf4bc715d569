package export

import (
	"cmp"
	"path"
	"slices"
	"strings"

	pprof "github.com/google/pprof/profile"

	"github.com/jitinject/jitinject/internal/profile"
)

// mostRanges is the number of address ranges for an object. An object of more processes gets one
// mapping without a range.
const mostRanges = 64

// pprofMappings are the mappings of a profile. The real ones are unknown: these have the addresses
// of the frames. They do not overlap, because no reader expects that.
type pprofMappings struct {
	ranges []pprofRange              // ordered by start
	others map[string]*pprof.Mapping // of objects without ranges; also of addresses that two objects have
}

// A pprofRange has addresses of one object only.
type pprofRange struct {
	object      string
	start, last uint64
	mapping     *pprof.Mapping
}

// of returns the mapping of an object at an address, and nil if the object is unknown.
func (m *pprofMappings) of(object string, addr uint64) *pprof.Mapping {
	if object == "" {
		return nil
	}
	i, found := slices.BinarySearchFunc(m.ranges, addr, func(r pprofRange, addr uint64) int { return cmp.Compare(r.start, addr) })
	if !found {
		i--
	}
	if i >= 0 && m.ranges[i].object == object && addr <= m.ranges[i].last {
		return m.ranges[i].mapping
	}
	return m.others[object]
}

// A place is an address of an object.
type place struct {
	addr   uint64
	object string
}

// addMappings adds the mappings: first one of the program, because pprof takes the first for it,
// then the others in the order in which their objects are met.
func (b *pprofBuilder) addMappings() {
	var places []place
	rank := make(map[string]int) // order of objects, from 1
	if program := mainObject(b.p); program != "" {
		rank[program] = 1
	}
	for i := range b.p.Frames {
		frame := &b.p.Frames[i]
		if object := objectOf(&b.p.Functions[frame.Function]); object != "" {
			places = append(places, place{frame.Addr, object})
			if rank[object] == 0 {
				rank[object] = len(rank) + 1
			}
		}
	}
	slices.SortFunc(places, func(a, b place) int {
		return cmp.Or(cmp.Compare(a.addr, b.addr), cmp.Compare(a.object, b.object))
	})
	places = slices.Compact(places)
	ranges, unplaced := rangesOf(places)
	b.mappings = pprofMappings{ranges: ranges, others: make(map[string]*pprof.Mapping)}
	lowest := make(map[string]uint64)
	for i := range ranges {
		r := &ranges[i]
		if _, ok := lowest[r.object]; !ok {
			lowest[r.object] = r.start
		}
		// pprof merges mappings of a file that have the same size and offset, and moves their
		// addresses. The offset keeps them apart.
		r.mapping = newMapping(r.object)
		r.mapping.Start, r.mapping.Limit, r.mapping.Offset = r.start, limit(r.last), r.start-lowest[r.object]
		b.out.Mapping = append(b.out.Mapping, r.mapping)
	}
	for _, object := range unplaced {
		m := newMapping(object)
		b.mappings.others[object] = m
		b.out.Mapping = append(b.out.Mapping, m)
	}
	objects := make(map[*pprof.Mapping]int, len(b.out.Mapping))
	for _, r := range ranges {
		objects[r.mapping] = rank[r.object]
	}
	for object, m := range b.mappings.others {
		objects[m] = rank[object]
	}
	slices.SortStableFunc(b.out.Mapping, func(x, y *pprof.Mapping) int { return cmp.Compare(objects[x], objects[y]) })
	for i, m := range b.out.Mapping {
		m.ID = uint64(i + 1)
	}
}

// newMapping returns a mapping that readers do not try to symbolize.
func newMapping(object string) *pprof.Mapping {
	return &pprof.Mapping{File: text(object), HasFunctions: true, HasFilenames: true, HasLineNumbers: true, HasInlineFrames: true}
}

// limit is the end of a range whose last address is given.
func limit(last uint64) uint64 {
	if last+1 == 0 {
		return last
	}
	return last + 1
}

// rangesOf divides ordered places into ranges of one object, ordered by address, and returns the
// objects that have places outside of ranges, ordered by name: those with too many ranges, and
// those with an address that another object has, too.
func rangesOf(places []place) (ranges []pprofRange, unplaced []string) {
	counts := make(map[string]int)
	others := make(map[string]bool)
	for i, at := range places {
		shared := i > 0 && places[i-1].addr == at.addr || i+1 < len(places) && places[i+1].addr == at.addr
		if shared {
			others[at.object] = true
			continue
		}
		// A shared address between two of the object ends the range.
		if n := len(ranges); n > 0 && ranges[n-1].object == at.object && places[i-1].object == at.object && ranges[n-1].last == places[i-1].addr {
			ranges[n-1].last = at.addr
			continue
		}
		ranges = append(ranges, pprofRange{object: at.object, start: at.addr, last: at.addr})
		counts[at.object]++
	}
	ranges = slices.DeleteFunc(ranges, func(r pprofRange) bool { return counts[r.object] > mostRanges })
	for object, n := range counts {
		if n > mostRanges {
			others[object] = true
		}
	}
	for object := range others {
		unplaced = append(unplaced, object)
	}
	slices.Sort(unplaced)
	return ranges, unplaced
}

// maxComm is the most that the kernel keeps of a process's name.
const maxComm = 15

// mainObject returns the path of the program that was recorded: the file with the name of the
// busiest process, or else with that of a word of the command, or else the first file with native
// code. It returns "" if there is none.
func mainObject(p *profile.Profile) string {
	var natives []string
	seen := make(map[string]bool)
	for i := range p.Functions {
		if f := &p.Functions[i]; f.Kind == profile.Native && f.Object != "" && !strings.HasPrefix(f.Object, "[") && !seen[f.Object] {
			seen[f.Object] = true
			natives = append(natives, f.Object)
		}
	}
	names := make([]string, 0, 8)
	for _, s := range byProcess(p, divide(p)) {
		if name := p.Threads[s.thread].Process; name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
		if len(names) == cap(names) {
			break
		}
	}
	for word := range strings.FieldsSeq(p.Recording.Command) {
		names = append(names, path.Base(word))
	}
	for _, name := range names {
		for _, object := range natives {
			base := path.Base(object)
			if base == name || len(base) > maxComm && base[:maxComm] == name {
				return object
			}
		}
	}
	if len(natives) > 0 {
		return natives[0]
	}
	return ""
}
