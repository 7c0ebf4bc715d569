package dwarfgen_test

import (
	"debug/dwarf"
	"reflect"
	"testing"

	"github.com/jitinject/jitinject/dwarfgen"
)

// ranges returns the ranges of all entries with code, in their order.
func ranges(t testing.TB, b *dwarfgen.Builder) (got [][][2]uint64) {
	t.Helper()
	d := read(t, b)
	r := d.Reader()
	for {
		e, err := r.Next()
		if err != nil {
			t.Fatal(err)
		}
		if e == nil {
			return got
		}
		if e.Val(dwarf.AttrLowpc) == nil && e.Val(dwarf.AttrRanges) == nil {
			continue
		}
		list, err := d.Ranges(e)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, list)
	}
}

// The same inlined calls at two places: lists of the second unit stand behind
// those of the first, and are about its own addresses.
func TestRanges_TwoUnits(t *testing.T) {
	forEach(t, func(t *testing.T, enc dwarfgen.Encoding) {
		var b dwarfgen.Builder
		var u dwarfgen.Unit
		if err := b.Reset(enc); err != nil {
			t.Fatal(err)
		}
		var want [][][2]uint64
		for range 2 {
			describe(&u)
			b.Add(&u)
			want = append(want, [][2]uint64{{textAt, textAt + textSize}})
			for _, s := range sites {
				var list [][2]uint64
				for _, r := range s.ranges {
					list = append(list, [2]uint64{textAt + r.Low, textAt + r.High})
				}
				want = append(want, list)
			}
		}
		if got := ranges(t, &b); !reflect.DeepEqual(got, want) {
			t.Errorf("got  %x\nwant %x", got, want)
		}
	})
}

// Empty ranges, ranges that leave the unit, and the ends of the address space.
func TestRanges_EmptyOrOutside(t *testing.T) {
	forEach(t, func(t *testing.T, enc dwarfgen.Encoding) {
		top := uint64(1)<<(8*enc.AddrSize-1)<<1 - 1
		for _, c := range []struct {
			low, high uint64
			list      []dwarfgen.Range
			want      [][2]uint64
		}{
			{0, 100, []dwarfgen.Range{{0, 0}, {0, 1}, {5, 5}, {9, 8}, {99, 100}}, [][2]uint64{{0, 1}, {99, 100}}},
			{50, 100, []dwarfgen.Range{{0, 50}, {40, 51}, {60, 61}, {99, 200}, {100, 200}}, [][2]uint64{{50, 51}, {60, 61}, {99, 100}}},
			{0, top, []dwarfgen.Range{{0, 1}, {top - 1, top}}, [][2]uint64{{0, 1}, {top - 1, top}}},
			{top - 2, top, []dwarfgen.Range{{0, top - 1}}, [][2]uint64{{top - 2, top - 1}}},
			{50, 100, []dwarfgen.Range{{3, 3}}, nil},
			{50, 100, nil, nil},
			{0, 0, []dwarfgen.Range{{1, 2}}, nil}, // a unit without code
		} {
			var b dwarfgen.Builder
			var u dwarfgen.Unit
			if err := b.Reset(enc); err != nil {
				t.Fatal(err)
			}
			u.Reset()
			u.Low, u.High = c.low, c.high
			u.Add(0, dwarf.TagLexDwarfBlock, u.Ranges(dwarf.AttrRanges, []dwarfgen.Range{{c.low, c.high}}))
			u.Add(0, dwarf.TagLexDwarfBlock, u.Ranges(dwarf.AttrRanges, c.list))
			b.Add(&u)
			got := ranges(t, &b)
			if len(got) == 0 || !reflect.DeepEqual(got[len(got)-1], c.want) {
				t.Errorf("%x in [%#x, %#x) became %x, want %x last", c.list, c.low, c.high, got, c.want)
			}
		}
	})
}
