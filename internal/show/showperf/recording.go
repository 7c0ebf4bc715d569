package showperf

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"

	"github.com/jitinject/jitinject/internal/safefile/sys"
	"github.com/jitinject/jitinject/internal/show"
	"github.com/jitinject/jitinject/perfdata"
)

// A recordingViewer shows a recording in any of its forms.
type recordingViewer struct {
	*show.Viewer
	order   binary.ByteOrder
	events  events
	layouts *perfdata.Layouts
	names   []string // of the files of a directory
	decoded perfdata.Sample
}

// Format is the format of perf.data, of which recordings are files, directories and
// streams.
var Format = show.Format{
	Name:      "a perf.data",
	Begins:    perfdata.HasMagic,
	Show:      showRecording,
	Types:     itemTypes(),
	Prefixes:  []string{perfPrefix},
	Hidden:    perfPrefix,
	Directory: &show.Directory{What: "of perf record, with a file called data", Show: showDirectory},
}

// perfPrefix begins the names of records in perf's headers.
const perfPrefix = "PERF_RECORD_"

func showRecording(v *show.Viewer) error {
	if v.File == nil {
		p, err := perfdata.OpenPipe(v.Pipe)
		if errors.Is(err, perfdata.ErrFile) {
			return v.NeedsFile("perf.data in file format")
		} else if err != nil {
			return err
		}
		return pipeFormat(v, p)
	}
	f, err := perfdata.Open(v.File, v.Size)
	if errors.Is(err, perfdata.ErrPipe) {
		p, err := perfdata.OpenPipe(io.NewSectionReader(v.File, 0, v.Size))
		if err != nil {
			return err
		}
		return pipeFormat(v, p)
	} else if err != nil {
		return err
	}
	v.Begun("perf.data")
	v.Out.End()
	r := &recordingViewer{Viewer: v, order: f.Header.Order}
	r.fileParts(f)
	r.records(f.Blocks())
	return nil
}

func pipeFormat(v *show.Viewer, p *perfdata.Pipe) error {
	v.Begun("perf.data in pipe format")
	v.Out.Word("order", show.OrderName(p.Order))
	v.Out.End()
	r := &recordingViewer{Viewer: v, order: p.Order, layouts: perfdata.NoLayouts(p.Order)}
	r.events.order = p.Order
	r.records(p.Blocks())
	return nil
}

func showDirectory(v *show.Viewer) error {
	d, err := perfdata.OpenDirFS(sys.DirFS(v.Path))
	if errors.Is(err, fs.ErrNotExist) {
		return show.ErrOtherDirectory
	} else if err != nil {
		return err
	}
	defer d.Close()
	v.Begun("perf.data in directory format")
	v.Out.Array("files")
	for _, name := range d.Names() {
		v.Out.ElemStr([]byte(name))
	}
	v.Out.EndArray()
	v.Out.End()
	r := &recordingViewer{Viewer: v, order: d.Header.Order, names: d.Names()}
	r.fileParts(d.File)
	for _, name := range d.Missing {
		v.Problem(-1, fmt.Errorf("the file %s of the directory is not there", name))
	}
	blocks, err := d.Blocks()
	if err != nil {
		v.Problem(-1, err)
		return nil
	}
	r.records(blocks)
	return nil
}

// fileParts shows what stands around the records of a file.
func (r *recordingViewer) fileParts(f *perfdata.File) {
	h := f.Header
	filter := &r.Opts.Filter
	r.events = newEvents(h.Order, f.Attrs)
	r.describeEvents(f)
	var err error
	if r.layouts, err = perfdata.NewLayouts(h.Order, f.Attrs); err != nil {
		r.Problem(int64(h.Attrs.Offset), err)
		r.layouts = perfdata.NoLayouts(h.Order)
	}
	if filter.IsPicky() {
		return
	}
	if filter.MatchesType("header") {
		o := r.Out
		o.Begin(show.Item{Offset: 0, Type: "header", Size: -1})
		o.Word("order", show.OrderName(h.Order))
		for _, s := range []struct {
			name string
			perfdata.Section
		}{{"attrs", h.Attrs}, {"data", h.Data}, {"event_types", h.EventTypes}} {
			if s.Size > 0 {
				o.Hex(s.name+"_offset", s.Offset)
				o.Num(s.name+"_size", s.Size)
			}
		}
		o.Num("attr_size", h.AttrSize)
		o.Num("features", uint64(h.Features.Count()))
		if h.Unfinished {
			o.Word("state", "unfinished: perf record did not finish")
		}
		o.End()
	}
	if filter.MatchesType("attr") {
		for i := range f.Attrs {
			r.Out.Begin(show.Item{Offset: int64(h.Attrs.Offset) + int64(i)*int64(h.AttrSize), Type: "attr", Size: int64(h.AttrSize)})
			r.attr(&f.Attrs[i], i)
			r.Out.Data("hex", f.Attrs[i].Raw, int64(h.Attrs.Offset)+int64(i)*int64(h.AttrSize))
			r.Out.End()
		}
	}
	if filter.MatchesType("feature") {
		r.features(f)
	}
}

// records shows the records of a stream.
func (r *recordingViewer) records(s perfdata.Stream) {
	for !r.Lost() {
		b, err := s.Next()
		if err == io.EOF {
			if text := perfdata.TextAfter(s); text != "" {
				r.Problem(s.Cut(), fmt.Errorf("text follows the last record, which is no part of the recording: %.300q", text))
			} else if at := s.Cut(); at >= 0 {
				r.Problem(at, errors.New("the input ends inside this record: its writer was stopped or is still writing"))
			}
			return
		}
		if err != nil {
			r.Problem(-1, fmt.Errorf("%w; the rest of the recording is left out", err))
			return
		}
		if b.Opaque {
			r.payload(&b)
			continue
		}
		for pos, rec := range b.Records() {
			r.record(&b, pos, rec)
			if r.Lost() {
				return
			}
		}
		r.Out.Flush()
	}
}

// payload shows bytes that belong to the record before them.
func (r *recordingViewer) payload(b *perfdata.Block) {
	if f := &r.Opts.Filter; !r.Opts.Hex || f.IsPicky() || !f.MatchesType("payload") {
		return
	}
	r.Out.Begin(show.Item{Offset: b.Offset, Type: "payload", Size: int64(len(b.Data))})
	r.Out.Data("hex", b.Data, b.Offset)
	r.Out.End()
}

// record shows a record if it is wanted.
func (r *recordingViewer) record(b *perfdata.Block, pos int, rec perfdata.Record) {
	f := &r.Opts.Filter
	switch rec.Type {
	case perfdata.RecordHeaderAttr:
		r.takeAttr(rec)
	case perfdata.RecordHeaderFeature:
		if id, content, ok := perfdata.HeaderFeature(r.order, rec); ok && id == perfdata.FeatureEventDesc {
			r.nameEvents(content)
		}
	}
	if rec.Type == perfdata.RecordSample && f.NoSamples || len(f.Types) > 0 && !f.MatchesType(rec.Type.String()) {
		return
	}
	p := record{Record: rec, recordingViewer: r, offset: b.Offset}
	if !b.Packed {
		p.offset += int64(pos)
	}
	p.find()
	if f.IsPicky() && !p.wanted() {
		return
	}
	time, timed := p.time()
	o := r.Out
	o.Begin(show.Item{Offset: p.offset, Type: rec.Type.String(), Size: int64(len(rec.Data)), Time: time, Timed: timed})
	if b.Packed {
		o.Hex("unpacked_offset", uint64(b.Pos)+uint64(pos))
	}
	if b.File > 0 && b.File < len(r.names) {
		o.Word("in", r.names[b.File])
	}
	err := p.show()
	o.Data("hex", rec.Data, p.offset)
	o.End()
	if err != nil {
		r.Problem(p.offset, err)
	}
}

// takeAttr takes over an event from a pipe.
func (r *recordingViewer) takeAttr(rec perfdata.Record) {
	a, err := perfdata.HeaderAttr(r.order, rec)
	if err != nil || len(r.events.list) >= math.MaxUint16 {
		return // it is shown as damaged
	}
	r.events.add(a)
	if l, err := perfdata.NewLayouts(r.order, r.events.attrs); err == nil {
		r.layouts = l
	}
}
