package output

import (
	"bytes"
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

	// Takes reports whether the sink has used a record for its header. Such a record must not
	// be written.
	Takes(rec perfdata.Record) (bool, error)

	// Payload takes a part of the payload of the record before, if that was taken.
	Payload(p []byte) (taken bool)

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
		s := &pipeSink{PipeWriter: w}
		if in.File == nil {
			return s, nil
		}
		preamble, err := perfdata.AppendPreamble(nil, in.File)
		if err == nil {
			_, err = w.Write(preamble)
		}
		return s, err
	case out.dir:
		return newDirSink(in, out)
	case in.File != nil:
		w, err := perfdata.NewWriter(out.file, in.File)
		return &fileSink{Writer: w, features: slices.Clone(in.File.Features)}, err
	}
	return &streamToFile{fileSink: fileSink{Writer: perfdata.NewPipeToFile(out.file, in.Order)}, order: in.Order}, nil
}

// A plain sink takes no record for a header, and has one file.
type plain struct{}

// Takes returns false.
func (plain) Takes(perfdata.Record) (bool, error) { return false, nil }

// Payload returns false.
func (plain) Payload([]byte) bool { return false }

// From does nothing.
func (plain) From(int) {}

// A pipeSink writes a pipe. Records from a pipe are written unchanged.
type pipeSink struct {
	plain
	*perfdata.PipeWriter
}

// Raw writes payloads of records.
func (s *pipeSink) Raw(p []byte) { s.Write(p) }

// Finish returns the first error of writing. The build ids of mappings suffice in a pipe.
func (s *pipeSink) Finish(Extend, func([]byte) []byte) error {
	return s.Err()
}

// A fileSink writes a file. It keeps the features of the input, except for those about a form
// that the result does not have.
type fileSink struct {
	plain
	*perfdata.Writer
	features []perfdata.Feature
	packed   bool // the records are compressed, and a feature says how
	dir      bool // it is one of the files of a directory
}

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

// SetFeature adds a feature, in the order of the ids. It replaces one of the same id.
func (s *fileSink) SetFeature(f perfdata.Feature) {
	i, again := slices.BinarySearchFunc(s.features, f.ID, func(f perfdata.Feature, id perfdata.FeatureID) int { return int(f.ID - id) })
	if again {
		s.features[i] = f
	} else {
		s.features = slices.Insert(s.features, i, f)
	}
}

// A streamToFile makes a header of the records that stand for it in a pipe.
type streamToFile struct {
	fileSink
	order   binary.ByteOrder
	tracing []byte // contents of the feature so far
	// within says that the next payload is of that feature.
	within bool
	ids    []byte // build-id table
	wrote  bool   // there is data
}

// Write writes whole records of the data.
func (s *streamToFile) Write(p []byte) (int, error) {
	s.wrote = s.wrote || len(p) > 0
	return s.fileSink.Write(p)
}

// Takes adds what a record says about the header.
func (s *streamToFile) Takes(rec perfdata.Record) (bool, error) {
	s.within = false
	switch rec.Type {
	case perfdata.RecordHeaderAttr:
		attr, err := perfdata.HeaderAttr(s.order, rec)
		if err == nil {
			s.AddAttr(attr)
		}
		return true, err
	case perfdata.RecordHeaderFeature:
		if id, content, ok := perfdata.HeaderFeature(s.order, rec); ok {
			s.SetFeature(perfdata.NewFeature(id, bytes.Clone(content)))
		}
		return true, nil
	case perfdata.RecordHeaderBuildID:
		s.ids = perfdata.AppendBuildIDRecord(s.ids, s.order, rec)
		return true, nil
	case perfdata.RecordTracingData:
		s.within = true
		return true, nil
	}
	return false, nil
}

// Payload adds p to the feature TRACING_DATA, if the record before was of that.
func (s *streamToFile) Payload(p []byte) bool {
	if s.within {
		s.tracing = append(s.tracing, p...)
	}
	return s.within
}

// Finish adds the features that are complete now, and writes the file. perf refuses a file without
// data, so Finish returns perfdata.ErrNoData for that. A pipe that breaks off early has none.
func (s *streamToFile) Finish(buildIDs Extend, aux func([]byte) []byte) error {
	if !s.wrote && s.Err() == nil {
		return perfdata.ErrNoData
	}
	if s.tracing != nil {
		s.SetFeature(perfdata.NewFeature(perfdata.FeatureTracingData, s.tracing))
	}
	if s.ids != nil {
		s.SetFeature(perfdata.NewFeature(perfdata.FeatureBuildID, s.ids))
	}
	return s.fileSink.Finish(buildIDs, aux)
}
