package j9meta

import (
	"debug/elf"
	"encoding/binary"
	"reflect"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/internal/testrec"
)

// Metadata that was written down by field has every field where it was put.

func decodeHex(t *testing.T, name string, base uint64, l Layout) *Body {
	t.Helper()
	blob := testrec.Hex(t, "testdata/"+name+".hex")
	b, err := Decode(blob, base, l)
	if err != nil {
		t.Fatal(err)
	}
	tiles(t, b, len(blob))
	return b
}

func equal(t *testing.T, what string, got, want any) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%s:\ngot  %+v\nwant %+v", what, got, want)
	}
}

func TestDecode_ARM(t *testing.T) {
	l := Layout{Order: binary.LittleEndian, PointerSize: 4, Machine: elf.EM_ARM}
	b := decodeHex(t, "arm-116", 0x70000000, l)
	l.HeaderSize = 116
	equal(t, "layout", b.Layout, l)
	h := b.Header
	equal(t, "header", h, Header{
		ClassName: 0x601000, MethodName: 0x601010, MethodSignature: 0x601020, ConstantPool: 0x602000, RAMMethod: 0x603000,
		StartPC: 0x40001000, EndWarmPC: 0x40001080, EndPC: 0x40001080, TotalFrameSize: 9,
		Slots: 2, ScalarTempSlots: -3, ObjectTempSlots: 1, ProloguePushes: 4, TempOffset: -1, NumExceptionRanges: 1, Size: 0xf8,
		RegisterSaveDescription: 0x1234, GCStackAtlas: 0x70000094, InlinedCalls: 0x7000007c, BodyInfo: 0x604000, NextMethod: 0x605000,
		RuntimeAssumptionList: 0x606000, Hotness: 3, CodeCacheAlloc: 0x40000fe0,
	})
	equal(t, "sites", b.Sites, []InlinedSite{
		{Offset: 0x7c, Method: 0x607000, Info: ByteCodeInfo{SameReceiver: true, CallerIndex: -1, ByteCodeIndex: 7}, Monitors: []byte{1, 0, 0, 0}},
		{Offset: 0x88, Method: 0x607021, Info: ByteCodeInfo{CallerIndex: 0, ByteCodeIndex: 9}, Monitors: []byte{0, 0, 0, 0}},
	})
	equal(t, "atlas", *b.Atlas, StackAtlas{
		Offset: 0x94, InternalPointerMap: 0x700000e8, NumberOfMaps: 3, NumberOfMapBytes: 4, ParmBaseOffset: 8, NumberOfParmSlots: 2,
		LocalBaseOffset: -24, SyncObjectTempOffset: 0xffff, Monitors: []byte{0, 0, 0, 0},
		Maps: []StackMap{
			{Offset: 0xac, LowPad: [2]byte{0xaa, 0xbb}, Info: ByteCodeInfo{CallerIndex: -1}, RegisterSave: 0x11, RegisterMap: 0x22, Bits: []byte{3, 0, 0, 0}},
			{Offset: 0xc0, Low: 0x20, Info: ByteCodeInfo{DoNotProfile: true, CallerIndex: 1, ByteCodeIndex: 17}, Shared: true},
			{Offset: 0xc8, Low: 0x30, Info: ByteCodeInfo{CallerIndex: 0, ByteCodeIndex: 65535}, RegisterSave: 0x33, RegisterMap: 0x80000044,
				Pointers: []byte{2, 1, 2, 5, 6, 4, 0},
				Bits:     []byte{1, 0, 0, 0x80}, LiveMonitors: []byte{2, 0, 0, 0}},
		},
	})
	last := b.Sections[len(b.Sections)-1]
	equal(t, "internal pointers", []any{last.Kind, last.Offset, last.Bytes[:5]}, []any{Other, 0xe8, []byte{0xac, 0, 0, 0x70, 6}})
	equal(t, "stack", b.Stack(nil, b.Atlas.Maps[1].Info), []Frame{
		{Site: 1, Method: 0x607021, ByteCodeIndex: 17, Unloaded: true},
		{Site: 0, Method: 0x607000, ByteCodeIndex: 9},
		{Site: -1, Method: 0x603000, ByteCodeIndex: 7},
	})
}

func TestDecode_POWER(t *testing.T) {
	l := Layout{Order: binary.BigEndian, PointerSize: 8, Machine: elf.EM_PPC64}
	b := decodeHex(t, "power-224", 0x7e0000000000, l)
	l.HeaderSize = 224
	equal(t, "layout", b.Layout, l)
	h := &b.Header
	equal(t, "flags", h.Flags.String(), "GC_MAP_32_BIT_OFFSETS|IS_FSD_COMP")
	equal(t, "padding", h.HotnessPad, [4]byte{0xde, 0xad, 0xbe, 0xef})
	equal(t, "temp offset", h.TempOffset, int16(-1))
	equal(t, "exception table", b.Sections[1], Section{Kind: ExceptionInfo, Offset: 0xe0, Size: 2 * 28, Bytes: b.Sections[1].Bytes})
	start, end := h.Cold()
	equal(t, "cold part", []uint64{start, end}, []uint64{0x7f8900000000, 0x7f8900000100})
	start, end = h.Warm()
	equal(t, "warm part", []uint64{start, end}, []uint64{0x7f8800001000, 0x7f8800011000})
	equal(t, "sites", b.Sites, []InlinedSite{
		{Offset: 0x118, Method: 0x7f8812345679, Info: ByteCodeInfo{CallerIndex: -1, ByteCodeIndex: 300}, Pad: [4]byte{1, 2, 3, 4}, Monitors: []byte{0x40}},
		{Offset: 0x129, Method: 0x608000, Info: ByteCodeInfo{SameReceiver: true, CallerIndex: 0, ByteCodeIndex: 5}, Monitors: []byte{2}},
	})
	equal(t, "atlas's padding", b.Atlas.Pad, [4]byte{0, 0, 0, 7})
	equal(t, "maps", b.Atlas.Maps, []StackMap{
		{Offset: 0x15b, Info: ByteCodeInfo{CallerIndex: -1, ByteCodeIndex: -1}, RegisterSave: 1, RegisterMap: 0x80000000, Bits: []byte{1}},
		{Offset: 0x16c, Low: 0x120, Info: ByteCodeInfo{SameReceiver: true, CallerIndex: 1, ByteCodeIndex: 44}, RegisterSave: 2, RegisterMap: 0x00040001,
			Pointers: []byte{}, Bits: []byte{0x81}, LiveMonitors: []byte{4}},
		{Offset: 0x17f, Low: 0x10800, Info: ByteCodeInfo{DoNotProfile: true, CallerIndex: 0, ByteCodeIndex: 8}, Shared: true},
		{Offset: 0x187, Low: 0xfffff000, Info: ByteCodeInfo{CallerIndex: -1, ByteCodeIndex: 77}, RegisterSave: 3, RegisterMap: 0x00040002,
			Pointers: []byte{1, 9, 1, 30, 0x99}, Bits: []byte{0}},
	})
	last := b.Sections[len(b.Sections)-1]
	equal(t, "last section", []any{last.Kind, last.Offset}, []any{Other, 0x19e})
	equal(t, "ranges", b.Ranges(), []Range{
		{0, 0x120, 0, b.Atlas.Maps[0].Info, false},
		{0x120, 0x10800, 1, b.Atlas.Maps[1].Info, false},
		{0x10800, 0xfffff000, 2, b.Atlas.Maps[2].Info, true},
		{0xfffff000, 0xfffff100, 3, b.Atlas.Maps[3].Info, false},
	})
	equal(t, "stack", b.Stack(nil, b.Atlas.Maps[1].Info), []Frame{
		{Site: 1, Method: 0x608000, ByteCodeIndex: 44},
		{Site: 0, Method: 0x7f8812345679, ByteCodeIndex: 5, Unloaded: true},
		{Site: -1, Method: 0x603000, ByteCodeIndex: 300},
	})
}

func TestDecode_S390(t *testing.T) {
	l := Layout{Order: binary.BigEndian, PointerSize: 8, Machine: elf.EM_S390}
	b := decodeHex(t, "s390-216", 0x7e0000000000, l)
	l.HeaderSize = 216
	equal(t, "layout", b.Layout, l)
	equal(t, "maps", b.Atlas.Maps, []StackMap{
		{Offset: 0xfa, Info: ByteCodeInfo{CallerIndex: -1}, RegisterSave: 0x77, RegisterMap: 0x10, Bits: []byte{1, 0}},
		{Offset: 0x10a, Low: 0x40, Info: ByteCodeInfo{CallerIndex: -1, ByteCodeIndex: 16}, RegisterSave: 0x77, RegisterMap: GapMap, Bits: []byte{0, 0}},
		{Offset: 0x11a, Low: 0x3f0, Info: ByteCodeInfo{DoNotProfile: true, CallerIndex: -1, ByteCodeIndex: 90}, Shared: true},
	})
	equal(t, "last section", b.Sections[len(b.Sections)-1], Section{Kind: Other, Offset: 0x120, Size: 16,
		Bytes: []byte{0, 0, 0x7e, 0, 0, 0, 0, 0xfa, 2, 0, 0, 0, 0, 0, 0, 0}})
}

// TestDecode_ReclaimedBody is about what is left of a body that was reclaimed.
func TestDecode_ReclaimedBody(t *testing.T) {
	for _, size := range []int{216, 224, 232} {
		v := vectors(t)[0]
		blob := append([]byte(nil), v.blob[:size]...)
		for _, at := range []int{112, 120, 168, 200, 208} {
			clear(blob[at : at+8])
		}
		if size > 216 {
			clear(blob[216:])
		}
		blob[96] |= byte(IsStub)
		b, err := Decode(blob, v.base, Layout{Order: binary.LittleEndian, PointerSize: 8})
		if err != nil {
			t.Fatal(err)
		}
		if b.Layout.HeaderSize != size || b.Atlas != nil || len(b.Sections) != 1 || b.Ranges() != nil {
			t.Errorf("%d bytes: %+v", size, b)
		}
		if _, ok := b.RangeAt(0); ok {
			t.Error("a stub has a range")
		}
		_, err = Decode(blob, v.base, Layout{Order: binary.LittleEndian, PointerSize: 8, HeaderSize: size + 8})
		if want := "the header alone has"; err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%d bytes for a header of %d: %v, expected %s", size, size+8, err, want)
		}
	}
}
