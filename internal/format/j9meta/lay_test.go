package j9meta

import (
	"debug/elf"
	"encoding/binary"
	"reflect"
	"strings"
	"testing"
)

// handmade returns a body that was never laid out, with one of everything.
func handmade() *Body {
	return &Body{
		Layout: Layout{Order: binary.LittleEndian, PointerSize: 8, Machine: elf.EM_X86_64},
		Base:   0x1000,
		Header: Header{RAMMethod: 0x77, StartPC: 0x5000, EndWarmPC: 0x5100, EndPC: 0x5100, NumExceptionRanges: 1, InvokeBasicCallInfo: 0x9000},
		Sites:  []InlinedSite{{Method: 0x88, Info: ByteCodeInfo{CallerIndex: -1, ByteCodeIndex: 5}, Monitors: []byte{0}}},
		Atlas: &StackAtlas{Monitors: []byte{0}, Maps: []StackMap{
			{Info: ByteCodeInfo{CallerIndex: -1}, Bits: []byte{1}, LiveMonitors: []byte{2}},
			{Low: 9, RegisterMap: 0x80000000, Pointers: []byte{1, 1, 2, 2, 3}, Bits: []byte{0x81}},
			{Low: 16, Info: ByteCodeInfo{DoNotProfile: true, ByteCodeIndex: 6}},
		}},
		Sections: []Section{{Kind: Other, Bytes: make([]byte, 9)}},
	}
}

// Lay sets what says how much there is, how wide, and where.
func TestLay_SizesAndPlaces(t *testing.T) {
	b := handmade()
	lay(b)
	var kinds []SectionKind
	for _, s := range b.Sections {
		kinds = append(kinds, s.Kind)
	}
	want := []SectionKind{ExceptionTable, ExceptionInfo, InlineInfo, StackAtlasSection, Other}
	if !reflect.DeepEqual(kinds, want) {
		t.Errorf("sections %v, expected %v", kinds, want)
	}
	h, a := &b.Header, b.Atlas
	for _, c := range []struct {
		name      string
		got, want uint64
	}{
		{"header size", uint64(b.Layout.HeaderSize), 224}, // the smallest with a pointer to invokeBasic info
		{"inlinedCalls", h.InlinedCalls, 0x1000 + 224 + 8},
		{"gcStackAtlas", h.GCStackAtlas, 0x1000 + 224 + 8 + 17},
		{"maps", uint64(a.NumberOfMaps), 3},
		{"bytes of maps", uint64(a.NumberOfMapBytes), 1},
		{"flags", uint64(h.Flags), 0},
		{"first map", uint64(a.Maps[0].Offset), 224 + 8 + 17 + 33},
		{"second map", uint64(a.Maps[1].Offset), 224 + 8 + 17 + 33 + 16},
		{"third map", uint64(a.Maps[2].Offset), 224 + 8 + 17 + 33 + 16 + 21},
		{"size", uint64(h.Size), 224 + 8 + 17 + 33 + 16 + 21 + 6 + 9},
	} {
		if c.got != c.want {
			t.Errorf("%s: %#x, expected %#x", c.name, c.got, c.want)
		}
	}
	if a.Maps[0].Bits[0] != 0x81 || a.Maps[1].Bits[0] != 0x01 || !a.Maps[2].Shared {
		t.Errorf("maps %+v", a.Maps)
	}
	blob, err := encode(b)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Decode(blob, b.Base, b.Layout); err != nil {
		t.Error(err)
	}
}

// Maps become wide where the compiler makes them wide, and where they must be.
func TestLay_WideMaps(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(b *Body)
		wide   bool
	}{
		{"as it is", func(b *Body) {}, false},
		{"code of 65534 bytes", func(b *Body) { b.Header.EndPC = b.Header.StartPC + 65534 }, false},
		{"code of 65535 bytes", func(b *Body) { b.Header.EndPC = b.Header.StartPC + 65535 }, true},
		{"a map far away", func(b *Body) { b.Atlas.Maps[2].Low = 1 << 16 }, true},
	} {
		b := handmade()
		c.change(b)
		lay(b)
		if wide := b.Header.Flags&GCMap32BitOffsets != 0; wide != c.wide {
			t.Errorf("%s: wide maps %t", c.name, wide)
		}
	}
}

// The header is as large as its fields need.
func TestLay_HeaderOfItsFields(t *testing.T) {
	for _, c := range []struct {
		change func(b *Body)
		want   int
	}{
		{func(b *Body) { b.Header.InvokeBasicCallInfo = 0 }, 216},
		{func(b *Body) {}, 224},
		{func(b *Body) { b.Header.ConstRefArrays = 1 }, 232},
	} {
		b := handmade()
		c.change(b)
		if lay(b); b.Layout.HeaderSize != c.want {
			t.Errorf("%d bytes, expected %d", b.Layout.HeaderSize, c.want)
		}
	}
}

// A body that was changed after Lay is not written.
func TestEncode_ChangedAfterLay(t *testing.T) {
	for _, change := range []func(b *Body){
		func(b *Body) { b.Sites = append(b.Sites, b.Sites[0]) },
		func(b *Body) { b.Sections[3].Offset++ },
	} {
		b := handmade()
		lay(b)
		change(b)
		if _, err := encode(b); err == nil || !strings.Contains(err.Error(), "call Lay") {
			t.Errorf("error %v", err)
		}
	}
}
