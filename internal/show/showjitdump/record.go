package showjitdump

import (
	"debug/elf"
	"fmt"
	"math"
	"slices"

	"github.com/jitinject/jitinject/internal/ehframe"
	"github.com/jitinject/jitinject/internal/format/callframe"
	"github.com/jitinject/jitinject/internal/format/j9meta"
	"github.com/jitinject/jitinject/internal/show"
	"github.com/jitinject/jitinject/internal/show/frames"
	"github.com/jitinject/jitinject/internal/show/showj9"
	"github.com/jitinject/jitinject/jitdump"
)

// prefix is the head of every record of a jitdump, in bytes.
const prefix = 16

func (d *dumpViewer) show(raw *jitdump.Raw) {
	if raw.IsOpenJ9Metadata() {
		defer d.sections(raw)
	}
	if !d.Opts.Filter.MatchesType(recordName(raw.ID)) {
		return
	}
	rec, err := raw.Decode()
	d.Out.Begin(show.Item{Offset: raw.Offset, Type: recordName(raw.ID), Size: raw.Size(), Time: raw.Timestamp, Timed: !d.ticks})
	if d.ticks { // of a clock with an unknown rate
		d.Out.Num("ticks", raw.Timestamp)
	}
	if raw.Missized != 0 {
		d.Out.Num("announced_size", uint64(raw.Size()+raw.Missized))
	}
	if err == nil {
		d.shown, d.later = raw, nil
		d.Fields(d.Out, rec, nil)
		err = d.later
	}
	d.RawBytes(raw.Offset, raw.Size())
	d.Out.End()
	if err != nil {
		d.Problem(raw.Offset, err)
	}
}

// add writes what is no field of a record.
func (d *dumpViewer) add(o *show.Form, rec any) {
	switch rec := rec.(type) {
	case *jitdump.Load:
		if rec.LacksCode() {
			o.Num("code_missing", rec.CodeSize)
		}
		if d.listing != nil && !show.Matching(o) {
			d.listing.show(d.shown, rec)
		}
	case *jitdump.DebugInfo:
		d.later = d.debugInfo(d.shown, rec)
	case *jitdump.Unwinding:
		d.unwinding(d.shown, rec)
	case *jitdump.DebugInfo2:
		d.later = d.debugInfo2(rec)
	case *jitdump.OpenJ9Metadata:
		d.later = rec.CheckTables()
	case *jitdump.EmbeddedSource:
		o.List("text")
		text := show.NewSourceText(rec.Text)
		for i := range text {
			o.Row()
			line, _ := text.Line(uint64(i + 1))
			o.Source(line)
		}
		o.EndList()
	}
}

func (d *dumpViewer) unwinding(raw *jitdump.Raw, u *jitdump.Unwinding) {
	o := d.Out
	table, header, err := ehframe.Split(raw.Order, u.Data, u.HeaderSize)
	if err != nil {
		o.Str("not_decoded", []byte(err.Error()))
		return
	}
	o.List("frames")
	defer o.EndList()
	at := func(part []byte) int64 { return raw.Offset + prefix + 3*8 + int64(cap(u.Data)-cap(part)) }
	machine := elf.Machine(d.reader.Header().Machine)
	place := callframe.Place{Order: raw.Order, Machine: machine, AddrSize: callframe.AddrSize(machine, math.MaxUint64), File: at(table)}
	f := frames.Table{Out: o, Place: place, Label: "frames"}
	if addr, ok := callframe.FramesAddress(raw.Order, place.AddrSize, header); ok {
		f.Place.Addr, f.Label = addr, ""
	}
	if len(header) > 0 {
		f.Header(header)
	}
	f.Show(table)
}

// column is a column of samply's records as people count: from 1, 0 for unknown.
func column(c uint32) uint64 {
	if c == jitdump.NoColumn {
		return 0
	}
	return uint64(c) + 1
}

// debugInfo2 shows lines and the tree of inlined calls.
func (d *dumpViewer) debugInfo2(info *jitdump.DebugInfo2) error {
	o := d.Out
	pick := func(list [][]byte, i uint32) []byte {
		if uint64(i) < uint64(len(list)) {
			return list[i]
		}
		return fmt.Appendf(nil, "#%d", i)
	}
	if len(info.Functions) > 0 {
		outer := info.Functions[0]
		if n := outer.Flags.Tier(); n != 0 {
			o.Num("tier", uint64(n))
		}
		if outer.Flags&jitdump.UserFunction != 0 {
			o.Word("code", "user")
		}
		o.Str("name", pick(info.Names, outer.Name))
		o.Place(pick(info.Files, outer.File), uint64(outer.Line), column(outer.Column))
	}
	err := info.CheckTree(math.MaxUint32)
	d.calls(info, pick)
	o.List("line_table")
	for _, l := range info.Lines {
		o.Row()
		o.At("code_offset", uint64(l.Offset))
		o.Place(pick(info.Files, l.File), uint64(l.Line), column(l.Column))
	}
	o.EndList()
	if err == nil {
		err = info.CheckLines()
	}
	return err
}

// calls shows the tree of inlined calls, each below the one that it is in.
func (d *dumpViewer) calls(info *jitdump.DebugInfo2, pick func([][]byte, uint32) []byte) {
	o := d.Out
	o.List("inline_calls")
	next := uint64(0)      // of the ranges
	files := [][]byte{nil} // of the function itself and of the calls around the next one
	if len(info.Functions) > 0 {
		files[0] = pick(info.Files, info.Functions[0].File)
	}
	for _, c := range info.Calls {
		o.Row()
		o.Depth(uint64(c.Depth))
		var callee jitdump.SourceFunction
		name := fmt.Appendf(nil, "#%d", c.Function)
		if uint64(c.Function) < uint64(len(info.Functions)) {
			callee = info.Functions[c.Function]
			name = pick(info.Names, callee.Name)
		}
		o.Label("function", name)
		files = append(files[:min(int64(c.Depth)+1, int64(len(files)))], pick(info.Files, callee.File))
		o.Place(files[len(files)-1], uint64(callee.Line), column(callee.Column))
		o.CalledAt(files[len(files)-2], uint64(c.Line), column(c.Column))
		o.Array("ranges")
		for end := min(next+uint64(c.RangeCount), uint64(len(info.Ranges))); next < end; next++ {
			r := info.Ranges[next]
			o.ElemRange(uint64(r.Start), r.End())
		}
		o.EndArray()
	}
	o.EndList()
}

// sections shows the sections of the metadata of OpenJ9 that a record has, as items of their own behind
// it, with their offsets in the file.
func (d *dumpViewer) sections(raw *jitdump.Raw) {
	f := &d.Opts.Filter
	if len(f.Types) > 0 && !slices.ContainsFunc(showj9.Types, f.MatchesType) {
		return
	}
	m, err := raw.OpenJ9Metadata()
	if err != nil {
		return // is shown with the record
	}
	decoded, err := j9meta.Decode(m.Metadata, m.Base, j9meta.Layout{
		Order: raw.Order, PointerSize: int(m.PointerSize), Machine: elf.Machine(d.reader.Header().Machine), HeaderSize: int(m.HeaderSize),
	})
	b := showj9.Body{Body: decoded, Methods: m.Methods}
	b.Show(d.Viewer, show.Item{Offset: m.MetadataOffset(), Time: raw.Timestamp, Timed: !d.ticks})
	if err != nil {
		d.Problem(m.MetadataOffset(), fmt.Errorf("the metadata, at %#x of the file: %w", m.MetadataOffset(), err))
	}
}
