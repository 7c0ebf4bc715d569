package output

import (
	"bytes"
	"encoding/binary"
	"slices"

	"github.com/jitinject/jitinject/internal/recording"
	"github.com/jitinject/jitinject/perfdata"
)

// A Sink takes the records of a result and gives them the form of a file or of a
// pipe, whatever form they came in.
type Sink interface {
	// Write takes whole records of the data, and raw their payloads.
	Write(p []byte) (int, error)
	Raw(p []byte)

	// takes reports whether a record is about what the header says, and has been
	// taken care of: it must not be written.
	Takes(rec perfdata.Record) (bool, error)

	// payload takes a part of the payload of the record before, if that was taken.
	Payload(p []byte) (taken bool)

	// finish writes what is left, with the build ids of new objects and an idea of
	// where AUXTRACE records have gone.
	Finish(buildIDs func(table []byte) []byte, aux func(index []byte) []byte) error

	// from says which file of a directory the next records are from; flush, that
	// nothing of them is to be held back.
	From(file int)
	Flush()

	Offset() int64 // of what is written next
	Err() error
}

// New returns the sink for an input and an output. level says whether and how
// records are to be compressed.
func New(in *recording.Input, out *Output, level int) (Sink, error) {
	s, err := NewPlain(in, out)
	if err != nil || level == 0 {
		return s, err
	}
	return NewPackedSink(s, in.Order, level)
}

func NewPlain(in *recording.Input, out *Output) (Sink, error) {
	switch {
	case out.Stream:
		w := perfdata.NewPipeWriter(out.file, in.Order)
		s := &pipeSink{w}
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

// A pipeSink writes a pipe. What comes from a pipe goes through as it is.
type pipeSink struct{ *perfdata.PipeWriter }

func (s *pipeSink) Takes(perfdata.Record) (bool, error) { return false, nil }

func (s *pipeSink) Payload([]byte) bool { return false }

func (s *pipeSink) Raw(p []byte) { s.Write(p) }

func (s *pipeSink) From(int) {}

func (s *pipeSink) Flush() {}

func (s *pipeSink) Finish(_, _ func([]byte) []byte) error {
	return s.Err()
}

// A fileSink writes a file. It keeps the features but for those about a form that
// the result does not have.
type fileSink struct {
	*perfdata.Writer
	features []perfdata.Feature
	packed   bool // the records are compressed, and a feature says how
	dir      bool // it is one of the files of a directory
}

func (s *fileSink) Takes(perfdata.Record) (bool, error) { return false, nil }

func (s *fileSink) Payload([]byte) bool { return false }

func (s *fileSink) Raw(p []byte) { s.Write(p) }

func (s *fileSink) From(int) {}

func (s *fileSink) Flush() {}

func (s *fileSink) Finish(buildIDs, aux func([]byte) []byte) error {
	s.features = slices.DeleteFunc(s.features, func(f perfdata.Feature) bool {
		return f.ID == perfdata.FeatureCompressed && !s.packed || f.ID == perfdata.FeatureDirFormat && !s.dir
	})
	for i := range s.features {
		f := &s.features[i]
		change := buildIDs
		switch f.ID {
		case perfdata.FeatureBuildID:
		case perfdata.FeatureAuxtrace:
			change = aux
		default:
			continue
		}
		content, err := f.Bytes()
		if err != nil {
			return err
		}
		*f = perfdata.NewFeature(f.ID, change(content))
	}
	return s.Close(s.features)
}

// A FeatureSetter is a sink that can change a feature of the recording.
type FeatureSetter interface {
	SetFeature(perfdata.Feature)
}

// SetFeature adds a feature, in the order of the ids; the last one of an id counts.
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
	tracing []byte // contents of the feature, while its payload comes
	within  bool
	ids     []byte // build-id table
}

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

func (s *streamToFile) Payload(p []byte) bool {
	if s.within {
		s.tracing = append(s.tracing, p...)
	}
	return s.within
}

func (s *streamToFile) Finish(buildIDs, aux func([]byte) []byte) error {
	if s.tracing != nil {
		s.SetFeature(perfdata.NewFeature(perfdata.FeatureTracingData, s.tracing))
	}
	if s.ids != nil {
		s.SetFeature(perfdata.NewFeature(perfdata.FeatureBuildID, s.ids))
	}
	return s.fileSink.Finish(buildIDs, aux)
}
