package showperf

import (
	"bytes"
	"fmt"

	"github.com/jitinject/jitinject/internal/show"
	"github.com/jitinject/jitinject/internal/wire"
	"github.com/jitinject/jitinject/perfdata"
)

// features shows the features of a file.
func (r *recordingViewer) features(f *perfdata.File) {
	for i := range f.Features {
		feature := &f.Features[i]
		_, at, size := feature.Content.Outer()
		r.Out.Begin(show.Item{Offset: at, Type: "feature", Size: size})
		content, err := r.content(feature)
		if err == nil {
			err = r.feature(feature.ID, content)
		}
		r.Out.Data("hex", content, at)
		r.Out.End()
		if err != nil {
			r.Problem(at, err)
		}
	}
}

// maxFeature bounds how much of a feature is read; tracing data may be large.
const maxFeature = 64 << 20

func (r *recordingViewer) content(f *perfdata.Feature) ([]byte, error) {
	if f.Content.Size() > maxFeature {
		return nil, fmt.Errorf("feature %d has %d bytes, too many to be shown", f.ID, f.Content.Size())
	}
	return f.Bytes()
}

// featureCursor reads a feature.
func (r *recordingViewer) featureCursor(id perfdata.FeatureID, content []byte) wire.Cursor {
	return wire.NewCursor(perfdata.FormatName, "feature "+show.NameOf(featureNames, uint64(id)), content, r.order, 0)
}

// feature shows what a feature says.
func (r *recordingViewer) feature(id perfdata.FeatureID, content []byte) error {
	o := r.Out
	o.Named("feature", uint64(id), show.NameOf(featureNames, uint64(id)))
	c := r.featureCursor(id, content)
	switch id {
	case perfdata.FeatureHostname, perfdata.FeatureOSRelease, perfdata.FeatureVersion, perfdata.FeatureArch,
		perfdata.FeatureCPUDesc, perfdata.FeatureCPUID:
		o.Str("value", featureString(&c))
	case perfdata.FeatureNrCPUs:
		o.Num("available", uint64(c.U32("available")))
		o.Num("online", uint64(c.U32("online")))
	case perfdata.FeatureTotalMem:
		o.Num("kilobytes", c.U64("total_mem"))
	case perfdata.FeatureCmdline:
		o.Array("args")
		for range counted(&c, "nr") {
			o.ElemStr(featureString(&c))
		}
		o.EndArray()
	case perfdata.FeatureBuildID:
		o.List("build_ids")
		defer o.EndList()
		for e, err := range perfdata.BuildIDs(r.order, content) {
			if err != nil {
				return err
			}
			o.Row()
			buildID(r.Viewer, &e)
		}
	case perfdata.FeatureEventDesc:
		return r.eventDesc(&c, func(name []byte, attr []byte, ids int) {
			o.Row()
			o.Str("event", name)
			o.Num("ids", uint64(ids))
		})
	case perfdata.FeaturePMUMappings:
		o.List("pmus")
		for range counted(&c, "nr") {
			o.Row()
			o.Num("pmu", uint64(c.U32("type")))
			o.Str("name", featureString(&c))
		}
		o.EndList()
	case perfdata.FeatureSampleTime:
		o.Time("first", c.U64("first"))
		o.Time("last", c.U64("last"))
	case perfdata.FeatureClockID:
		o.Num("resolution_ns", c.U64("clockid_res_ns"))
	case perfdata.FeatureClockData:
		o.Num("version", uint64(c.U32("version")))
		clock := c.U32("clockid")
		o.Named("clockid", uint64(clock), show.NameOf(clockNames, uint64(clock)))
		o.Time("wall_clock", c.U64("wall_clock_ns"))
		o.Time("clock", c.U64("clockid_time_ns"))
	case perfdata.FeatureCompressed:
		for _, name := range []string{"version", "kind", "level", "ratio", "mmap_len"} {
			o.Num(name, uint64(c.U32(name)))
		}
	case perfdata.FeatureDirFormat:
		o.Num("version", c.U64("version"))
	case perfdata.FeatureBranchStack:
	default:
		o.Num("not_decoded", uint64(len(content)))
	}
	return c.Err()
}

// featureString reads a string of a feature: u32 size, and so many bytes, of which NULs
// pad the end.
func featureString(c *wire.Cursor) []byte {
	s := c.Bytes("string", uint64(c.U32("string size")))
	if n := bytes.IndexByte(s, 0); n >= 0 {
		s = s[:n]
	}
	return s
}

// counted reads how many elements follow; there cannot be more than bytes.
func counted(c *wire.Cursor, field string) int {
	n := c.U32(field)
	if int64(n) > int64(c.Len()) {
		c.Bad(field, "is %d, with %d bytes left", n, c.Len())
		return 0
	}
	return int(n)
}

// eventDesc walks the feature EVENT_DESC: u32 nr, u32 attr_size, nr times { attr, u32
// nr_ids, name, u64 ids[nr_ids] }.
func (r *recordingViewer) eventDesc(c *wire.Cursor, f func(name, attr []byte, ids int)) error {
	r.Out.List("events")
	defer r.Out.EndList()
	return walkEventDesc(c, f)
}

func walkEventDesc(c *wire.Cursor, f func(name, attr []byte, ids int)) error {
	n := counted(c, "nr")
	size := c.U32("attr_size")
	for range n {
		attr := c.Bytes("attr", uint64(size))
		ids := c.U32("nr_ids")
		name := featureString(c)
		c.Bytes("ids", 8*uint64(ids))
		if err := c.Err(); err != nil {
			return err
		}
		f(name, attr, int(ids))
	}
	return c.Err()
}

// describeEvents gives events the names that perf record knew them by.
func (r *recordingViewer) describeEvents(f *perfdata.File) {
	feature := f.Feature(perfdata.FeatureEventDesc)
	if feature == nil {
		return
	}
	content, err := r.content(feature)
	if err != nil {
		return // it is shown as damaged
	}
	r.nameEvents(content)
}

// nameEvents takes names of events from the content of EVENT_DESC.
func (r *recordingViewer) nameEvents(content []byte) {
	c := r.featureCursor(perfdata.FeatureEventDesc, content)
	i := 0
	_ = walkEventDesc(&c, func(name, _ []byte, _ int) {
		if i < len(r.events.list) {
			r.events.list[i].name = string(name)
		}
		i++
	})
}
