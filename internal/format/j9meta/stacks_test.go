package j9meta

import (
	"encoding/binary"
	"math/rand/v2"
	"testing"
)

func site(method uint64, caller, index int) InlinedSite {
	return InlinedSite{Method: method, Info: ByteCodeInfo{CallerIndex: caller, ByteCodeIndex: index}}
}

func bodyOf(sites ...InlinedSite) *Body {
	for i := range sites {
		sites[i].Offset = 0x100 + 17*i
	}
	return &Body{Layout: Layout{Order: binary.LittleEndian, PointerSize: 8}, Header: Header{RAMMethod: 0xaa}, Sites: sites}
}

const gone = 1<<64 - 1

// TestStack_UnloadedMethods: the indexes of the VM's stacks are those that its functions
// jitGetInlinerMapFromPC, getFirstInlinedCallSite and
// getCurrentByteCodeIndexAndIsSameReceiver answer.
func TestStack_UnloadedMethods(t *testing.T) {
	for _, test := range []struct {
		name    string
		methods [3]uint64 // of the sites: 0 is in the method, 1 in 0, 2 in 1
	}{
		{"none", [3]uint64{1, 2, 3}},
		{"innermost", [3]uint64{1, 2, gone}},
		{"middle", [3]uint64{1, gone, 3}},
		{"outermost", [3]uint64{gone, 2, 3}},
		{"two", [3]uint64{gone, gone, 3}},
		{"all", [3]uint64{gone, gone, gone}},
	} {
		b := bodyOf(site(test.methods[0], -1, 10), site(test.methods[1], 0, 20), site(test.methods[2], 1, 30))
		info := ByteCodeInfo{CallerIndex: 2, ByteCodeIndex: 40}
		var want []Frame
		for i := 2; i >= 0; i-- {
			want = append(want, Frame{i, test.methods[i], 10 * (i + 2), test.methods[i] == gone})
		}
		equal(t, test.name, b.Stack(nil, info), append(want, Frame{-1, 0xaa, 10, false}))
	}
	// What is in dst stays.
	b := bodyOf(site(gone, -1, 10))
	dst := []Frame{{Site: 99}}
	equal(t, "dst", b.Stack(dst, ByteCodeInfo{CallerIndex: -1, ByteCodeIndex: 4}), []Frame{{Site: 99}, {-1, 0xaa, 4, false}})
}

// Sites in disorder end a stack early.
func TestStack_SitesInDisorder(t *testing.T) {
	inside := ByteCodeInfo{CallerIndex: 2, ByteCodeIndex: 5}
	for _, test := range []struct {
		name  string
		sites []InlinedSite
		depth int // of the stack of inside
	}{
		{"sound", []InlinedSite{site(1, -1, 0), site(2, 0, 0), site(3, 1, 0)}, 4},
		{"itself", []InlinedSite{site(1, -1, 0), site(2, 0, 0), site(3, 2, 0)}, 1},
		{"circle", []InlinedSite{site(1, 2, 0), site(2, 0, 0), site(3, 1, 0)}, 3},
		{"circle beyond", []InlinedSite{site(1, 1, 0), site(2, 0, 0), site(3, 1, 0)}, 3},
		{"backwards", []InlinedSite{site(1, -1, 0), site(2, 0, 0), site(3, 3, 0), site(4, 1, 0)}, 1},
		{"no such site", []InlinedSite{site(1, -1, 0), site(2, 7, 0), site(3, 1, 0)}, 2},
		{"negative", []InlinedSite{site(1, -2, 0), site(2, 0, 0), site(3, 1, 0)}, 4},
	} {
		b := bodyOf(test.sites...)
		if got := b.Stack(nil, inside); len(got) != test.depth {
			t.Errorf("%s: %d frames, expected %d: %+v", test.name, len(got), test.depth, got)
		}
	}
	if got := bodyOf().Stack(nil, inside); len(got) != 0 {
		t.Errorf("no sites, and frames %+v", got)
	}
}

// TestRanges_RandomMaps compares with what the words of Ranges say, offset by offset:
// the last map in front of it.
func TestRanges_RandomMaps(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 3000 {
		const size = 64
		b := &Body{Atlas: &StackAtlas{}, Header: Header{StartPC: 0x1000, EndPC: 0x1000 + size}}
		low := uint32(0)
		for range rng.IntN(9) {
			switch rng.IntN(5) {
			case 0:
				low = uint32(rng.IntN(size + 8))
			default:
				low += uint32(rng.IntN(12))
			}
			b.Atlas.Maps = append(b.Atlas.Maps, StackMap{Low: low})
		}
		maps := b.Atlas.Maps
		want := func(at uint64) int {
			best := -1
			for i := range maps {
				if uint64(maps[i].Low) <= at && (best < 0 || maps[i].Low >= maps[best].Low) {
					best = i
				}
			}
			return best
		}
		ranges := b.Ranges()
		for at := uint32(0); at < size; at++ {
			got, found := -1, -1
			for _, r := range ranges {
				if r.Start <= at && at < r.End {
					if got >= 0 {
						t.Fatalf("two ranges at %d: %+v", at, ranges)
					}
					got = r.Map
				}
			}
			if r, ok := b.RangeAt(at); ok {
				found = r.Map
			}
			if w := want(uint64(at)); got != w || found != w {
				t.Fatalf("at %d of %+v: map %d in ranges, %d at it, expected %d", at, maps, got, found, w)
			}
		}
	}
}

func TestByteCodeInfo_Fields(t *testing.T) {
	// The masks of C compilers for the structure.
	for _, test := range []struct {
		b           ByteCodeInfo
		little, big uint32
	}{
		{ByteCodeInfo{DoNotProfile: true}, 0x1, 0x80000000},
		{ByteCodeInfo{SameReceiver: true}, 0x2, 0x40000000},
		{ByteCodeInfo{CallerIndex: -1}, 0x7ffc, 0x3ffe0000},
		{ByteCodeInfo{ByteCodeIndex: -1}, 0xffff8000, 0x1ffff},
		{ByteCodeInfo{CallerIndex: MaxCallerIndex, ByteCodeIndex: MaxByteCodeIndex}, 0x7fffbffc, 0x1ffeffff},
	} {
		equal(t, "little endian", byteCodeInfo(binary.LittleEndian, test.little), test.b)
		equal(t, "big endian", byteCodeInfo(binary.BigEndian, test.big), test.b)
	}
}

func TestFlags_OfMaps(t *testing.T) {
	equal(t, "none", Flags(0).String(), "0")
	equal(t, "some", (IsStub | 0x8000).String(), "IS_STUB|0x8000")
	equal(t, "all", Flags(0x1ff).String(), "FLAGS_USED_FOR_SIZE|GC_MAP_32_BIT_OFFSETS|IS_STUB|NOT_INITIALIZED|IS_REMOTE_COMP|IS_DESERIALIZED_COMP|IS_PRECHECKPOINT_COMP|IS_FSD_COMP|USES_VECTORS")
}
