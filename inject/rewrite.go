package inject

import (
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
	out     sink
	markers map[int64]bool // by position, those that have done their work
	jit     map[uint32][]span
	next    int // mapping that is put in next
	trailer perfdata.Trailer
	buf     []byte
	path    []byte
	aux     map[uint64]uint64 // where AUXTRACE records were in a file, and where they are
}

// rewrite writes the result.
func rewrite(ctx context.Context, rec *recording, p *plan, markers []marker, traces []*trace, out *output, level int, sum *Summary) error {
	var dst sink
	var err error
	if len(traces) > 0 {
		dst, err = newTraceSink(ctx, rec, traces, out, level, sum)
	} else {
		dst, err = newSink(rec.in, out, level)
	}
	if err != nil {
		return err
	}
	r := &rewriter{
		rec: rec, plan: p, sum: sum, out: dst, markers: make(map[int64]bool), jit: rec.genealogy.jitSpans(markers),
		aux: make(map[uint64]uint64),
	}
	for _, m := range markers {
		r.markers[m.pos] = true
	}
	if len(rec.attrs) > 0 {
		r.trailer = perfdata.TrailerOf(trackingAttr(rec.attrs))
	}
	blocks, err := rec.in.blocks()
	if err != nil {
		return err
	}
	pass := rec.in.pass(PhaseWrite, blocks)
	if t, ok := dst.(*traceSink); ok {
		t.progressed()
	}
	for ctx.Err() == nil && dst.Err() == nil {
		if err := r.copyUnseen(blocks); err != nil {
			return err
		}
		block, err := blocks.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
		pass.read(&block)
		if err := r.block(&block); err != nil {
			return err
		}
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	r.mappingsUpTo(math.MaxUint64)
	err = dst.finish(r.extendBuildIDs, r.moveAuxIndex)
	sum.BytesWritten = dst.Offset()
	return err
}

func (r *rewriter) order() binary.ByteOrder { return r.rec.in.order }

// block copies one block: runs of records that stay as they are go through as
// runs. Errors of writing stick and come up at the end.
func (r *rewriter) block(b *perfdata.Block) error {
	r.out.from(b.File)
	if b.Opaque {
		if !r.out.payload(b.Data) {
			r.out.raw(b.Data)
		}
		return nil
	}
	run := 0 // start of what is not copied yet
	for at, rec := range b.Records() {
		pos := b.Pos + int64(at)
		time, timed := r.rec.layouts.Time(rec)
		if timed && r.next < len(r.plan.mappings) && r.plan.mappings[r.next].time <= time {
			r.out.Write(b.Data[run:at])
			run = at
			r.mappingsUpTo(time)
		}
		drop := false
		switch rec.Type {
		case perfdata.RecordMmap, perfdata.RecordMmap2:
			if drop = r.drops(rec, time, pos); drop {
				r.sum.Dropped++
			}
		case perfdata.RecordAuxtrace:
			r.out.takes(rec) // its payload is not that of TRACING_DATA
			r.out.Write(b.Data[run:at])
			run = at
			if b.File == 0 { // whose header has the index
				r.aux[uint64(b.Offset)+uint64(at)] = uint64(r.out.Offset())
			}
		case perfdata.RecordHeaderAttr, perfdata.RecordHeaderFeature, perfdata.RecordHeaderBuildID, perfdata.RecordTracingData:
			var err error
			if drop, err = r.out.takes(rec); err != nil {
				return err
			}
		}
		if drop {
			r.out.Write(b.Data[run:at])
			run = at + len(rec.Data)
			if !r.rec.timed && r.markers[pos] {
				r.mappingsUpTo(math.MaxUint64)
			}
		}
	}
	r.out.Write(b.Data[run:])
	return nil
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
			record.PgOff = jitobj.TextOffset + m.off
			record.BuildID = o.buildID[:]
			r.path = o.appendPath(r.path[:0])
			record.Filename = r.path
		}
		r.buf = perfdata.AppendMmap2(r.buf, r.order(), &record, m.time, &r.trailer)
		r.sum.Mappings++
		if m.tables != 0 && o.tables.Size > 0 {
			r.sum.Tables++
			record.Addr, record.Len, record.PgOff = m.tables, o.tables.Size, o.tables.Offset
			r.buf = perfdata.AppendMmap2(r.buf, r.order(), &record, m.time, &r.trailer)
		}
		if len(r.buf) > maxHeld {
			r.out.Write(r.buf)
			r.buf = r.buf[:0]
		}
	}
	r.out.Write(r.buf)
}

// maxHeld is how many bytes of new records are collected before they are written.
const maxHeld = 64 << 10

// drops reports whether a mapping stays out of the result: a marker that has
// done its work, or anonymous memory of a process that makes code in it.
func (r *rewriter) drops(rec perfdata.Record, time uint64, pos int64) bool {
	if r.markers[pos] {
		return true
	}
	m, err := r.rec.layouts.Mmap(rec)
	if err != nil || !isAnonymous(m.Filename) {
		return false
	}
	for _, s := range r.jit[m.PID] {
		if s.holds(time, pos) {
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

// extendBuildIDs adds the objects to a build-id table. A recording without one
// gets none: the mappings carry the ids.
func (r *rewriter) extendBuildIDs(table []byte) []byte {
	table = slices.Clip(table)
	for i := range r.plan.objects {
		if o := &r.plan.objects[i]; o.made {
			r.path = o.appendPath(r.path[:0])
			before := len(table)
			table = perfdata.AppendBuildID(table, r.order(), r.path, o.buildID[:])
			if i == 0 { // the others are as long, mostly
				table = slices.Grow(table, len(r.plan.objects)*(len(table)-before))
			}
		}
	}
	return table
}

// moveAuxIndex makes the index of AUXTRACE records say where they are now.
func (r *rewriter) moveAuxIndex(index []byte) []byte {
	return perfdata.MapAuxtraceIndex(r.order(), index, func(offset uint64) uint64 {
		if moved, ok := r.aux[offset]; ok {
			return moved
		}
		return offset
	})
}
