package plan

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/jitinject/jitinject/internal/addrs"
	"github.com/jitinject/jitinject/internal/model"
)

// bundlerOf returns a bundler of residents, and their numbers in the order of their
// addresses.
func bundlerOf(placedFunctions []placed) (*bundler, []int) {
	b := &bundler{placedFunctions: placedFunctions}
	list := make([]int, len(placedFunctions))
	for i := range list {
		list[i] = i
	}
	slices.SortFunc(list, func(i, j int) int {
		x, y := &placedFunctions[i], &placedFunctions[j]
		return cmp.Or(cmp.Compare(x.lo(), y.lo()), cmp.Compare(x.hi(), y.hi()), cmp.Compare(x.first.Time, y.first.Time), cmp.Compare(i, j))
	})
	return b, list
}

// at returns a resident of 0x40 bytes.
func at(lo, time uint64) placed { return sized(lo, 0x40, time) }

// sized returns a placed function of size bytes.
func sized(lo, size, time uint64) placed {
	return placed{first: &model.Mapping{Addr: lo, Len: size, Time: time}}
}

// finished returns the regions of functions of a dump, with images.
func finished(b *bundler, list []int) []*region {
	regions := b.regionsOf(new(model.Dump), list)
	b.finishRegions(regions)
	return regions
}

// shape says how many residents each region has, and how many images.
func shape(regions []*region) (s string) {
	for _, r := range regions {
		s += fmt.Sprintf("%d/%d ", len(r.placedFunctions), len(r.images))
	}
	return s
}

func TestRegions_NearAndFar(t *testing.T) {
	copied := addrs.Range{Lo: 0x9000, Hi: 0xa000}
	inCopy := func(lo, time uint64) placed {
		r := at(lo, time)
		r.first.Excerpt = &model.Excerpt{Copied: copied}
		return r
	}
	for _, c := range []struct {
		name, want      string
		placedFunctions []placed
	}{
		{"side by side", "2/1 ", []placed{at(0x1000, 1), at(0x1040, 2)}},
		{"nearer than a header", "2/1 ", []placed{at(0x1000, 1), at(0x1040+regionGap-1, 2)}},
		{"a header apart", "1/1 1/1 ", []placed{at(0x1000, 1), at(0x1040+regionGap, 2)}},
		{"never at one time", "2/2 ", []placed{at(0x1000, 1), at(0x1020, 2)}},
		// The second image begins lower, where the neighbour below is.
		{"two images above, a header apart", "3/2 ", []placed{at(0x1000, 1), at(0x1040+regionGap, 2), at(0x1040+regionGap, 3)}},
		{"two images above, farther", "1/1 2/2 ", []placed{at(0x1000, 1), at(0x1040+regionGap+imageStep, 2), at(0x1040+regionGap+imageStep, 3)}},
		{"five images above, as near as may be", "1/1 5/5 ", []placed{
			at(0x1000, 1), at(0x1040+regionGap+4*imageStep, 2), at(0x1040+regionGap+4*imageStep, 3), at(0x1040+regionGap+4*imageStep, 4), at(0x1040+regionGap+4*imageStep, 5), at(0x1040+regionGap+4*imageStep, 6)}},
		{"five images above, nearer", "6/5 ", []placed{
			at(0x1000, 1), at(0x1040+regionGap+3*imageStep, 2), at(0x1040+regionGap+3*imageStep, 3), at(0x1040+regionGap+3*imageStep, 4), at(0x1040+regionGap+3*imageStep, 5), at(0x1040+regionGap+3*imageStep, 6)}},
		{"joined regions join another one", "4/2 ", []placed{at(0x1000, 1), at(0x1040+regionGap, 2), at(0x1080+2*regionGap, 3), at(0x1080+2*regionGap, 4)}},
		{"a copy is a region", "1/1 2/1 1/1 ", []placed{at(0x8fc0, 1), inCopy(0x9000, 2), inCopy(0x9f00, 3), at(0xa000, 4)}},
		{"a copy with code over code", "1/1 1/1 ", []placed{inCopy(0x9000, 2), inCopy(0x9020, 3)}},
	} {
		b, list := bundlerOf(c.placedFunctions)
		if got := shape(finished(b, list)); got != c.want {
			t.Errorf("%s: regions of %s(functions/images), want %s", c.name, got, c.want)
		}
	}
}

// Of random functions: each is in one region, regions are as far apart as their images
// need, and at any time each function that is there is in the image in force, whole.
func TestRegions_Random(t *testing.T) {
	long := 0
	for seed := range uint64(400) {
		r := rand.New(rand.NewPCG(seed, 9))
		var placedFunctions []placed
		memory := uint64(0x400) << r.IntN(8)
		for i := range 1 + r.IntN(150) {
			lo := 0x100000 + 8*r.Uint64N(memory/8)
			placedFunctions = append(placedFunctions, sized(lo, 8*(1+r.Uint64N(20)), uint64(i)))
		}
		b, list := bundlerOf(placedFunctions)
		regions := finished(b, list)
		seen := make(map[int]bool)
		for n, region := range regions {
			for _, i := range region.placedFunctions {
				if seen[i] {
					t.Fatalf("seed %d: function %d is in two regions", seed, i)
				}
				seen[i] = true
			}
			if n > 0 {
				if end, begin := regions[n-1].end, b.lo(region); begin < end+region.gapBelow() {
					t.Errorf("seed %d: a region with %d images begins at %#x, the one below ends at %#x", seed, len(region.images), begin, end)
				}
			}
			exact, ok := b.exactImages(region.placedFunctions, maxRepeated*len(region.placedFunctions))
			if !ok {
				long++
				if region.images != nil {
					t.Fatalf("seed %d: %d images, want none before it is known what is referenced", seed, len(region.images))
				}
				region.images, _ = b.crowdedImages(region.placedFunctions, maxRepeated*len(region.placedFunctions), nil)
			} else if len(exact) != len(region.images) {
				t.Errorf("seed %d: %d images, %d would be exact", seed, len(region.images), len(exact))
			}
			checkImages(t, seed, b, region, ok)
		}
		if len(seen) != len(placedFunctions) {
			t.Errorf("seed %d: %d functions in regions, want %d", seed, len(seen), len(placedFunctions))
		}
	}
	if long == 0 {
		t.Error("no region has long images")
	}
}

// checkImages plays the loads of a region: when a function is loaded, the next image that
// has it is in force. exact images have all functions that are there then.
func checkImages(t *testing.T, seed uint64, b *bundler, r *region, exact bool) {
	t.Helper()
	for i, m := range r.images {
		for k := 1; k < len(m.placedFunctions); k++ {
			if b.placedFunctions[m.placedFunctions[k]].lo() < b.placedFunctions[m.placedFunctions[k-1]].hi() {
				t.Fatalf("seed %d: functions of image %d overlap", seed, i)
			}
		}
	}
	for i := 1; i < len(r.images); i++ {
		if was, is := b.low(r, i-1), b.low(r, i); is < was || is == was && r.gap > 1<<20 && i <= imageSteps {
			t.Fatalf("seed %d: image %d of %d begins at %#x, the one before at %#x", seed, i, len(r.images), is, was)
		}
	}
	now := 0
	var there []int // loaded, and not replaced in part or whole
	for _, i := range b.byTime(r.placedFunctions) {
		next := r.imageWith(b, i, now)
		if next < now || r.images[next].find(b, i) < 0 {
			t.Fatalf("seed %d: function %d is not in image %d, of %d", seed, i, next, len(r.images))
		}
		there = slices.DeleteFunc(there, func(k int) bool {
			return b.placedFunctions[k].lo() < b.placedFunctions[i].hi() && b.placedFunctions[k].hi() > b.placedFunctions[i].lo()
		})
		there = append(there, i)
		if now = next; exact {
			for _, k := range there {
				if r.images[now].find(b, k) < 0 {
					t.Fatalf("seed %d: function %d is there and not in image %d", seed, k, now)
				}
			}
		}
	}
}

// One address that is used again for ever, beside many functions that stay, gives many
// images, and these have not more functions than maxRepeated allows.
func TestRegions_LongImages(t *testing.T) {
	var placedFunctions []placed
	for i := range uint64(100) {
		placedFunctions = append(placedFunctions, at(0x10000+0x40*i, i)) // stay
	}
	for i := range uint64(300) {
		placedFunctions = append(placedFunctions, at(0x10000+0x40*100, 1000+i))
	}
	b, list := bundlerOf(placedFunctions)
	regions := finished(b, list)
	if len(regions) != 1 {
		t.Fatalf("%d regions, want 1", len(regions))
	}
	if regions[0].images != nil {
		t.Errorf("%d images, want none before it is known what is referenced", len(regions[0].images))
	}
	var ok bool
	if regions[0].images, ok = b.crowdedImages(list, maxCrowded*len(list), madeReferences{b, func(lo, hi, from, to uint64) bool { return true }}); ok {
		t.Errorf("%d images where all is referenced, want none", len(regions[0].images))
	}
	regions[0].images, _ = b.crowdedImages(list, maxRepeated*len(list), nil)
	members := 0
	for _, m := range regions[0].images {
		members += len(m.placedFunctions)
	}
	if n, most := len(regions[0].images), (maxRepeated+1)*len(placedFunctions); n != 300 || members > most {
		t.Errorf("%d images with %d functions, want 300 with at most %d", n, members, most)
	}
	checkImages(t, 0, b, regions[0], false)
}

// madeReferences are references to functions of a bundler.
type madeReferences struct {
	b          *bundler
	referenced func(lo, hi, from, to uint64) bool
}

func (m madeReferences) Within(lo, hi, from, to uint64) bool { return m.referenced(lo, hi, from, to) }

func (m madeReferences) Each(from, to uint64, f func(lo, hi uint64)) {
	for _, r := range m.b.placedFunctions {
		if m.referenced(r.lo(), r.hi(), from, to) {
			f(r.lo(), r.hi())
		}
	}
}

// Functions that are referenced before they are replaced have images that show them then;
// others need none.
func TestRegions_CrowdedImages(t *testing.T) {
	b, list := bundlerOf([]placed{at(0x1000, 1), at(0x1040, 2), at(0x1040, 3), at(0x1000, 4), at(0x1040, 5)})
	for _, c := range []struct {
		name       string
		referenced func(lo, hi, from, to uint64) bool
		want       [][]int
	}{
		{"nothing", func(lo, hi, from, to uint64) bool { return false }, [][]int{{0, 1}, {3, 2}, {4}}},
		{"the first, in the second image", func(lo, hi, from, to uint64) bool { return lo == 0x1000 && from <= 3 && to >= 4 }, [][]int{{0, 1}, {0, 2}, {3, 4}}},
	} {
		images, ok := b.crowdedImages(list, 100, madeReferences{b, c.referenced})
		var got [][]int
		for _, m := range images {
			got = append(got, m.placedFunctions)
		}
		if !ok || !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s is referenced: images %v, want %v", c.name, got, c.want)
		}
	}
}

// A function that moves back is shown by an image before, or else by a later one.
func TestRegions_MovesBack(t *testing.T) {
	b, list := bundlerOf([]placed{at(0x1000, 1), at(0x1000, 2), at(0x1000, 3)})
	r := finished(b, list)[0]
	for _, c := range []struct{ placed, from, want int }{{0, 0, 0}, {1, 0, 1}, {2, 0, 2}, {0, 2, 0}, {1, 2, 1}, {2, 2, 2}} {
		if got := r.imageWith(b, c.placed, c.from); got != c.want {
			t.Errorf("function %d from image %d on: image %d, want %d", c.placed, c.from, got, c.want)
		}
	}
}
