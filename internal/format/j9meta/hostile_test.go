package j9meta

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"runtime"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/internal/testrec"
	"github.com/jitinject/jitinject/internal/wire"
)

// tiles says whether b's sections tile a blob of n bytes.
func tiles(t testing.TB, b *Body, n int) {
	t.Helper()
	at, last := 0, SectionKind(0)
	for i, s := range b.Sections {
		if s.Offset != at || s.Size < 0 || s.Kind.Decoded() == (len(s.Bytes) > 0) || (s.Bytes != nil && len(s.Bytes) != s.Size) {
			t.Fatalf("section %d, %s: %d bytes at %#x, expected at %#x", i, s.Kind, s.Size, s.Offset, at)
		}
		if s.Kind != Other {
			if i > 0 && s.Kind <= last {
				t.Fatalf("%s behind %s", s.Kind, last)
			}
			last = s.Kind
		}
		at += s.Size
	}
	if at != n {
		t.Fatalf("sections end at %#x of %#x", at, n)
	}
}

// probe decodes blob, and says whether everything that can be asked of what comes
// out answers and agrees with each other.
func probe(t testing.TB, blob []byte, base uint64, l Layout) error {
	t.Helper()
	b, err := Decode(blob, base, l)
	if err != nil {
		e := (*wire.Error)(nil)
		if !errors.As(err, &e) || e.Offset < 0 || e.Offset > int64(len(blob)) || e.Format != FormatName || e.Text == "" {
			t.Fatalf("error without a place: %v", err)
		}
		return err
	}
	tiles(t, b, len(blob))
	if again, err := encode(b); err != nil || !bytes.Equal(again, blob) {
		t.Fatalf("encoded again: %v, %s", err, firstDifference(again, blob))
	}
	sound := soundSites(b)
	last := uint32(0)
	var frames []Frame
	for i, r := range b.Ranges() {
		if r.Start < last || r.End <= r.Start {
			t.Fatalf("range %d from %#x to %#x, the one before ends at %#x", i, r.Start, r.End, last)
		}
		last = r.End
		for _, at := range []uint32{r.Start, r.End - 1} {
			if got, ok := b.RangeAt(at); !ok || got.Map != r.Map {
				t.Fatalf("at %#x is map %d, in ranges %d", at, got.Map, r.Map)
			}
		}
		frames = b.Stack(frames[:0], r.Info)
		if len(frames) > len(b.Sites)+1 {
			t.Fatalf("%d frames of %d sites", len(frames), len(b.Sites))
		}
		complete := len(frames) > 0 && frames[len(frames)-1].Site == -1
		if sound && r.Info.CallerIndex < len(b.Sites) && !complete {
			t.Fatalf("sites are sound, and no outermost frame of %+v in %+v", r.Info, frames)
		}
	}
	return nil
}

// samples are all blobs there are.
func samples(t testing.TB) []vector {
	all := vectors(t)
	add := func(name string, base uint64, l Layout) {
		all = append(all, vector{name: name, blob: testrec.Hex(t, "testdata/"+name+".hex"), base: base, layout: l})
	}
	add("arm-116", 0x70000000, Layout{Order: binary.LittleEndian, PointerSize: 4, Machine: elf.EM_ARM})
	add("power-224", 0x7e0000000000, Layout{Order: binary.BigEndian, PointerSize: 8, Machine: elf.EM_PPC64})
	add("s390-216", 0x7e0000000000, Layout{Order: binary.BigEndian, PointerSize: 8, Machine: elf.EM_S390})
	return all
}

// sizeOffset is where a header has its size.
func sizeOffset(l Layout) int { return l.exceptionCountOffset() + 2 }

// TestDecode_CutAtEveryByte cuts blobs at every byte. What was cut is an error, unless nothing
// but bytes behind all sections was, and the size says so.
func TestDecode_CutAtEveryByte(t *testing.T) {
	for _, v := range samples(t) {
		size := int(v.layout.Order.Uint32(v.blob[sizeOffset(v.layout):]))
		if err := probe(t, v.blob, v.base, v.layout); err != nil {
			t.Fatalf("%s: %v", v.name, err)
		}
		whole, err := Decode(v.blob, v.base, v.layout)
		if err != nil {
			t.Fatal(err)
		}
		used := size
		if s := whole.Sections[len(whole.Sections)-1]; s.Kind == Other {
			used = s.Offset
		}
		for n := range v.blob {
			cut := bytes.Clone(v.blob[:n])
			if err := probe(t, cut, v.base, v.layout); err == nil && n < size {
				t.Errorf("%s cut at %d: no error", v.name, n)
			}
			if n < whole.Layout.HeaderSize {
				continue
			}
			v.layout.Order.PutUint32(cut[sizeOffset(v.layout):], uint32(n))
			if err := probe(t, cut, v.base, v.layout); err == nil && n < used {
				t.Errorf("%s cut at %d, with a size to match: no error", v.name, n)
			}
		}
	}
}

// TestDecode_EveryBitFlipped flips every bit of all blobs.
func TestDecode_EveryBitFlipped(t *testing.T) {
	for _, v := range samples(t) {
		inferred := v.layout
		inferred.HeaderSize = 0
		blob := bytes.Clone(v.blob)
		for i := 0; i < 8*len(blob); i += testrec.Rounds(1, 7) {
			blob[i/8] ^= 1 << (i % 8)
			probe(t, blob, v.base, v.layout)
			probe(t, blob, v.base, inferred)
			blob[i/8] ^= 1 << (i % 8)
		}
	}
}

// TestDecode_PointersElsewhere is about pointers that lead where no section can be.
func TestDecode_PointersElsewhere(t *testing.T) {
	var v vector
	for _, v = range vectors(t) {
		if v.name == "epoch-232" { // 232 bytes, sites, atlas, on-stack replacement
			break
		}
	}
	const calls, atlas, osr = 120, 112, 168
	get := func(at int) uint64 { return binary.LittleEndian.Uint64(v.blob[at:]) }
	for _, test := range []struct {
		name  string
		at    int
		value uint64
		want  string
	}{
		{"before the blob", calls, v.base - 1, "inlinedCalls at offset 0x78: 0x7dffffffffff is outside"},
		{"beyond the blob", atlas, v.base + uint64(len(v.blob)), "J9JITExceptionTable: gcStackAtlas at offset 0x70: 0x7e00000003ec is outside the 1004 bytes from 0x7e0000000000 on"},
		{"into the header", atlas, v.base + 8, "gcStackAtlas at offset 0x70: points to offset 0x8, expected 0x"},
		{"against the order", calls, v.base + 0x3a4, "gcStackAtlas at offset 0x70: points to offset 0x16c, before Inline Info at 0x3a4, which it ends"},
		{"into the maps", osr, get(osr) - 1, "Stack Atlas: "},
		{"sites without an atlas", atlas, 0, "inlinedCalls at offset 0x78: "},
	} {
		blob := bytes.Clone(v.blob)
		binary.LittleEndian.PutUint64(blob[test.at:], test.value)
		err := probe(t, blob, v.base, v.layout)
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, expected %s", test.name, err, test.want)
		}
	}

	// More exceptions than there is room for.
	blob := bytes.Clone(v.blob)
	blob[91] |= 0x3f
	want := "numExcptionRanges at offset 0x5a: 16131 entries have 129048 bytes, there are 772"
	if err := probe(t, blob, v.base, v.layout); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v, want %s", err, want)
	}

	// The size of the header cannot be found out.
	blob = bytes.Clone(v.blob)
	binary.LittleEndian.PutUint64(blob[calls:], v.base+100)
	l := v.layout
	l.HeaderSize = 0
	want = "numExcptionRanges at offset 0x5a: 3 entries of 8 bytes end where the first section begins, at offset 0x64; for the header that leaves 76, expected 216 to 512"
	if err := probe(t, blob, v.base, l); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v, want %s", err, want)
	}

	binary.LittleEndian.PutUint64(blob[calls:], 0x1234)
	want = "inlinedCalls at offset 0x78: 0x1234 is outside"
	if err := probe(t, blob, v.base, l); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v, want %s", err, want)
	}

	// What is not decoded is kept.
	b, err := Decode(v.blob, v.base, v.layout)
	if err != nil {
		t.Fatal(err)
	}
	last := b.Sections[len(b.Sections)-1]
	if last.Kind != Other || !bytes.Equal(last.Bytes, v.blob[get(osr)-v.base:]) {
		t.Errorf("OSR Info became %+v", last)
	}
	// A header that is taken for smaller than it is leaves other bytes, too.
	l.HeaderSize = 216
	if b, err = Decode(v.blob, v.base, l); err != nil {
		t.Fatal(err)
	}
	if b.Sections[0].Size != 216 || b.Sections[2].Kind != Other {
		t.Errorf("sections %+v", b.Sections)
	}
}

// TestDecode_ImpossibleLayouts is about layouts that are none.
func TestDecode_ImpossibleLayouts(t *testing.T) {
	v := vectors(t)[0]
	for _, test := range []struct {
		l    Layout
		want string
	}{
		{Layout{PointerSize: 8}, "byte order"},
		{Layout{Order: binary.LittleEndian}, "pointer size"},
		{Layout{Order: binary.LittleEndian, PointerSize: 8, HeaderSize: 116}, "header size"},
		{Layout{Order: binary.LittleEndian, PointerSize: 8, HeaderSize: 220}, "header size"},
		{Layout{Order: binary.BigEndian, PointerSize: 8}, "size at offset 0x5c"},
	} {
		if err := probe(t, v.blob, v.base, test.l); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("for %+v: got %v, want %s", test.l, err, test.want)
		}
	}
}

// TestDecode_LargestCounts sets counts to the most there can be: memory is asked for only where
// the bytes are there.
func TestDecode_LargestCounts(t *testing.T) {
	for _, v := range vectors(t) {
		b, err := Decode(v.blob, v.base, v.layout)
		if err != nil {
			t.Fatal(err)
		}
		for _, at := range []int{90, b.Atlas.Offset + 16, b.Atlas.Offset + 18} {
			blob := bytes.Clone(v.blob)
			blob[at], blob[at+1] = 0xff, 0xff
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			err := probe(t, blob, v.base, v.layout)
			runtime.ReadMemStats(&after)
			if err == nil {
				t.Errorf("%s: 65535 at %#x is no error", v.name, at)
			}
			if n := after.TotalAlloc - before.TotalAlloc; n > uint64(64*len(blob)) {
				t.Errorf("%s: 65535 at %#x: %d bytes of memory for a blob of %d", v.name, at, n, len(blob))
			}
		}
	}
}
