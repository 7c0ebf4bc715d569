package show

import (
	"bytes"
	"fmt"
	"math"

	"github.com/jitinject/jitinject/internal/cfi"
	"github.com/jitinject/jitinject/jitdump"
)

// prefix is the head of every record of a jitdump, in bytes.
const prefix = 16

// show shows a record.
func (d *dumpViewer) show(raw *jitdump.Raw) {
	rec, err := raw.Decode()
	ticks := d.reader.Header().Flags == jitdump.ArchTimestamps
	d.out.begin(item{offset: raw.Offset, typ: recordName(raw.ID), size: raw.Size(), time: raw.Timestamp, timed: !ticks})
	if ticks { // of a clock whose rate nobody says
		d.out.num("ticks", raw.Timestamp)
	}
	if raw.Missized != 0 {
		d.out.num("announced_size", uint64(raw.Size()+raw.Missized))
	}
	var later error
	if err == nil {
		switch rec := rec.(type) {
		case *jitdump.Load:
			d.load(raw, rec)
		case *jitdump.Move:
			d.move(rec)
		case *jitdump.DebugInfo:
			later = d.debugInfo(raw, rec)
		case *jitdump.Unwinding:
			d.unwinding(raw, rec)
		case *jitdump.DebugInfo2:
			later = d.debugInfo2(rec)
		case *jitdump.EarlyDebugInfo:
			later = d.early(rec)
		case *jitdump.Tier:
			d.out.num("tier", uint64(rec.Number))
			d.out.named("color", uint64(rec.Color), colorName(rec.Color))
			d.out.str("name", rec.Name)
		case *jitdump.EmbeddedSource:
			d.out.num("text_size", uint64(len(rec.Text)))
			d.out.str("name", rec.Name)
			d.out.list("text")
			text := newSourceText(rec.Text)
			for i := range text.starts {
				line, _ := text.line(uint64(i + 1))
				if i == len(text.starts)-1 && len(line) == 0 {
					break
				}
				d.out.row()
				d.out.source(line)
			}
			d.out.endList()
		case *jitdump.OpenJ9Metadata:
			later = d.openJ9(raw, rec)
		case *jitdump.Close:
			d.extra(rec.Extra)
		case *jitdump.Unknown:
			d.out.hex("id", uint64(rec.ID))
		}
	}
	d.rawBytes(raw)
	d.out.end()
	if err == nil {
		err = later
	}
	if err != nil {
		d.problem(raw.Offset, err)
	}
}

// rawBytes shows the record's bytes if that is asked for.
func (d *dumpViewer) rawBytes(raw *jitdump.Raw) {
	if !d.opts.Hex {
		return
	}
	b := make([]byte, prefix, raw.Size())
	raw.Order.PutUint32(b, uint32(raw.ID))
	raw.Order.PutUint32(b[4:], uint32(raw.Size()))
	raw.Order.PutUint64(b[8:], raw.Timestamp)
	d.out.data("hex", append(b, raw.Body...), raw.Offset)
}

// extra says how many bytes there are that no field accounts for, and are no padding.
func (d *dumpViewer) extra(b []byte) {
	if len(b) > 7 || len(bytes.Trim(b, "\x00")) > 0 {
		d.out.num("extra", uint64(len(b)))
	}
}

func (d *dumpViewer) load(raw *jitdump.Raw, l *jitdump.Load) {
	o := d.out
	o.num("pid", uint64(l.PID))
	o.num("tid", uint64(l.TID))
	if l.VMA != l.CodeAddr {
		o.hex("vma", l.VMA)
	}
	o.hex("code_addr", l.CodeAddr)
	o.num("code_size", l.CodeSize)
	o.num("code_index", l.CodeIndex)
	o.str("name", l.Name)
	if l.IsCodeless() {
		o.num("code_missing", l.CodeSize)
	}
	d.extra(l.Extra)
	if d.listing != nil {
		d.listing.show(raw, l)
	}
}

func (d *dumpViewer) move(m *jitdump.Move) {
	o := d.out
	o.num("pid", uint64(m.PID))
	o.num("tid", uint64(m.TID))
	if m.VMA != m.NewCodeAddr {
		o.hex("vma", m.VMA)
	}
	o.hex("old_code_addr", m.OldCodeAddr)
	o.hex("new_code_addr", m.NewCodeAddr)
	o.num("code_size", m.CodeSize)
	o.num("code_index", m.CodeIndex)
	d.extra(m.Extra)
}

func (d *dumpViewer) unwinding(raw *jitdump.Raw, u *jitdump.Unwinding) {
	o := d.out
	o.num("unwind_data_size", uint64(len(u.Data)))
	o.num("eh_frame_hdr_size", u.HeaderSize)
	o.num("mapped_size", u.MappedSize)
	d.extra(u.Extra)
	table, header, err := cfi.Split(raw.Order, u.Data, u.HeaderSize)
	if err != nil {
		o.str("not_decoded", []byte(err.Error()))
		return
	}
	o.list("frames")
	defer o.endList()
	at := func(part []byte) int64 { return raw.Offset + prefix + 3*8 + int64(cap(u.Data)-cap(part)) }
	f := frameTable{out: o, order: raw.Order, machine: d.reader.Header().Machine, addrSize: addrSize(d.reader.Header().Machine), label: "frames"}
	if addr, ok := cfi.FramesAddress(raw.Order, f.addrSize, header); ok {
		f.address, f.label = addr, ""
	}
	if len(header) > 0 {
		f.header(header)
	}
	f.fileOffset = at(table)
	f.show(table)
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
	o := d.out
	pick := func(list [][]byte, i uint32) []byte {
		if uint64(i) < uint64(len(list)) {
			return list[i]
		}
		return fmt.Appendf(nil, "#%d", i)
	}
	o.num("files", uint64(len(info.Files)))
	o.num("functions", uint64(len(info.Functions)))
	o.num("calls", uint64(len(info.Calls)))
	o.num("lines", uint64(len(info.Lines)))
	if len(info.Functions) > 0 {
		outer := info.Functions[0]
		if n := outer.Flags.Tier(); n != 0 {
			o.num("tier", uint64(n))
		}
		if outer.Flags&jitdump.UserFunction != 0 {
			o.word("code", "user")
		}
		o.str("name", pick(info.Names, outer.Name))
		o.place(pick(info.Files, outer.File), uint64(outer.Line), column(outer.Column))
	}
	d.extra(info.Extra)
	err := info.CheckTree(math.MaxUint32)
	d.calls(info, pick)
	o.list("line_table")
	for _, l := range info.Lines {
		o.row()
		o.at("code_offset", uint64(l.Offset))
		o.place(pick(info.Files, l.File), uint64(l.Line), column(l.Column))
	}
	o.endList()
	if err == nil {
		err = info.CheckLines()
	}
	return err
}

// calls shows the tree of inlined calls, each below the one that it is in.
func (d *dumpViewer) calls(info *jitdump.DebugInfo2, pick func([][]byte, uint32) []byte) {
	o := d.out
	o.list("inline_calls")
	next := uint64(0)      // of the ranges
	files := [][]byte{nil} // of the function itself and of the calls around the next one
	if len(info.Functions) > 0 {
		files[0] = pick(info.Files, info.Functions[0].File)
	}
	for _, c := range info.Calls {
		o.row()
		o.depth(uint64(c.Depth))
		var callee jitdump.SourceFunction
		name := fmt.Appendf(nil, "#%d", c.Function)
		if uint64(c.Function) < uint64(len(info.Functions)) {
			callee = info.Functions[c.Function]
			name = pick(info.Names, callee.Name)
		}
		o.label("function", name)
		files = append(files[:min(int64(c.Depth)+1, int64(len(files)))], pick(info.Files, callee.File))
		o.place(files[len(files)-1], uint64(callee.Line), column(callee.Column))
		o.calledAt(files[len(files)-2], uint64(c.Line), column(c.Column))
		o.array("ranges")
		for end := min(next+uint64(c.RangeCount), uint64(len(info.Ranges))); next < end; next++ {
			r := info.Ranges[next]
			o.elemRange(uint64(r.Start), r.End())
		}
		o.endArray()
	}
	o.endList()
}

// early prints the record of a development branch of samply. Its columns count from 1.
func (d *dumpViewer) early(e *jitdump.EarlyDebugInfo) error {
	o := d.out
	o.word("kind", "early debug info")
	o.hex("code_addr", e.CodeAddr)
	pick := func(i int32) []byte {
		switch {
		case i < 0:
			return nil
		case int(i) < len(e.Strings):
			return e.Strings[i]
		}
		return fmt.Appendf(nil, "#%d", i)
	}
	o.list("positions")
	for i, p := range e.Positions {
		o.row()
		o.num("position", uint64(i))
		o.signed("caller", int64(p.Caller))
		o.label("function", pick(int32(p.Function)))
		o.place(pick(p.File), uint64(p.Line), uint64(p.Column))
	}
	o.endList()
	o.list("offsets")
	for _, c := range e.Offsets {
		o.row()
		o.at("code_offset", uint64(c.Code))
		o.num("position", uint64(c.Position))
	}
	o.endList()
	return nil
}

var colorNames = [...]string{
	"grey", "transparent", "purple", "green", "orange", "yellow", "light blue", "blue", "brown", "magenta", "red", "light red", "dark grey",
}

func colorName(c jitdump.Color) string {
	if int64(c) < int64(len(colorNames)) {
		return colorNames[c]
	}
	return ""
}
