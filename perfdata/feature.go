package perfdata

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math/bits"
	"slices"

	"github.com/jitinject/jitinject/internal/wire"
)

// A FeatureID is a bit of the header: enum HEADER_* of perf's util/header.h.
type FeatureID int

// The features with a name here. Features that newer perfs add are copied like the others.
const (
	FeatureTracingData FeatureID = iota + 1
	FeatureBuildID
	FeatureHostname
	FeatureOSRelease
	FeatureVersion
	FeatureArch
	FeatureNrCPUs
	FeatureCPUDesc
	FeatureCPUID
	FeatureTotalMem
	FeatureCmdline
	FeatureEventDesc
	FeatureCPUTopology
	FeatureNUMATopology
	FeatureBranchStack
	FeaturePMUMappings
	FeatureGroupDesc
	FeatureAuxtrace
	FeatureStat
	FeatureCache
	FeatureSampleTime
	FeatureMemTopology
	FeatureClockID
	FeatureDirFormat
	FeatureBPFProgInfo
	FeatureBPFBTF
	FeatureCompressed
	FeatureCPUPMUCaps
	FeatureClockData
	FeatureHybridTopology
	FeaturePMUCaps
	FeatureCPUDomainInfo
	FeatureEMachine
	FeatureCLNSize // of a line of the cache
)

// A FeatureSet is the header's bitmap of 256 bits.
type FeatureSet [4]uint64

// Has reports whether a feature's bit is set.
func (s *FeatureSet) Has(id FeatureID) bool {
	return id >= 0 && id < 256 && s[id/64]>>(id%64)&1 != 0
}

// Count returns the number of bits set.
func (s *FeatureSet) Count() (n int) {
	for _, w := range s {
		n += bits.OnesCount64(w)
	}
	return n
}

// parseFeatureSet reads the bitmap. It consists of C longs, so on a big-endian 32-bit machine the
// halves of each 64 bits are swapped. Every perf sets the HOSTNAME bit, which distinguishes the two
// orders. perf's perf_file_header__read relies on that as well.
func parseFeatureSet(raw []byte, order binary.ByteOrder) (s FeatureSet) {
	for i := range s {
		s[i] = order.Uint64(raw[8*i:])
	}
	if order == binary.BigEndian && !s.Has(FeatureHostname) {
		t := s
		for i := range t {
			t[i] = bits.RotateLeft64(t[i], 32)
		}
		if t.Has(FeatureHostname) {
			return t
		}
	}
	return s
}

// A Feature is one feature with its content, which is read when needed.
type Feature struct {
	ID      FeatureID
	Content *io.SectionReader
}

// readFeatures reads the feature table after the data. gap is the space between the table and the
// first feature: perf reserves space for more features than it then writes.
func readFeatures(src io.ReaderAt, h *Header, fileSize int64) (features []Feature, gap []byte, err error) {
	n := h.Features.Count()
	if n == 0 {
		return nil, nil, nil
	}
	at := int64(h.Data.Offset + h.Data.Size)
	table := make([]byte, n*16)
	if got, err := src.ReadAt(table, at); got < len(table) {
		if err == io.EOF {
			return nil, nil, &Error{Format: FormatName, Record: "feature table", Offset: at,
				Text: fmt.Sprintf("%d features need %d bytes, %d are there", n, len(table), got)}
		}
		return nil, nil, err
	}
	c := wire.NewCursor(FormatName, "feature table", table, h.Order, at)
	features = make([]Feature, 0, n)
	end := uint64(at) + uint64(len(table))
	first := uint64(fileSize)
	for id := FeatureID(0); id < 256; id++ {
		if !h.Features.Has(id) {
			continue
		}
		off, size := c.U64("offset"), c.U64("size")
		if off > uint64(fileSize) || size > uint64(fileSize)-off {
			c.Bad("", "feature %d: %d bytes at %#x reach beyond the end of the file, %d bytes long", id, size, off, fileSize)
			return nil, nil, c.Err()
		}
		first = min(first, off)
		features = append(features, Feature{id, io.NewSectionReader(src, int64(off), int64(size))})
	}
	if first > end && first-end <= 256*16 {
		gap = make([]byte, first-end)
		if n, err := src.ReadAt(gap, int64(end)); n < len(gap) {
			return nil, nil, err
		}
	}
	return features, gap, nil
}

// Bytes reads the whole content.
func (f *Feature) Bytes() ([]byte, error) {
	b := make([]byte, f.Content.Size())
	if n, err := f.Content.ReadAt(b, 0); n < len(b) {
		return nil, err
	}
	return b, nil
}

// NewFeature returns a feature with the given content.
func NewFeature(id FeatureID, content []byte) Feature {
	return Feature{id, io.NewSectionReader(bytes.NewReader(content), 0, int64(len(content)))}
}

// SetFeature adds a feature in the order of the ids. It replaces one of the same id.
func SetFeature(features []Feature, f Feature) []Feature {
	i, again := slices.BinarySearchFunc(features, f.ID, func(f Feature, id FeatureID) int { return int(f.ID - id) })
	if again {
		features[i] = f
		return features
	}
	return slices.Insert(features, i, f)
}
