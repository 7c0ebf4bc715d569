package output

import (
	"encoding/binary"
	"io"
	"slices"

	"github.com/jitinject/jitinject/internal/recording"
	"github.com/jitinject/jitinject/perfdata"
)

// A Sink writes the records of a result as a file or as a pipe, independent of their form in the
// input.
type Sink interface {
	// Write writes whole records of the data. Raw writes their payloads.
	Write(p []byte) (int, error)
	Raw(p []byte)

	// Finish writes what is left. buildIDs adds the new objects to a build-id table. aux
	// moves the offsets in an index of AUXTRACE records.
	Finish(buildIDs Extend, aux func(index []byte) []byte) error

	// From sets which file of a directory the next records are from.
	From(file int)

	Offset() int64 // offset in the output at which the next record begins
	// Err returns the first error of writing.
	Err() error
}

// Extend returns a longer content of a feature.
type Extend func(content *io.SectionReader) *io.SectionReader

// New returns the sink for an input and an output. level is that of compression, 0 for none.
func New(in *recording.Input, out *Output, level int) (Sink, error) {
	s, err := NewPlain(in, out)
	if err != nil || level == 0 {
		return s, err
	}
	return NewPackedSink(s, in.Order, level)
}

// NewPlain returns the sink for an input and an output, without compression.
func NewPlain(in *recording.Input, out *Output) (Sink, error) {
	switch {
	case out.Stream:
		w := perfdata.NewPipeWriter(out.file, in.Order)
		preamble, err := perfdata.AppendPreamble(nil, in.File)
		if err == nil {
			_, err = w.Write(preamble)
		}
		return &pipeSink{PipeWriter: w}, err
	case out.dir:
		return newDirSink(in, out)
	}
	w, err := perfdata.NewWriter(out.file, in.File)
	return &fileSink{Writer: w, features: slices.Clone(in.File.Features)}, err
}

// A pipeSink writes a pipe.
type pipeSink struct{ *perfdata.PipeWriter }

// From does nothing: there is one file.
func (*pipeSink) From(int) {}

// Raw writes payloads of records.
func (s *pipeSink) Raw(p []byte) { s.Write(p) }

// Finish returns the first error of writing. The build ids of mappings suffice in a pipe.
func (s *pipeSink) Finish(Extend, func([]byte) []byte) error {
	return s.Err()
}

// A fileSink writes a file. It keeps the features of the input, except for those about a form
// that the result does not have.
type fileSink struct {
	*perfdata.Writer
	features []perfdata.Feature
	packed   bool // the records are compressed, and a feature says how
	dir      bool // it is one of the files of a directory
}

// From does nothing: there is one file.
func (*fileSink) From(int) {}

// Raw writes payloads of records.
func (s *fileSink) Raw(p []byte) { s.Write(p) }

// Finish writes the features and the header.
func (s *fileSink) Finish(buildIDs Extend, aux func([]byte) []byte) error {
	s.features = slices.DeleteFunc(s.features, func(f perfdata.Feature) bool {
		return f.ID == perfdata.FeatureCompressed && !s.packed || f.ID == perfdata.FeatureDirFormat && !s.dir
	})
	for i := range s.features {
		switch f := &s.features[i]; f.ID {
		case perfdata.FeatureBuildID:
			f.Content = buildIDs(f.Content)
		case perfdata.FeatureAuxtrace:
			index, err := f.Bytes()
			if err != nil {
				return err
			}
			*f = perfdata.NewFeature(f.ID, aux(index))
		}
	}
	return s.Close(s.features)
}

// A FeatureSetter is a sink that can change a feature of the recording.
type FeatureSetter interface {
	// SetFeature sets a feature.
	SetFeature(perfdata.Feature)
}

// SetFeature adds a feature, or replaces the one of the same id.
func (s *fileSink) SetFeature(f perfdata.Feature) { s.features = perfdata.SetFeature(s.features, f) }

// MaxHeld is how many bytes of new records are collected before they are written.
const MaxHeld = 64 << 10

// TrackingAttr returns the event that has records of mappings. New records of that kind appear to
// come from it. attrs must not be empty.
func TrackingAttr(attrs []perfdata.Attr) *perfdata.Attr {
	for i := range attrs {
		if attrs[i].Has(perfdata.FlagMmap) || attrs[i].Has(perfdata.FlagMmap2) {
			return &attrs[i]
		}
	}
	return &attrs[0]
}

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
