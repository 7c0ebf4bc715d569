package inject

import (
	"encoding/binary"

	"github.com/jitinject/jitinject/perfdata"
)

// A packedSink compresses the records on their way into another sink.
type packedSink struct {
	sink
	packer *perfdata.Packer
}

func newPackedSink(s sink, order binary.ByteOrder, level int) (sink, error) {
	f := perfdata.PackerFeature(order, level)
	var first []byte
	switch s := s.(type) {
	case *fileSink:
		s.packed = true
		s.set(f)
	case *streamToFile:
		s.packed = true
		s.set(f)
	default: // in a pipe, the feature is a record
		var err error
		if first, err = perfdata.AppendHeaderFeature(nil, order, &f); err != nil {
			return nil, err
		}
	}
	packer, err := perfdata.NewPacker(s, order, level, first)
	return &packedSink{s, packer}, err
}

func (s *packedSink) Write(b []byte) (int, error) { return s.packer.Write(b) }

// raw takes what is no record.
func (s *packedSink) raw(b []byte) { s.packer.Raw(b) }
func (s *packedSink) flush()       { s.packer.Flush() }

func (s *packedSink) finish(buildIDs, aux func([]byte) []byte) error {
	if err := s.packer.Flush(); err != nil {
		return err
	}
	return s.sink.finish(buildIDs, aux)
}

func (s *packedSink) Offset() int64 {
	s.packer.Flush()
	return s.sink.Offset()
}
