package verifytest

import (
	"debug/elf"
	"encoding/binary"
	"testing"

	"github.com/jitinject/jitinject/internal/format/j9meta"
	"github.com/jitinject/jitinject/internal/format/j9meta/j9gen"
)

// Methods of a body, where it lies, and where its cold code is.
const (
	J9Main  = 0x500000
	J9Outer = 0x500020
	J9Inner = 0x500040
	J9Base  = 0x7e0000000000
	J9Cold  = 0x1000 // offset of the cold code; both parts have 0x30 bytes
)

// MetadataBody returns metadata with every section in it and nothing wrong. It is not Laid out.
func MetadataBody() *j9meta.Body {
	return &j9meta.Body{
		Layout: j9meta.Layout{Order: binary.LittleEndian, PointerSize: 8, Machine: elf.EM_X86_64, HeaderSize: 232},
		Base:   J9Base,
		Header: j9meta.Header{
			ClassName: 0x600000, MethodName: 0x600040, MethodSignature: 0x600080, ConstantPool: 0x700000, RAMMethod: J9Main,
			StartPC: Base, EndWarmPC: Base + 0x30, StartColdPC: Base + J9Cold, EndPC: Base + J9Cold + 0x30,
			TotalFrameSize: 7, Slots: 2, ScalarTempSlots: 3, NumExceptionRanges: 0x8002, CodeCacheAlloc: Base - 0x20,
		},
		Sites: []j9meta.InlinedSite{
			{Method: J9Outer, Info: j9meta.ByteCodeInfo{CallerIndex: -1, ByteCodeIndex: 7, SameReceiver: true}, Monitors: []byte{2}},
			{Method: J9Inner, Info: j9meta.ByteCodeInfo{CallerIndex: 0, ByteCodeIndex: 3, SameReceiver: true}, Monitors: []byte{0}},
		},
		Atlas: &j9meta.StackAtlas{
			InternalPointerMap: 0x7e0000000300, NumberOfMapBytes: 1, ParmBaseOffset: 8, NumberOfParmSlots: 2, LocalBaseOffset: -24, SyncObjectTempOffset: 0xffff, Monitors: []byte{1},
			Maps: []j9meta.StackMap{
				{Info: j9meta.ByteCodeInfo{CallerIndex: -1}, Bits: []byte{3}},
				{Low: 8, Info: j9meta.ByteCodeInfo{CallerIndex: 0, ByteCodeIndex: 2, DoNotProfile: true}, Shared: true},
				{Low: 0x10, Info: j9meta.ByteCodeInfo{CallerIndex: 1, ByteCodeIndex: 5}, RegisterMap: 0x80000001,
					Pointers: []byte{2, 0, 1, 3, 2, 1, 4}, Bits: []byte{1}, LiveMonitors: []byte{3}},
				{Low: J9Cold, Info: j9meta.ByteCodeInfo{CallerIndex: -1, ByteCodeIndex: 12}, Bits: []byte{2}},
			},
		},
		Sections: []j9meta.Section{{Kind: j9meta.Other, Bytes: []byte("what the VM alone reads")}},
	}
}

// Laid lays a body out after one change and makes another one then.
func Laid(t *testing.T, before, after func(b *j9meta.Body)) *j9meta.Body {
	t.Helper()
	b := MetadataBody()
	if before != nil {
		before(b)
	}
	j9gen.Lay(b)
	if after != nil {
		after(b)
	}
	return b
}

func Encoded(t *testing.T, b *j9meta.Body) []byte {
	t.Helper()
	blob, err := j9gen.Encode(b)
	if err != nil {
		t.Fatal(err)
	}
	return blob
}
