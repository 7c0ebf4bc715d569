package j9meta

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/internal/wire"
)

// sectionOffset is where the sections below are in their blob, and sectionBase
// where that is in its process.
const (
	sectionOffset = 0x101
	sectionBase   = 0x7f001000
)

func cursorOf(kind SectionKind, data []byte, l Layout) wire.Cursor {
	return wire.NewCursor(FormatName, kind.String(), data, l.Order, sectionOffset)
}

func unhex(t *testing.T, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.Join(strings.Fields(s), ""))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

var (
	little64 = Layout{Order: binary.LittleEndian, PointerSize: 8}
	big64    = Layout{Order: binary.BigEndian, PointerSize: 8}
	little32 = Layout{Order: binary.LittleEndian, PointerSize: 4}
	big32    = Layout{Order: binary.BigEndian, PointerSize: 4}
)

// Sections written down by hand, as C compilers lay out OpenJ9's structures:
// they decode to what they say.
func TestDecode_SectionsByHand(t *testing.T) {
	osr := &OSRInfo{Offset: sectionOffset, MaxScratchSize: 0x40,
		Mappings:    []OSRMapping{{PC: 0x10, Slots: []OSRSlot{{Site: -1, BufferOffset: 8, ScratchOffset: 16, Size: 4}}}, {PC: 0x22}},
		CatchBlocks: []uint32{0x90, 0}}
	basic := func() *InvokeBasicInfo {
		return &InvokeBasicInfo{Offset: sectionOffset, Sites: []InvokeBasicSite{{ReturnOffset: 0x102, ArgSlots: 3, J2IThunk: 0xa0b0c0d0}, {ReturnOffset: 0x203}}}
	}
	gpu := func(signature, lines, array, text, modules uint64, size int) *GPUInfo {
		return &GPUInfo{Offset: sectionOffset, MethodSignature: sectionBase + signature, MaxCachedDevices: 2, LineNumberArray: sectionBase + lines,
			PTXArray: sectionBase + array, CUModuleArray: sectionBase + modules, Signature: []byte("f"),
			Kernels: []GPUKernel{{Line: 9, PTX: sectionBase + text, Text: []byte("ab")}}, CUModules: make([]byte, size)}
	}
	for _, c := range []struct {
		name   string
		layout Layout
		bytes  string
		want   any
	}{
		{"OSR, little endian", little32, `
			2c000000 40000000 02000000
			10000000 01000000  ffffffff 08000000 10000000 04000000
			22000000 00000000
			10000000 02000000 90000000 00000000`, osr},
		{"OSR, big endian", big64, `
			0000002c 00000040 00000002
			00000010 00000001  ffffffff 00000008 00000010 00000004
			00000022 00000000
			00000010 00000002 00000090 00000000`, osr},
		{"OSR without shared slots", little64, `04000000  0c000000 01000000 44000000`,
			&OSRInfo{Offset: sectionOffset, SizeOnly: true, CatchBlocks: []uint32{0x44}}},
		{"bytecode map", little64, `
			ffff1abc00000000 0100000000000000  0807060504030201 1817161514131211`,
			&BytecodeMap{Offset: sectionOffset, Eyecatcher: BytecodeEyecatcher, Size: 1, Entries: []BytecodeEntry{{0x0102030405060708, 0x1112131415161718}}}},
		{"bytecode map, 32 bits", big32, `bc1affff 00000001  01020304 11121314`,
			&BytecodeMap{Offset: sectionOffset, Eyecatcher: BytecodeEyecatcher, Size: 1, Entries: []BytecodeEntry{{0x01020304, 0x11121314}}}},
		{"bytecode map, not filled in yet", big32, `00000000 00000007`, &BytecodeMap{Offset: sectionOffset, Size: 7}},
		{"invokeBasic, little endian", little64, `
			02000000 00000000
			02010000 03000000 d0c0b0a000000000
			03020000 00000000 0000000000000000`, basic()},
		{"invokeBasic, big endian", big64, `
			00000002 00000000
			00000102 03000000 00000000a0b0c0d0
			00000203 00000000 0000000000000000`, basic()},
		{"invokeBasic, 32 bits", little32, `
			02000000
			02010000 03000000 d0c0b0a0
			03020000 00000000 00000000`, basic()},
		// struct at 0x101, 40 bytes; "f" at 0x129, line at 0x12b, array at 0x12f, text at 0x137, modules at 0x13a.
		{"GPU", little64, `
			29 11 00 7f 00000000  01000000 02000000  2b 11 00 7f 00000000  2f 11 00 7f 00000000  3a 11 00 7f 00000000
			6600  09000000  37 11 00 7f 00000000  616200  00000000000000000000000000000000`, gpu(0x129, 0x12b, 0x12f, 0x137, 0x13a, 16)},
		// struct at 0x101, 24 bytes; "f" at 0x119, line at 0x11b, array at 0x11f, text at 0x123, modules at 0x126.
		{"GPU, 32 bits, built without CUDA", big32, `
			7f001119  00000001 00000002  7f00111b 7f00111f 7f001126
			6600  00000009  7f001123  616200`, gpu(0x119, 0x11b, 0x11f, 0x123, 0x126, 0)},
	} {
		t.Run(c.name, func(t *testing.T) {
			data := unhex(t, c.bytes)
			got, err := decodeSection(c.want, data, c.layout)
			if err != nil {
				t.Fatal(err)
			}
			if g, ok := got.(*GPUInfo); ok && g.CUModules == nil {
				g.CUModules = []byte{} // to compare
			}
			if !reflect.DeepEqual(got, c.want) {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
			for n := range data { // every part of it is too little, but for modules, which need not be
				_, err := decodeSection(c.want, data[:n], c.layout)
				var where *wire.Error
				whole := strings.HasPrefix(c.name, "GPU") && n >= len(data)-16 && c.layout.PointerSize == 8
				if !whole && (!errors.As(err, &where) || where.Offset < sectionOffset || where.Offset > sectionOffset+int64(n)) {
					t.Fatalf("%d of %d bytes: error %v", n, len(data), err)
				}
			}
		})
	}
}

// decodeSection decodes a section of the type of want.
func decodeSection(want any, data []byte, l Layout) (got any, err error) {
	var c wire.Cursor
	switch want.(type) {
	case *OSRInfo:
		c = cursorOf(OSRSection, data, l)
		got = decodeOSR(&c)
	case *GPUInfo:
		c = cursorOf(GPUSection, data, l)
		got = decodeGPU(&c, l, sectionBase)
	case *BytecodeMap:
		c = cursorOf(BytecodeSection, data, l)
		got = decodeBytecodes(&c, l)
	case *InvokeBasicInfo:
		c = cursorOf(InvokeBasicSection, data, l)
		got = decodeInvokeBasic(&c, l)
	}
	return got, c.Err()
}

// Counts and sizes that are not true are errors where they are, and nothing is
// allocated for them.
func TestDecode_SectionsWithFalseCounts(t *testing.T) {
	for _, c := range []struct {
		name   string
		kind   any
		layout Layout
		bytes  string
		want   string
	}{
		{"OSR mappings", &OSRInfo{}, little64, `0c000000 00000000 ffffff0f 00000000`,
			"OSR Info: number of mappings at offset 0x109: 268435455 mappings do not fit into the 4 bytes that follow"},
		{"OSR slots", &OSRInfo{}, little64, `14000000 00000000 01000000  10000000 00000010 00000000`,
			"OSR Info: number of scratch buffer infos at offset 0x111: 268435456 of them do not fit into the 4 bytes that follow"},
		{"OSR section 0", &OSRInfo{}, little64, `10000000 00000000 00000000  08000000 00000000`,
			"OSR Info: section size at offset 0x101: section 0 says it has 16 bytes, what it holds has 12"},
		{"OSR section 1", &OSRInfo{}, little64, `04000000  0c000000 00000000`,
			"OSR Info: section size at offset 0x105: section 1 says it has 12 bytes, what it holds has 8"},
		{"OSR catch blocks", &OSRInfo{}, little64, `04000000  00000040 ffffff3f`,
			"OSR Info: number of mappings at offset 0x109: 1073741823 OSR catch blocks do not fit into the 0 bytes that follow"},
		{"GPU kernels", &GPUInfo{}, little32, `19 11 00 7f 00000010 00000000`,
			"GPU Info: numPtxKernels at offset 0x105: 268435456 kernels do not fit into the 4 bytes that follow"},
		{"GPU signature elsewhere", &GPUInfo{}, big32, `7f001118  00000001 00000002  7f00111b 7f00111f 7f001126  6600 00000009 7f001123 616200`,
			"GPU Info: methodSignature at offset 0x119: 0x7f001118 is pointed to, expected 0x7f001119, after the part before"},
		{"GPU signature to the end", &GPUInfo{}, big32, `7f001119  00000001 00000002  7f00111b 7f00111f 7f001126  66656667 65666765 666765`,
			"GPU Info: method signature at offset 0x119: no NUL in the 11 bytes that are left"},
		{"GPU lines elsewhere", &GPUInfo{}, big32, `7f001119  00000001 00000002  7f00111c 7f00111f 7f001126  6600 00000009 7f001123 616200`,
			"GPU Info: lineNumberArray at offset 0x11b: 0x7f00111c is pointed to, expected 0x7f00111b, after the part before"},
		{"GPU array elsewhere", &GPUInfo{}, big32, `7f001119  00000001 00000002  7f00111b 7f001120 7f001126  6600 00000009 7f001123 616200`,
			"GPU Info: ptxArray at offset 0x11f: 0x7f001120 is pointed to, expected 0x7f00111f, after the part before"},
		{"GPU text elsewhere", &GPUInfo{}, big32, `7f001119  00000001 00000002  7f00111b 7f00111f 7f001126  6600 00000009 7f001124 616200`,
			"GPU Info: PTX array entry location at offset 0x123: 0x7f001124 is pointed to, expected 0x7f001123, after the part before"},
		{"GPU modules elsewhere", &GPUInfo{}, big32, `7f001119  00000001 00000002  7f00111b 7f00111f 7f001127  6600 00000009 7f001123 616200`,
			"GPU Info: cuModuleArray at offset 0x126: 0x7f001127 is pointed to, expected 0x7f001126, after the part before"},
		{"bytecode map with a pair more", &BytecodeMap{}, big32, `bc1affff 00000002  01020304 11121314`,
			"Bytecode PC to Instruction Address Map: map size at offset 0x105: 2 pairs, but there is room for 1"},
		{"bytecode map", &BytecodeMap{}, little64, `ffff1abc00000000 0000000000000080`,
			"Bytecode PC to Instruction Address Map: map size at offset 0x109: 9223372036854775808 pairs, but there is room for 0"},
		{"invokeBasic sites", &InvokeBasicInfo{}, big32, `ffffffff 00000000`,
			"invokeBasic Call Info: numSites at offset 0x101: 4294967295 sites have 51539607540 bytes, 4 follow"},
	} {
		t.Run(c.name, func(t *testing.T) {
			data := unhex(t, c.bytes)
			_, err := decodeSection(c.kind, data, c.layout)
			if got := strings.TrimPrefix(errorText(err), FormatName+": "); got != c.want {
				t.Errorf("%s\nexpected %s", got, c.want)
			}
			if n := testing.AllocsPerRun(10, func() { _, _ = decodeSection(c.kind, data, c.layout) }); n > 40 {
				t.Errorf("got %v allocations; want 40 at most", n)
			}
		})
	}
}

func errorText(err error) string {
	if err == nil {
		return "no error"
	}
	return err.Error()
}
