package rewrite

import (
	"context"
	"encoding/binary"
	"io"
	"math"

	"golang.org/x/sys/unix"

	"github.com/jitinject/jitinject/internal/addrs"
	"github.com/jitinject/jitinject/internal/calltrace"
	"github.com/jitinject/jitinject/internal/jitobj"
	"github.com/jitinject/jitinject/internal/model"
	"github.com/jitinject/jitinject/internal/output"
	"github.com/jitinject/jitinject/internal/recording"
	"github.com/jitinject/jitinject/internal/report"
	"github.com/jitinject/jitinject/perfdata"
)

// A copier copies a recording and inserts the mappings of a plan.
type copier struct {
	Rec  *recording.Recording
	Plan *model.Plan
	// Done counts what has been done.
	Done    Result
	Out     output.Sink
	Markers map[int64]bool // the markers to drop, by position
	// Jit has the times of each process in which its anonymous memory is dropped.
	Jit map[uint32]recording.Spans
	// Repeats are the records of memory that a process had already, by position, with the parts that stay: see
	// [recording.FileHistories].
	Repeats map[int64][]addrs.Range
	Next    int // index of the next mapping to insert
	// Trailer is that of inserted records.
	Trailer perfdata.Trailer
	buf     []byte
	path    []byte
	// Aux has the new offsets of AUXTRACE records, by their offsets in the input file.
	Aux map[uint64]uint64
}

// A Result counts the changes to a recording.
type Result struct {
	Mappings int   // mappings of code that were inserted
	Tables   int   // mappings of unwind tables that were inserted
	Dropped  int   // records that were dropped
	Bytes    int64 // size of the result
}

// Copy writes the result: the recording with the mappings of a plan and the calls of traces
// inserted, and without markers. level is that of compression, 0 for none.
func Copy(ctx context.Context, rec *recording.Recording, p *model.Plan, markers []*recording.Marker, traces *calltrace.Traces, out *output.Output, level int) (Result, error) {
	r := &copier{Rec: rec, Plan: p, Markers: make(map[int64]bool), Jit: rec.ProcessTree.JitSpans(markers), Aux: make(map[uint64]uint64)}
	r.Repeats = recording.NewFileHistories(rec).Repeats(r.Jit)
	err := r.copy(ctx, markers, traces, out, level)
	return r.Done, err
}

func (r *copier) copy(ctx context.Context, markers []*recording.Marker, traces *calltrace.Traces, out *output.Output, level int) error {
	rec := r.Rec
	var dst output.Sink
	var err error
	if traces.Len() > 0 {
		dst, err = calltrace.NewSink(ctx, rec, traces, out, level)
	} else {
		dst, err = output.New(rec.In, out, level)
	}
	if err != nil {
		return err
	}
	r.Out = dst
	for _, m := range markers {
		r.Markers[m.Pos] = true
	}
	if len(rec.Attrs) > 0 {
		r.Trailer = perfdata.TrailerOf(output.TrackingAttr(rec.Attrs))
	}
	blocks := rec.In.Blocks()
	pass := rec.In.Pass(report.PhaseWrite, blocks)
	if t, ok := dst.(*calltrace.Sink); ok {
		t.Progressed()
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
		pass.Read(&block)
		if err := r.Block(&block); err != nil {
			return err
		}
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	r.mappingsUpTo(math.MaxUint64)
	err = recording.WithoutData(r.Rec.In.Path, dst.Finish(r.extendBuildIDs, r.moveAuxIndex))
	r.Done.Bytes = dst.Offset()
	return err
}

func (r *copier) order() binary.ByteOrder { return r.Rec.In.Order }

// Block copies one block. Runs of unchanged records are copied as a whole. Errors of writing are
// kept until the end of the copy.
func (r *copier) Block(b *perfdata.Block) error {
	r.Out.From(b.File)
	if b.Opaque {
		r.Out.Raw(b.Data)
		return nil
	}
	run := 0 // start of what is not copied yet
	for at, rec := range b.Records() {
		pos := b.Pos + int64(at)
		time, timed := r.Rec.Layouts.Time(rec)
		if timed && r.Next < len(r.Plan.Mappings) && r.Plan.Mappings[r.Next].Time <= time {
			r.Out.Write(b.Data[run:at])
			run = at
			r.mappingsUpTo(time)
		}
		drop := false
		switch rec.Type {
		case perfdata.RecordMmap, perfdata.RecordMmap2:
			if drop = r.drops(rec, time, pos); drop {
				r.Done.Dropped++
			}
		case perfdata.RecordAuxtrace:
			r.Out.Write(b.Data[run:at])
			run = at
			if b.File == 0 { // its header has the index
				r.Aux[uint64(b.Offset)+uint64(at)] = uint64(r.Out.Offset())
			}
		}
		if drop {
			r.Out.Write(b.Data[run:at])
			run = at + len(rec.Data)
			r.keep(r.Repeats[pos], rec, time)
			if !r.Rec.Timed && r.Markers[pos] {
				r.mappingsUpTo(math.MaxUint64)
			}
		}
	}
	r.Out.Write(b.Data[run:])
	return nil
}

// mappingsUpTo inserts the mappings up to a time.
func (r *copier) mappingsUpTo(time uint64) {
	r.buf = r.buf[:0]
	for ; r.Next < len(r.Plan.Mappings) && r.Plan.Mappings[r.Next].Time <= time; r.Next++ {
		m := &r.Plan.Mappings[r.Next]
		o := &r.Plan.Objects[m.Object]
		if !o.Made {
			continue
		}
		record := perfdata.Mmap{PID: m.PID, TID: m.TID, Addr: m.Addr, Len: m.Len, Prot: unix.PROT_READ | unix.PROT_EXEC, Flags: unix.MAP_PRIVATE}
		if m.Clear {
			record.Filename = []byte(recording.ClearName)
		} else {
			record.PgOff = jitobj.TextOffset + m.Of().Off
			record.BuildID = o.BuildID[:]
			r.path = o.AppendPath(r.path[:0])
			record.Filename = r.path
		}
		r.buf = perfdata.AppendMmap2(r.buf, r.order(), &record, m.Time, &r.Trailer)
		r.Done.Mappings++
		if m.Tables && o.Bundle.Placement.TablesAt != 0 && o.Bundle.Placement.Tables.Size > 0 {
			r.Done.Tables++
			record.Addr, record.Len, record.PgOff = o.Bundle.Placement.TablesAt, o.Bundle.Placement.Tables.Size, o.Bundle.Placement.Tables.Offset
			r.buf = perfdata.AppendMmap2(r.buf, r.order(), &record, m.Time, &r.Trailer)
		}
		if len(r.buf) > output.MaxHeld {
			r.Out.Write(r.buf)
			r.buf = r.buf[:0]
		}
	}
	r.Out.Write(r.buf)
}

// drops reports whether a mapping is dropped: a marker of a used dump, anonymous memory of a process that
// makes code in it, or shared memory that the process has already.
func (r *copier) drops(rec perfdata.Record, time uint64, pos int64) bool {
	if _, repeats := r.Repeats[pos]; repeats || r.Markers[pos] {
		return true
	}
	m, err := r.Rec.Layouts.Mmap(rec)
	if err != nil || !recording.IsAnonymous(m.Filename) {
		return false
	}
	return r.Jit[m.PID].Hold(time, pos)
}

// keep writes the parts of a mapping that stay.
func (r *copier) keep(parts []addrs.Range, rec perfdata.Record, time uint64) {
	for _, part := range parts {
		if m, err := r.Rec.Layouts.Mmap(rec); err == nil {
			m.PgOff += part.Lo - m.Addr
			m.Addr, m.Len = part.Lo, part.Hi-part.Lo
			r.buf = perfdata.AppendMmap2(r.buf[:0], r.order(), &m, time, &r.Trailer)
			r.Out.Write(r.buf)
		}
	}
}

// moveAuxIndex returns the index of AUXTRACE records with their new offsets.
func (r *copier) moveAuxIndex(index []byte) []byte {
	return perfdata.MapAuxtraceIndex(r.order(), index, func(offset uint64) uint64 {
		if moved, ok := r.Aux[offset]; ok {
			return moved
		}
		return offset
	})
}
