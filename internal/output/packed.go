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

func NewPackedSink(s Sink, order binary.ByteOrder, level int) (Sink, error) {
	f := perfdata.PackerFeature(order, level)
	var first []byte
	switch s := s.(type) {
	case *fileSink:
		s.packed = true
		s.SetFeature(f)
	case *streamToFile:
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

func (s *packedSink) Write(b []byte) (int, error) { return s.packer.Write(b) }

// Raw takes what is no record.
func (s *packedSink) Raw(b []byte) { s.packer.Raw(b) }

func (s *packedSink) Flush() { s.packer.Flush() }

func (s *packedSink) Finish(buildIDs, aux func([]byte) []byte) error {
	if err := s.packer.Flush(); err != nil {
		return err
	}
	return s.Sink.Finish(buildIDs, aux)
}

func (s *packedSink) Offset() int64 {
	s.packer.Flush()
	return s.Sink.Offset()
}
