package jitobj

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"strconv"

	"github.com/jitinject/jitinject/dwarfgen"
	"github.com/jitinject/jitinject/elfgen"
	"github.com/jitinject/jitinject/internal/jitcode"
)

// Conversion of a function's frames to .eh_frame and .eh_frame_hdr.

// tablesAlign is the alignment of unwind tables, in bytes.
const tablesAlign = 8

// unwindTables adds the tables, and returns the section of the header, or 0 without tables.
//
// If a function has no frames, but perf expects tables, they are blank. libunwind follows frame
// pointers if a table has no entry, and gives up without a table.
func (b *Builder) unwindTables(fn *jitcode.Function, place Place, tables *Tables) (elfgen.SectionID, error) {
	if place.None || fn.Size == 0 || fn.Unwind.Empty() && place.Away == 0 {
		return 0, nil
	}
	size := fn.Size
	if !fn.HasCode() && size > b.opts.Fill {
		if place.Away == 0 {
			return 0, nil // they would overlap it
		}
		size = b.opts.Fill
	}
	offset, away := tablesPlace(size, place)
	b.frames.Reset(b.enc.Order, b.enc.AddrSize, offset+away)
	b.cies.reset()
	b.addFrames(fn)
	frames, err := b.frames.Section()
	if err != nil {
		return 0, err
	}
	end := offset + uint64(len(frames.Data))
	return b.addTables([][]byte{frames.Data}, b.frames.Entries(), offset, end, away, place, tables)
}

// tablesPlace returns the file offset of the tables after textSize bytes of code. away is the
// distance from this offset to their addresses.
func tablesPlace(textSize uint64, place Place) (offset, away uint64) {
	offset = (TextOffset + textSize + tablesAlign - 1) &^ (tablesAlign - 1)
	if place.Away != 0 {
		away = TextOffset + place.Away - offset
	}
	return offset, away
}

// addTables adds .eh_frame and the .eh_frame_hdr for its entries. The former extends from offset to
// end in the file, and consists of pieces. If they do not fit, addTables adds blank tables.
func (b *Builder) addTables(pieces [][]byte, entries []dwarfgen.FrameEntry, offset, end, away uint64, place Place, tables *Tables) (elfgen.SectionID, error) {
	headerAt := (end + 3) &^ 3
	header, err := dwarfgen.AppendFrameHeader(b.header[:0], b.enc.Order, headerAt+away, offset+away, entries)
	if err != nil {
		return 0, err
	}
	b.header = header.Data
	size := headerAt + uint64(len(header.Data)) - offset
	if place.Away != 0 && size > place.Room {
		if len(entries) == 0 {
			return 0, nil
		}
		id, err := b.addTables([][]byte{dwarfgen.FramesEnd}, nil, offset, offset+uint64(len(dwarfgen.FramesEnd)), away, place, tables)
		tables.Blank = true
		return id, err
	}
	*tables = Tables{Offset: offset, Size: size}
	flags := elf.SHF_ALLOC
	if away != 0 {
		flags = 0 // outside of all PT_LOADs
	}
	b.file.Add(elfgen.Section{Name: ".eh_frame", Type: elf.SHT_PROGBITS, Flags: flags, Align: tablesAlign, Pieces: pieces, Away: away})
	return b.file.Add(elfgen.Section{Name: header.Name, Type: elf.SHT_PROGBITS, Flags: flags, Align: 4, Data: header.Data, Away: away}), nil
}

// addFrames adds fn's frames.
func (b *Builder) addFrames(fn *jitcode.Function) {
	u := &fn.Unwind
	if u.Empty() {
		return
	}
	if len(u.Sent.FDEs) > 0 {
		for _, f := range u.Sent.FDEs {
			low := b.at + f.Offset
			b.frames.AddFDE(b.sentCIE(&u.Sent.CIEs[f.CIE]), dwarfgen.FDE{Low: low, High: low + f.Size, Instructions: f.Instructions})
		}
		if len(u.Rows) == 0 {
			return
		}
	}
	cie := b.derivedCIE(u)
	// Each run of known rows is an FDE.
	for i := 0; i < len(u.Rows); i++ {
		if !u.Rows[i].Known {
			continue
		}
		b.rows, b.saved = b.rows[:0], b.saved[:0]
		start, end := u.Rows[i].Offset, fn.Size
		for ; i < len(u.Rows); i++ {
			if !u.Rows[i].Known {
				end = u.Rows[i].Offset
				break
			}
			b.rows = append(b.rows, b.row(&u.Rows[i], start))
		}
		b.frames.AddFDE(cie, dwarfgen.FDE{Low: b.at + start, High: b.at + end, Rows: b.rows})
	}
}

// cies are the CIEs of the frames so far: functions share them.
type cies struct {
	sent    map[string]dwarfgen.CIEID // by content
	derived dwarfgen.CIEID
	any     bool // there is a derived one
	key     []byte
}

func (c *cies) reset() {
	c.any = false
	clear(c.sent)
}

// sentCIE returns the CIE for one that a producer sent.
func (b *Builder) sentCIE(c *jitcode.FrameCIE) dwarfgen.CIEID {
	k := binary.AppendUvarint(b.cies.key[:0], c.CodeAlign)
	k = binary.AppendVarint(k, c.DataAlign)
	k = binary.AppendUvarint(k, c.ReturnReg)
	k = strconv.AppendBool(k, c.Signal)
	k = append(k, c.Instructions...)
	b.cies.key = k
	id, ok := b.cies.sent[string(k)]
	if !ok {
		id = b.frames.AddCIE(dwarfgen.CIE{
			CodeAlign: c.CodeAlign, DataAlign: c.DataAlign, ReturnReg: c.ReturnReg, Signal: c.Signal,
			Instructions: bytes.Clone(c.Instructions),
		})
		if b.cies.sent == nil {
			b.cies.sent = make(map[string]dwarfgen.CIEID)
		}
		b.cies.sent[string(k)] = id
	}
	return id
}

// derivedCIE returns the CIE of derived frames. All code for a machine shares it.
func (b *Builder) derivedCIE(u *jitcode.Unwind) dwarfgen.CIEID {
	if !b.cies.any {
		b.rows, b.saved = b.rows[:0], b.saved[:0]
		b.cies.derived = b.frames.AddCIE(dwarfgen.CIE{
			CodeAlign: u.CIE.CodeAlign, DataAlign: u.CIE.DataAlign, ReturnReg: u.CIE.ReturnReg, Initial: b.row(&u.Initial, 0),
		})
		b.cies.any = true
	}
	return b.cies.derived
}

// row returns a row for an FDE that begins at start.
func (b *Builder) row(r *jitcode.FrameRow, start uint64) dwarfgen.FrameRow {
	first := len(b.saved)
	cfa := dwarfgen.CFA{Reg: uint64(r.CFA.Reg), Offset: r.CFA.Offset}
	stored := r.CFA.Stored != 0
	if stored {
		cfa.Stored, cfa.Max = r.CFA.Stored, jitcode.MaxStored
	}
	if m := r.CFA.Marked; m.Offset != 0 {
		cfa.Marked = dwarfgen.Marked{Reg: uint64(m.Reg), Offset: m.Offset, Zero: m.Zero, One: m.One}
	}
	for _, s := range r.Saved {
		saved := dwarfgen.SavedReg{Reg: uint64(s.Reg), Offset: s.Offset, Lost: s.Lost}
		if stored && !s.Lost {
			saved.Direct, saved.Base = true, cfa.Reg
			saved.Offset += cfa.Offset
		}
		b.saved = append(b.saved, saved)
	}
	return dwarfgen.FrameRow{Offset: r.Offset - start, CFA: cfa, Saved: b.saved[first:len(b.saved):len(b.saved)]}
}

// hashUnwind adds frames to a build id.
func (b *Builder) hashUnwind(u *jitcode.Unwind) {
	b.hashNumber(uint64(len(u.Sent.CIEs)))
	for i := range u.Sent.CIEs {
		c := &u.Sent.CIEs[i]
		b.hashCIE(c)
		b.hashBytes(c.Instructions)
	}
	b.hashNumber(uint64(len(u.Sent.FDEs)))
	for i := range u.Sent.FDEs {
		f := &u.Sent.FDEs[i]
		b.hashNumber(uint64(f.CIE))
		b.hashNumber(f.Offset)
		b.hashNumber(f.Size)
		b.hashBytes(f.Instructions)
	}
	b.hashNumber(uint64(len(u.Rows)))
	if len(u.Rows) == 0 {
		return
	}
	b.hashCIE(&u.CIE)
	b.hashRow(&u.Initial)
	for i := range u.Rows {
		b.hashRow(&u.Rows[i])
	}
}

func (b *Builder) hashCIE(c *jitcode.FrameCIE) {
	b.hashNumber(c.CodeAlign)
	b.hashNumber(uint64(c.DataAlign))
	b.hashNumber(c.ReturnReg)
	if c.Signal {
		b.hashNumber(1)
	}
}

func (b *Builder) hashRow(r *jitcode.FrameRow) {
	b.hashNumber(r.Offset)
	if !r.Known {
		b.hashNumber(0)
		return
	}
	known := uint64(1)
	if r.CFA.Stored != 0 {
		known = 2
		b.hashNumber(uint64(r.CFA.Stored))
	}
	if m := r.CFA.Marked; m.Offset != 0 {
		known = 3
		for _, n := range []uint64{uint64(m.Reg), uint64(m.Offset), uint64(m.Zero), uint64(m.One)} {
			b.hashNumber(n)
		}
	}
	b.hashNumber(uint64(r.CFA.Reg)<<32 | uint64(len(r.Saved))<<8 | known)
	b.hashNumber(uint64(r.CFA.Offset))
	for _, s := range r.Saved {
		lost := uint64(0)
		if s.Lost {
			lost = 1
		}
		b.hashNumber(uint64(s.Reg)<<1 | lost)
		b.hashNumber(uint64(s.Offset))
	}
}
