package inject

import (
	"bytes"
	"encoding/binary"
	"slices"

	"github.com/jitinject/jitinject/perfdata"
)

// A sink takes the records of a result and gives them the form of a file or of a
// pipe, whatever form they came in.
type sink interface {
	// Write takes whole records of the data, and raw their payloads.
	Write(p []byte) (int, error)
	raw(p []byte)

	// takes reports whether a record is about what the header says, and has been
	// taken care of: it must not be written.
	takes(rec perfdata.Record) (bool, error)

	// payload takes a part of the payload of the record before, if that was taken.
	payload(p []byte) (taken bool)

	// finish writes what is left, with the build ids of new objects and an idea of
	// where AUXTRACE records have gone.
	finish(buildIDs func(table []byte) []byte, aux func(index []byte) []byte) error

	// from says which file of a directory the next records are from; flush, that
	// nothing of them is to be held back.
	from(file int)
	flush()

	Offset() int64 // of what is written next
	Err() error
}

// newSink returns the sink for an input and an output. level says whether and how
// records are to be compressed.
func newSink(in *input, out *output, level int) (sink, error) {
	s, err := newPlainSink(in, out)
	if err != nil || level == 0 {
		return s, err
	}
	return newPackedSink(s, in.order, level)
}

func newPlainSink(in *input, out *output) (sink, error) {
	switch {
	case out.stream:
		w := perfdata.NewPipeWriter(out.file, in.order)
		s := &pipeSink{w}
		if in.file == nil {
			return s, nil
		}
		preamble, err := perfdata.AppendPreamble(nil, in.file)
		if err == nil {
			_, err = w.Write(preamble)
		}
		return s, err
	case out.dir:
		return newDirSink(in, out)
	case in.file != nil:
		w, err := perfdata.NewWriter(out.file, in.file)
		return &fileSink{Writer: w, features: slices.Clone(in.file.Features)}, err
	}
	return &streamToFile{fileSink: fileSink{Writer: perfdata.NewPipeToFile(out.file, in.order)}, order: in.order}, nil
}

// A pipeSink writes a pipe. What comes from a pipe goes through as it is.
type pipeSink struct{ *perfdata.PipeWriter }

func (s *pipeSink) takes(perfdata.Record) (bool, error) { return false, nil }
func (s *pipeSink) payload([]byte) bool                 { return false }
func (s *pipeSink) raw(p []byte)                        { s.Write(p) }
func (s *pipeSink) from(int)                            {}
func (s *pipeSink) flush()                              {}
func (s *pipeSink) finish(_, _ func([]byte) []byte) error {
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

func (s *fileSink) takes(perfdata.Record) (bool, error) { return false, nil }
func (s *fileSink) payload([]byte) bool                 { return false }
func (s *fileSink) raw(p []byte)                        { s.Write(p) }
func (s *fileSink) from(int)                            {}
func (s *fileSink) flush()                              {}

func (s *fileSink) finish(buildIDs, aux func([]byte) []byte) error {
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

// A featureSetter is a sink that can change a feature of the recording.
type featureSetter interface {
	set(perfdata.Feature)
}

// set adds a feature, in the order of the ids; the last one of an id counts.
func (s *fileSink) set(f perfdata.Feature) {
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

func (s *streamToFile) takes(rec perfdata.Record) (bool, error) {
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
			s.set(perfdata.NewFeature(id, bytes.Clone(content)))
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

func (s *streamToFile) payload(p []byte) bool {
	if s.within {
		s.tracing = append(s.tracing, p...)
	}
	return s.within
}

func (s *streamToFile) finish(buildIDs, aux func([]byte) []byte) error {
	if s.tracing != nil {
		s.set(perfdata.NewFeature(perfdata.FeatureTracingData, s.tracing))
	}
	if s.ids != nil {
		s.set(perfdata.NewFeature(perfdata.FeatureBuildID, s.ids))
	}
	return s.fileSink.finish(buildIDs, aux)
}
