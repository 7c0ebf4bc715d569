package show

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"

	"github.com/jitinject/jitinject/perfdata"
)

// A recordingViewer shows a recording in any of its forms.
type recordingViewer struct {
	*viewer
	order   binary.ByteOrder
	events  events
	layouts *perfdata.Layouts
	names   []string // of the files of a directory
	decoded perfdata.Sample
}

func showRecording(v *viewer) error {
	if v.file == nil {
		p, err := perfdata.OpenPipe(v.pipe)
		if errors.Is(err, perfdata.ErrFile) {
			return v.needsFile("perf.data in file format")
		} else if err != nil {
			return err
		}
		return v.pipeFormat(p)
	}
	f, err := perfdata.Open(v.file, v.size)
	if errors.Is(err, perfdata.ErrPipe) {
		p, err := perfdata.OpenPipe(io.NewSectionReader(v.file, 0, v.size))
		if err != nil {
			return err
		}
		return v.pipeFormat(p)
	} else if err != nil {
		return err
	}
	v.begun("perf.data")
	v.out.end()
	r := &recordingViewer{viewer: v, order: f.Header.Order}
	r.fileParts(f)
	r.records(f.Blocks())
	return nil
}

func (v *viewer) pipeFormat(p *perfdata.Pipe) error {
	v.begun("perf.data in pipe format")
	v.out.word("order", orderName(p.Order))
	v.out.end()
	r := &recordingViewer{viewer: v, order: p.Order, layouts: perfdata.NoLayouts(p.Order)}
	r.events.order = p.Order
	r.records(p.Blocks())
	return nil
}

func showDirectory(v *viewer) error {
	d, err := perfdata.OpenDir(v.path)
	if errors.Is(err, fs.ErrNotExist) {
		return errors.New("it is a directory, but none that perf record makes, with a file called data in it, nor one with captures of OpenJ9's metadata, which are files X.bin with X.json beside them")
	} else if err != nil {
		return err
	}
	defer d.Close()
	v.begun("perf.data in directory format")
	v.out.array("files")
	for _, name := range d.Names() {
		v.out.elemStr([]byte(name))
	}
	v.out.endArray()
	v.out.end()
	r := &recordingViewer{viewer: v, order: d.Header.Order, names: d.Names()}
	r.fileParts(d.File)
	for _, name := range d.Missing {
		v.problem(-1, fmt.Errorf("the file %s of the directory is not there", name))
	}
	blocks, err := d.Blocks()
	if err != nil {
		v.problem(-1, err)
		return nil
	}
	r.records(blocks)
	return nil
}

// fileParts shows what stands around the records of a file.
func (r *recordingViewer) fileParts(f *perfdata.File) {
	h := f.Header
	filter := &r.opts.Filter
	r.events = newEvents(h.Order, f.Attrs)
	r.describeEvents(f)
	var err error
	if r.layouts, err = perfdata.NewLayouts(h.Order, f.Attrs); err != nil {
		r.problem(int64(h.Attrs.Offset), err)
		r.layouts = perfdata.NoLayouts(h.Order)
	}
	if filter.picky() {
		return
	}
	if filter.typed("header") {
		o := r.out
		o.begin(item{offset: 0, typ: "header", size: -1})
		o.word("order", orderName(h.Order))
		for _, s := range []struct {
			name string
			perfdata.Section
		}{{"attrs", h.Attrs}, {"data", h.Data}, {"event_types", h.EventTypes}} {
			if s.Size > 0 {
				o.hex(s.name+"_offset", s.Offset)
				o.num(s.name+"_size", s.Size)
			}
		}
		o.num("attr_size", h.AttrSize)
		o.num("features", uint64(h.Features.Count()))
		if h.Unfinished {
			o.word("state", "unfinished: perf record did not come to its end")
		}
		o.end()
	}
	if filter.typed("attr") {
		for i := range f.Attrs {
			r.out.begin(item{offset: int64(h.Attrs.Offset) + int64(i)*int64(h.AttrSize), typ: "attr", size: int64(h.AttrSize)})
			r.attr(&f.Attrs[i], i)
			r.out.data("hex", f.Attrs[i].Raw, int64(h.Attrs.Offset)+int64(i)*int64(h.AttrSize))
			r.out.end()
		}
	}
	if filter.typed("feature") {
		r.features(f)
	}
}

// records shows the records of a stream.
func (r *recordingViewer) records(s perfdata.Stream) {
	for !r.lost() {
		b, err := s.Next()
		if err == io.EOF {
			if at := s.Cut(); at >= 0 {
				r.problem(at, errors.New("the input ends inside this record: its writer was stopped, or still writes"))
			}
			return
		}
		if err != nil {
			r.problem(-1, fmt.Errorf("%w; the rest of the recording is left out", err))
			return
		}
		if b.Opaque {
			r.payload(&b)
			continue
		}
		for pos, rec := range b.Records() {
			r.record(&b, pos, rec)
			if r.lost() {
				return
			}
		}
		r.out.flush()
	}
}

// payload shows bytes that belong to the record before them.
func (r *recordingViewer) payload(b *perfdata.Block) {
	if f := &r.opts.Filter; !r.opts.Hex || f.picky() || !f.typed("payload") {
		return
	}
	r.out.begin(item{offset: b.Offset, typ: "payload", size: int64(len(b.Data))})
	r.out.data("hex", b.Data, b.Offset)
	r.out.end()
}

// record shows a record if it is wanted.
func (r *recordingViewer) record(b *perfdata.Block, pos int, rec perfdata.Record) {
	f := &r.opts.Filter
	switch rec.Type {
	case perfdata.RecordHeaderAttr:
		r.takeAttr(rec)
	case perfdata.RecordHeaderFeature:
		if id, content, ok := perfdata.HeaderFeature(r.order, rec); ok && id == perfdata.FeatureEventDesc {
			r.nameEvents(content)
		}
	}
	if rec.Type == perfdata.RecordSample && f.NoSamples || len(f.Types) > 0 && !f.typed(rec.Type.String()) {
		return
	}
	p := perfRecord{Record: rec, recordingViewer: r, offset: b.Offset}
	if !b.Packed {
		p.offset += int64(pos)
	}
	p.find()
	if f.picky() && !p.wanted() {
		return
	}
	time, timed := p.time()
	o := r.out
	o.begin(item{offset: p.offset, typ: rec.Type.String(), size: int64(len(rec.Data)), time: time, timed: timed})
	if b.Packed {
		o.hex("unpacked_offset", uint64(b.Pos)+uint64(pos))
	}
	if b.File > 0 && b.File < len(r.names) {
		o.word("in", r.names[b.File])
	}
	err := p.show()
	o.data("hex", rec.Data, p.offset)
	o.end()
	if err != nil {
		r.problem(p.offset, err)
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

func orderName(o binary.ByteOrder) string {
	if o == binary.ByteOrder(binary.BigEndian) {
		return "big-endian"
	}
	return "little-endian"
}
