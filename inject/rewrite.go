package inject

import (
	"bytes"
	"context"
	"encoding/binary"
	"io"
	"math"
	"slices"

	"golang.org/x/sys/unix"

	"github.com/jitinject/jitinject/internal/jitobj"
	"github.com/jitinject/jitinject/perfdata"
)

// A rewriter copies a recording and puts the mappings of a plan in.
type rewriter struct {
	rec     *recording
	plan    *plan
	sum     *Summary
	out     *perfdata.Writer
	markers map[int64]bool // by offset, those that have done their work
	jit     map[uint32][]span
	next    int // mapping that is put in next
	trailer perfdata.Trailer
	buf     []byte
	path    []byte
	aux     map[uint64]uint64 // where AUXTRACE records were, and where they are
}

// rewrite writes the result.
func rewrite(ctx context.Context, rec *recording, p *plan, markers []marker, dst perfdata.WriteTarget, sum *Summary) error {
	out, err := perfdata.NewWriter(dst, rec.file)
	if err != nil {
		return err
	}
	r := &rewriter{
		rec: rec, plan: p, sum: sum, out: out, markers: make(map[int64]bool), jit: rec.genealogy.jitSpans(markers),
		trailer: perfdata.TrailerOf(trackingAttr(rec.file.Attrs)), aux: make(map[uint64]uint64),
	}
	for _, m := range markers {
		r.markers[m.offset] = true
	}
	blocks := rec.file.Blocks()
	for ctx.Err() == nil && out.Err() == nil {
		block, err := blocks.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
		r.block(&block)
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	r.mappingsUpTo(math.MaxUint64)
	features, err := r.features()
	if err != nil {
		return err
	}
	return r.out.Close(features)
}

func (r *rewriter) order() binary.ByteOrder { return r.rec.file.Header.Order }

// block copies one block: runs of records that stay as they are go through as
// runs. Errors of the writer stick and come up when it is closed.
func (r *rewriter) block(b *perfdata.Block) {
	run := 0 // start of what is not copied yet
	for pos, rec := range b.Records() {
		time, timed := r.rec.layouts.Time(rec)
		if timed && r.next < len(r.plan.mappings) && r.plan.mappings[r.next].time <= time {
			r.out.Write(b.Data[run:pos])
			run = pos
			r.mappingsUpTo(time)
		}
		switch rec.Type {
		case perfdata.RecordMmap, perfdata.RecordMmap2:
			if offset := b.Offset + int64(pos); r.drops(rec, time, offset) {
				r.out.Write(b.Data[run:pos])
				run = pos + len(rec.Data)
				r.sum.Dropped++
				if !r.rec.timed && r.markers[offset] {
					r.mappingsUpTo(math.MaxUint64)
				}
			}
		case perfdata.RecordAuxtrace:
			r.aux[uint64(b.Offset)+uint64(pos)] = uint64(r.out.Offset()) + uint64(pos-run)
		}
	}
	r.out.Write(b.Data[run:])
}

// mappingsUpTo puts in the mappings up to a time.
func (r *rewriter) mappingsUpTo(time uint64) {
	r.buf = r.buf[:0]
	for ; r.next < len(r.plan.mappings) && r.plan.mappings[r.next].time <= time; r.next++ {
		m := &r.plan.mappings[r.next]
		o := &r.plan.objects[m.object]
		if !o.made {
			continue
		}
		record := perfdata.Mmap{PID: m.pid, TID: m.tid, Addr: m.addr, Len: m.len, Prot: unix.PROT_READ | unix.PROT_EXEC, Flags: unix.MAP_PRIVATE}
		if m.clear {
			record.Filename = []byte(clearName)
		} else {
			record.PgOff = jitobj.TextOffset
			record.BuildID = o.buildID[:]
			r.path = o.appendPath(r.path[:0])
			record.Filename = r.path
		}
		r.buf = perfdata.AppendMmap2(r.buf, r.order(), &record, m.time, &r.trailer)
		r.sum.Mappings++
	}
	r.out.Write(r.buf)
}

// drops reports whether a mapping stays out of the result: a marker that has
// done its work, or anonymous memory of a process that makes code in it.
func (r *rewriter) drops(rec perfdata.Record, time uint64, offset int64) bool {
	if r.markers[offset] {
		return true
	}
	m, err := r.rec.layouts.Mmap(rec)
	if err != nil || !isAnonymous(m.Filename) {
		return false
	}
	for _, s := range r.jit[m.PID] {
		if s.holds(time, offset) {
			return true
		}
	}
	return false
}

// trackingAttr returns the event whose records tell of mappings: new records of
// that kind look as if they came from it.
func trackingAttr(attrs []perfdata.Attr) *perfdata.Attr {
	for i := range attrs {
		if attrs[i].Has(perfdata.FlagMmap) || attrs[i].Has(perfdata.FlagMmap2) {
			return &attrs[i]
		}
	}
	return &attrs[0]
}

// features returns the features of the result. All stay as they are, but for
// the build-id table, which gets the objects, and the index of AUXTRACE records,
// which has their file offsets. A recording without a build-id table gets none:
// the mappings carry the ids.
func (r *rewriter) features() ([]perfdata.Feature, error) {
	features := append([]perfdata.Feature(nil), r.rec.file.Features...)
	for i := range features {
		f := &features[i]
		var change func([]byte) []byte
		switch f.ID {
		case perfdata.FeatureBuildID:
			change = r.extendBuildIDs
		case perfdata.FeatureAuxtrace:
			change = r.moveAuxIndex
		default:
			continue
		}
		content, err := f.Bytes()
		if err != nil {
			return nil, err
		}
		content = change(content)
		f.Content = io.NewSectionReader(bytes.NewReader(content), 0, int64(len(content)))
	}
	return features, nil
}

func (r *rewriter) extendBuildIDs(table []byte) []byte {
	table = slices.Clip(table)
	for i := range r.plan.objects {
		if o := &r.plan.objects[i]; o.made {
			r.path = o.appendPath(r.path[:0])
			table = perfdata.AppendBuildID(table, r.order(), r.path, o.buildID[:])
		}
	}
	return table
}

func (r *rewriter) moveAuxIndex(index []byte) []byte {
	return perfdata.MapAuxtraceIndex(r.order(), index, func(offset uint64) uint64 {
		if moved, ok := r.aux[offset]; ok {
			return moved
		}
		return offset
	})
}
