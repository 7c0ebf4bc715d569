package output

import (
	"encoding/binary"

	"github.com/jitinject/jitinject/perfdata"
)

// A packedSink compresses the records on their way into another sink.
type packedSink struct {
	Sink
	packer *perfdata.Packer
}

// NewPackedSink returns a sink that compresses records at a level and writes them to s.
func NewPackedSink(s Sink, order binary.ByteOrder, level int) (Sink, error) {
	f := perfdata.PackerFeature(order, level)
	var first []byte
	switch s := s.(type) {
	case *fileSink:
		s.packed = true
		s.SetFeature(f)
	default: // in a pipe, the feature is a record
		var err error
		if first, err = perfdata.AppendHeaderFeature(nil, order, &f); err != nil {
			return nil, err
		}
	}
	packer, err := perfdata.NewPacker(s, order, level, first)
	return &packedSink{s, packer}, err
}

// Write compresses whole records.
func (s *packedSink) Write(b []byte) (int, error) { return s.packer.Write(b) }

// Raw writes data that is no record.
func (s *packedSink) Raw(b []byte) { s.packer.Raw(b) }

// Finish writes what is left of the records, and finishes the other sink.
func (s *packedSink) Finish(buildIDs Extend, aux func([]byte) []byte) error {
	if err := s.packer.Flush(); err != nil {
		return err
	}
	return s.Sink.Finish(buildIDs, aux)
}

// Offset returns the offset after the records that are held back.
func (s *packedSink) Offset() int64 {
	s.packer.Flush()
	return s.Sink.Offset()
}
