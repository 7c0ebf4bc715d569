package j9meta

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"reflect"
	"strings"
	"testing"
)

// handmade returns a body that was never laid out, with one of everything.
func handmade() *Body {
	return &Body{
		Layout:     Layout{Order: binary.LittleEndian, PointerSize: 8, Machine: elf.EM_X86_64},
		Base:       0x1000,
		Header:     Header{RAMMethod: 0x77, StartPC: 0x5000, EndWarmPC: 0x5100, EndPC: 0x5100},
		Exceptions: []Exception{{Start: 1, End: 2, Handler: 3, CatchType: 4}},
		Sites:      []InlinedSite{{Method: 0x88, Info: ByteCodeInfo{CallerIndex: -1, ByteCodeIndex: 5}, Monitors: []byte{0}}},
		Atlas: &StackAtlas{Monitors: []byte{0}, Maps: []StackMap{
			{Info: ByteCodeInfo{CallerIndex: -1}, Bits: []byte{1}, LiveMonitors: []byte{2}},
			{Low: 9, RegisterMap: 0x80000000, Pointers: &RegisterPointers{Arrays: []PinningArray{{1, []byte{2, 3}}}}, Bits: []byte{0x81}},
			{Low: 16, Info: ByteCodeInfo{DoNotProfile: true, ByteCodeIndex: 6}},
		}},
		StackAlloc:       &StackAllocMap{Bits: []byte{3}},
		InternalPointers: &InternalPointerMap{Arrays: []PinningArray{{1, []byte{4}}, {2, nil}}},
		OSR:              &OSRInfo{CatchBlocks: []uint32{0, 7}},
		GPU:              &GPUInfo{MaxCachedDevices: 8, Signature: []byte("f()V"), Kernels: []GPUKernel{{Line: 3, Text: []byte("ptx")}}},
		Bytecodes:        &BytecodeMap{Entries: []BytecodeEntry{{1, 0x5001}}},
		InvokeBasic:      &InvokeBasicInfo{Sites: []InvokeBasicSite{{ReturnOffset: 8, ArgSlots: 2}}},
	}
}

// Lay sets what says how much there is, how wide, and where.
func TestLay(t *testing.T) {
	b := handmade()
	b.InternalPointers.Extra = []byte{9} // which no writer leaves
	b.Atlas.Maps[1].Pointers.Extra = []byte{9}
	if err := b.Lay(); err != nil {
		t.Fatal(err)
	}
	if p, q := b.InternalPointers, b.Atlas.Maps[1].Pointers; len(p.Extra)+len(q.Extra) > 0 {
		t.Errorf("behind the arrays: %v, %v", p.Extra, q.Extra)
	}
	var kinds []SectionKind
	for _, s := range b.Sections {
		kinds = append(kinds, s.Kind)
	}
	want := []SectionKind{ExceptionTable, ExceptionInfo, InlineInfo, StackAtlasSection, StackAllocSection, InternalPointerSection,
		OSRSection, GPUSection, BytecodeSection, Gap, InvokeBasicSection}
	if !reflect.DeepEqual(kinds, want) {
		t.Errorf("sections %v, expected %v", kinds, want)
	}
	h, a := &b.Header, b.Atlas
	for _, c := range []struct {
		name      string
		got, want uint64
	}{
		{"header size", uint64(b.Layout.HeaderSize), 224}, // the smallest with a pointer to invokeBasic info
		{"exceptions", uint64(h.NumExceptionRanges), 1},
		{"inlinedCalls", h.InlinedCalls, 0x1000 + 224 + 8},
		{"gcStackAtlas", h.GCStackAtlas, 0x1000 + 224 + 8 + 17},
		{"maps", uint64(a.NumberOfMaps), 3},
		{"bytes of maps", uint64(a.NumberOfMapBytes), 1},
		{"flags", uint64(h.Flags), 0},
		{"first map", uint64(a.Maps[0].Offset), 224 + 8 + 17 + 33},
		{"second map", uint64(a.Maps[1].Offset), 224 + 8 + 17 + 33 + 16},
		{"third map", uint64(a.Maps[2].Offset), 224 + 8 + 17 + 33 + 16 + 21},
		{"stackAllocMap", a.StackAllocMap, 0x1000 + 224 + 8 + 17 + 33 + 16 + 21 + 6},
		{"its first map", b.StackAlloc.FirstMap, 0x1000 + 224 + 8 + 17 + 33},
		{"internalPointerMap", a.InternalPointerMap, a.StackAllocMap + 9},
		{"its size", uint64(b.InternalPointers.Size), 6},
		{"osrInfo", h.OSRInfo, a.InternalPointerMap + 13 + 6},
		{"gpuCode", h.GPUCode, h.OSRInfo + 12 + 16},
		{"PTX", b.GPU.Kernels[0].PTX, h.GPUCode + 40 + 5 + 4 + 8},
		{"riData", h.RIData, h.GPUCode + 40 + 5 + 4 + 8 + 4},
		{"its size", b.Bytecodes.Size, 1},
		{"invokeBasicCallInfo", h.InvokeBasicCallInfo, (h.RIData + 32 + 7) &^ 7},
		{"size", uint64(h.Size), h.InvokeBasicCallInfo + 24 - 0x1000},
	} {
		if c.got != c.want {
			t.Errorf("%s: %#x, expected %#x", c.name, c.got, c.want)
		}
	}
	if a.Maps[0].Bits[0] != 0x81 || a.Maps[1].Bits[0] != 0x01 || !a.Maps[2].Shared {
		t.Errorf("maps %+v", a.Maps)
	}
	blob, err := b.Encode()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Decode(blob, b.Base, b.Layout); err != nil {
		t.Error(err)
	}
}

// Entries become wide where the compiler makes them wide, and where they must be.
func TestLayWide(t *testing.T) {
	for _, c := range []struct {
		name                  string
		change                func(b *Body)
		maps, exceptions, fsd bool
	}{
		{"as it is", func(b *Body) {}, false, false, false},
		{"code of 65534 bytes", func(b *Body) { b.Header.EndPC = b.Header.StartPC + 65534 }, false, false, false},
		{"code of 65535 bytes", func(b *Body) { b.Header.EndPC = b.Header.StartPC + 65535 }, true, true, false},
		{"a map far away", func(b *Body) { b.Atlas.Maps[2].Low = 1 << 16 }, true, false, false},
		{"a catch type", func(b *Body) { b.Exceptions[0].CatchType = 1 << 16 }, false, true, false},
		{"a handler of another method", func(b *Body) { b.Exceptions[0].Method = 0x88 }, false, true, false},
		{"the flag", func(b *Body) { b.Header.NumExceptionRanges = wideExceptions }, false, true, false},
		{"a bytecode index", func(b *Body) { b.Exceptions[0].ByteCodeIndex = 2 }, false, false, true},
		{"full speed debug", func(b *Body) { b.Header.Flags = IsFSDComp }, false, false, true},
		{"no exceptions", func(b *Body) {
			b.Exceptions = nil
			b.Header.NumExceptionRanges = wideExceptions | exceptionBytecodes | 5
		}, false, false, false},
	} {
		b := handmade()
		c.change(b)
		if err := b.Lay(); err != nil {
			t.Fatal(c.name, err)
		}
		h := &b.Header
		if maps := h.Flags&GCMap32BitOffsets != 0; maps != c.maps || h.WideExceptions() != c.exceptions || h.ExceptionBytecodes() != c.fsd {
			t.Errorf("%s: maps %t, exceptions %t, FSD %t", c.name, maps, h.WideExceptions(), h.ExceptionBytecodes())
		}
	}
}

// The header is as large as its fields need.
func TestLayHeader(t *testing.T) {
	for _, c := range []struct {
		change func(b *Body)
		want   int
	}{
		{func(b *Body) { b.InvokeBasic = nil }, 216},
		{func(b *Body) {}, 224},
		{func(b *Body) { b.Header.ConstRefArrays = 1 }, 232},
	} {
		b := handmade()
		if c.change(b); b.Lay() != nil || b.Layout.HeaderSize != c.want {
			t.Errorf("%d bytes, expected %d", b.Layout.HeaderSize, c.want)
		}
	}
}

// 32-bit ARM aligns maps, and the last section to four bytes.
func TestLayARM(t *testing.T) {
	b := handmade()
	b.Layout.PointerSize, b.Layout.Machine = 4, elf.EM_ARM
	for grow := range 8 {
		b.GPU.Signature = make([]byte, grow)
		for i := range b.GPU.Signature {
			b.GPU.Signature[i] = 'f'
		}
		if err := b.Lay(); err != nil {
			t.Fatal(err)
		}
		if len(b.InternalPointers.Pad) != 1 {
			t.Errorf("%d bytes behind the size of the internal pointer map", len(b.InternalPointers.Pad))
		}
		before := b.Bytecodes.Offset + 16
		if v := b.InvokeBasic.Offset; v%4 != 0 || v < before || v > before+3 {
			t.Errorf("the last section is at %#x, the one before it ends at %#x", v, before)
		}
		blob, err := b.Encode()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Decode(blob, b.Base, b.Layout); err != nil {
			t.Error(err)
		}
	}
}

// The size of an internal pointer map overflows, as the compiler lets it.
func TestLayManyPointers(t *testing.T) {
	for _, arrays := range []int{84, 85, 86, 127, 254, 255} {
		b := handmade()
		b.InternalPointers.Arrays = nil
		for i := range arrays {
			b.InternalPointers.Arrays = append(b.InternalPointers.Arrays, PinningArray{uint8(i), []byte{9}})
		}
		if err := b.Lay(); err != nil {
			t.Fatal(err)
		}
		if size := b.InternalPointers.Size; size != uint8(1+3*arrays) {
			t.Errorf("%d arrays: size %d", arrays, size)
		}
		blob, err := b.Encode()
		if err != nil {
			t.Fatal(arrays, err)
		}
		l := b.Layout
		l.HeaderSize = 0
		got, err := Decode(blob, b.Base, l)
		if err != nil {
			t.Fatal(arrays, err)
		}
		if !reflect.DeepEqual(got.InternalPointers, b.InternalPointers) || !reflect.DeepEqual(got.Sections, b.Sections) {
			t.Errorf("%d arrays: %+v, expected %+v", arrays, got.InternalPointers, b.InternalPointers)
		}
		if again, err := got.Encode(); err != nil || !bytes.Equal(again, blob) {
			t.Errorf("%d arrays: encoded again: error %v", arrays, err)
		}
	}
}

// What has no place in the format is an error that says so, of Lay or of Encode.
func TestUnfit(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(b *Body)
		want   string
	}{
		{"byte order", func(b *Body) { b.Layout.Order = nil }, "neither little nor big endian"},
		{"header too small", func(b *Body) { b.Layout.HeaderSize = 216 }, "a header of 216 bytes has no pointer to this section"},
		{"header for later fields", func(b *Body) { b.Header.Extra = []byte{1} }, "1 bytes behind the known fields, a header of 224 bytes has 0"},
		{"no atlas", func(b *Body) { b.Atlas = nil }, "inlined sites without a stack atlas"},
		{"no atlas, no sites", func(b *Body) { b.Atlas, b.Sites = nil, nil }, "but no stack atlas, which points to it"},
		{"exceptions", func(b *Body) { b.Exceptions = make([]Exception, 0x4000) }, "16384 exception ranges, the field has room for 16383"},
		{"maps", func(b *Body) { b.Atlas.Maps = append(b.Atlas.Maps, make([]StackMap, 1<<16)...) }, "numberOfMaps at offset 0xf9: 65539 maps, the field has room for 65535"},
		{"no bits", func(b *Body) { b.Atlas.Monitors = nil }, "0 bytes, numberOfMapBytes says 0"},
		{"bits of a site", func(b *Body) { b.Sites[0].Monitors = nil }, "site 0 has 0 bytes, other maps have 1"},
		{"bits of a map", func(b *Body) { b.Atlas.Maps[1].Bits = []byte{1, 2} }, "2 bytes and 0 of live monitors, other maps have 1"},
		{"bits of the alloc map", func(b *Body) { b.StackAlloc.Bits = nil }, "0 bytes, other maps have 1"},
		{"caller", func(b *Body) { b.Sites[0].Info.CallerIndex = 4096 }, "does not fit into 32 bits"},
		{"bytecode", func(b *Body) { b.Atlas.Maps[0].Info.ByteCodeIndex = 65536 }, "does not fit into 32 bits"},
		{"register pointers without their bit", func(b *Body) { b.Atlas.Maps[1].RegisterMap = 0 }, "say that register pointers follow: false; there are some: true"},
		{"the bit without register pointers", func(b *Body) { b.Atlas.Maps[1].Pointers = nil }, "say that register pointers follow: true; there are some: false"},
		{"register pointers without a map of all", func(b *Body) { b.InternalPointers = nil }, "say that register pointers follow: false; there are some: true"},
		{"many registers", func(b *Body) { b.Atlas.Maps[1].Pointers.Arrays[0].Pointers = make([]byte, 255) }, "2 bytes, the arrays have 258 and the size is one byte"},
		{"many pointers", func(b *Body) { b.InternalPointers.Arrays[0].Pointers = make([]byte, 256) }, "256 arrays or pointers into one, the field has room for 255"},
		{"many arrays", func(b *Body) { b.InternalPointers.Arrays = make([]PinningArray, 256) }, "256 arrays or pointers into one, the field has room for 255"},
		{"NUL", func(b *Body) { b.GPU.Kernels[0].Text = []byte{'a', 0} }, "a NUL within a string"},
		{"stub", func(b *Body) { b.Header.Flags |= IsStub }, "IS_STUB, but there is more than a header"},
		{"pointers", func(b *Body) { b.Layout.PointerSize, b.Header.BodyInfo = 4, 1<<32 }, "bodyInfo at offset 0x48: 0x100000000 has more than 4 bytes"},
		{"constRefArrays", func(b *Body) { b.Layout.HeaderSize, b.Header.ConstRefArrays = 224, 1 }, "constRefArrays at offset 0xe0: 0x1, a header of 224 bytes does not have the field"},
		{"an inlined method", func(b *Body) { b.Layout.PointerSize, b.Sites[0].Method = 4, 1<<32 }, "0x100000000 has more than 4 bytes"},
		{"alignment", func(b *Body) { b.InternalPointers.Pad = []byte{0} }, "alignment at offset 0x14e: 1 bytes"},
		{"more alignment", func(b *Body) { b.InternalPointers.Pad = []byte{0, 0} }, "alignment at offset 0x14e: 2 bytes"},
		{"the method of an exception", func(b *Body) { b.Layout.PointerSize, b.Exceptions[0].Method = 4, 1<<32 }, "J9Method at offset 0x78: 0x100000000 has more than 4 bytes"},
	} {
		b := handmade()
		c.change(b)
		err := b.Lay()
		if err == nil {
			_, err = b.Encode()
		}
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, expected %q", c.name, err, c.want)
		}
	}
}

// A body that was changed behind Lay's back is not written, and writing one does
// not change it.
func TestEncodeNeedsLay(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(b *Body)
		want   string
	}{
		{"never laid out", func(b *Body) { b.Sections = nil }, "call Lay"},
		{"a section more", func(b *Body) { b.Sections = b.Sections[:len(b.Sections)-1] }, "the body has such a section: true; its list of sections has it: false: call Lay"},
		{"a section less", func(b *Body) { b.OSR = nil }, "the body has such a section: false; its list of sections has it: true: call Lay"},
		{"a section grows", func(b *Body) { b.OSR.CatchBlocks = append(b.OSR.CatchBlocks, 1) }, "the section has 32 bytes and is to have 28: call Lay"},
		{"a section moves", func(b *Body) { b.Sections[3].Offset++ }, "the section is to be at offset 0xfa: call Lay"},
		{"the flag of wide maps", func(b *Body) { b.Atlas.Maps[1].Low = 1 << 16 }, "0x10000 needs four bytes: the flag for them is not set"},
		{"the flag of wide exceptions", func(b *Body) { b.Exceptions[0].Method = 1 }, "entry 0 needs wide fields: the flag for them is not set"},
		{"the flag of FSD", func(b *Body) { b.Exceptions[0].ByteCodeIndex = 1 }, "entry 0 has a bytecode index: the flag for it is not set"},
		{"an exception more", func(b *Body) { b.Exceptions = append(b.Exceptions, Exception{}) }, "1, there are 2 exception ranges"},
		{"a bytecode less", func(b *Body) { b.Bytecodes.Entries = nil }, "1, there are 0"},
		{"a pointer without its field", func(b *Body) {
			b.Layout.HeaderSize, b.Header.InvokeBasicCallInfo = 216, 1
		}, "invokeBasicCallInfo at offset 0xd8: 0x1, a header of 216 bytes does not have the field"},
		{"live monitors", func(b *Body) { b.Atlas.Maps[1].LiveMonitors = []byte{1} }, "says that live monitors follow: false; there are some: true"},
		{"shared", func(b *Body) { b.Atlas.Maps[2].Shared = false }, "doNotProfile is true, but it says whether there is no more to the map"},
	} {
		b := handmade()
		if err := b.Lay(); err != nil {
			t.Fatal(err)
		}
		before, err := b.Encode()
		if err != nil {
			t.Fatal(err)
		}
		if again, err := b.Encode(); err != nil || !bytes.Equal(again, before) {
			t.Fatalf("encoded twice: error %v", err)
		}
		c.change(b)
		if _, err := b.Encode(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, expected %q", c.name, err, c.want)
		}
	}
}
