package jvmti_test

import (
	"encoding/binary"
	"math/rand/v2"

	"github.com/jitinject/jitinject/internal/format/j9meta/j9gen"
)

// Where fuzzagent has OpenJ9's metadata and methods.
const (
	fuzzMetadata = 0x7e90_0000_0000
	fuzzCode     = 0x7ea0_0000_0000
	fuzzMethod   = 0x50_0000
	methodSize   = 32
)

// A metadataField is where the agent looks into metadata, by the layout for pointers of 8 bytes:
// an offset from the start, or from the stack atlas.
type metadataField struct {
	offset, size int
	inAtlas      bool
}

var metadataFields = []metadataField{
	{offset: 0, size: 8},                           // className
	{offset: 8, size: 8},                           // methodName
	{offset: 16, size: 8},                          // methodSignature
	{offset: 24, size: 8},                          // constantPool
	{offset: 32, size: 8},                          // ramMethod
	{offset: 40, size: 8},                          // startPC
	{offset: 48, size: 8},                          // endWarmPC
	{offset: 56, size: 8},                          // startColdPC
	{offset: 64, size: 8},                          // endPC
	{offset: 90, size: 2},                          // numExcptionRanges
	{offset: 92, size: 4},                          // size
	{offset: 96, size: 8},                          // flags
	{offset: 112, size: 8}, {offset: 112, size: 8}, // gcStackAtlas
	{offset: 120, size: 8}, {offset: 120, size: 8}, // inlinedCalls
	{offset: 18, size: 2, inAtlas: true}, // numberOfMapBytes
}

const fuzzAtlasField = 112

// metadata draws OpenJ9's metadata: a body by OpenJ9's rules, with damage where the agent looks and
// elsewhere; or the fuzzer's own bytes.
func (f *fuzzBytes) metadata() []byte {
	if f.u8()%4 == 3 {
		own := *f
		*f = nil
		return own
	}
	rng := rand.New(rand.NewPCG(uint64(f.u32()), 0))
	o := j9gen.Options{Layout: j9build64("", "").layout, Base: fuzzMetadata, StartPC: fuzzCode, CodeSize: 1 + f.u32()%400, Maps: 8,
		Method: fuzzMethod + methodSize*uint64(f.u8()%20)}
	for range 8 {
		o.Inlines = append(o.Inlines, fuzzMethod+methodSize*rng.Uint64N(20))
	}
	body := j9gen.Random(rng, o)
	blob, err := j9gen.Encode(body)
	if err != nil {
		panic(err) // what it made itself
	}
	if f.u8()%2 == 1 {
		for field := range 3 {
			blob = f.utf8(blob, 8*field)
		}
	}
	for range f.u8() % 8 {
		f.damage(blob)
	}
	return blob[:len(blob)-int(f.u8()/16)]
}

// utf8 appends a J9UTF8 and lets a field point to it.
func (f *fuzzBytes) utf8(blob []byte, field int) []byte {
	binary.LittleEndian.PutUint64(blob[field:], fuzzMetadata+uint64(len(blob)))
	text := f.text()
	if field == 16 && f.u8()%8 != 0 {
		text = "(" + text
	}
	return append(binary.LittleEndian.AppendUint16(blob, uint16(len(text))), text...)
}

// damage changes a field, or one byte somewhere.
func (f *fuzzBytes) damage(blob []byte) {
	where := int(f.u8())
	if where >= 128 {
		blob[int(f.u32())%len(blob)] = f.u8()
		return
	}
	field := metadataFields[where%len(metadataFields)]
	at := uint64(field.offset)
	if field.inAtlas {
		at += binary.LittleEndian.Uint64(blob[fuzzAtlasField:]) - fuzzMetadata
	}
	if at > uint64(len(blob)-8) {
		return
	}
	var word [8]byte
	copy(word[:field.size], blob[at:])
	value := binary.LittleEndian.Uint64(word[:])
	switch f.u8() % 6 {
	case 0:
		value = 0
	case 1:
		value = ^uint64(0)
	case 2:
		value = uint64(f.u32())<<32 | uint64(f.u32())
	case 3:
		value += uint64(int8(f.u8()))
	case 4:
		value = fuzzMetadata + uint64(f.u32())%uint64(len(blob)+64)
	case 5: // near the end
		value = fuzzMetadata + uint64(binary.LittleEndian.Uint32(blob[92:])) - uint64(f.u8()%32)
	}
	binary.LittleEndian.PutUint64(word[:], value)
	copy(blob[at:], word[:field.size])
}
