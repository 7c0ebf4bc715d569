package show

import (
	"errors"
	"fmt"
	"io"

	"github.com/jitinject/jitinject/jitdump"
)

// A dumpViewer walks a jitdump.
type dumpViewer struct {
	*viewer
	reader  *jitdump.Reader
	waiting waiting
	chosen  map[dumpCode]bool // functions whose moves are of interest, too
	listing *dumpListing      // with -d
}

// A dumpCode is what a producer calls a function by.
type dumpCode struct {
	pid   uint32
	index uint64
}

// maxChosen bounds how many functions are remembered for their moves.
const maxChosen = 1 << 20

func showJitdump(v *viewer) error {
	if err := v.needsFile(jitdump.FormatName); err != nil {
		return err
	}
	r, err := jitdump.NewReader(v.file)
	if err != nil {
		return err
	}
	d := &dumpViewer{viewer: v, reader: r, chosen: make(map[dumpCode]bool)}
	if v.opts.Disassemble {
		if d.listing, err = newDumpListing(v); err != nil {
			return err
		}
	}
	v.begun("jitdump")
	v.out.end()
	if f := &v.opts.Filter; f.typed("header") && !f.picky() {
		d.header(r.Header())
	}
	d.records()
	return nil
}

func (d *dumpViewer) header(h *jitdump.Header) {
	o := d.out
	o.begin(item{offset: 0, typ: "header", size: h.Size()})
	o.num("version", uint64(h.Version))
	o.word("order", orderName(h.Order))
	o.named("elf_mach", uint64(h.Machine), machineName(h.Machine))
	o.num("pid", uint64(h.PID))
	if h.Flags == jitdump.ArchTimestamps {
		o.num("ticks", h.Timestamp)
	} else {
		o.time("timestamp", h.Timestamp)
	}
	if h.Flags.Unknown() != 0 { // no bit of it means anything
		o.hex("flags", uint64(h.Flags))
	} else {
		o.words("flags", bitNames(uint64(h.Flags), []string{"ARCH_TIMESTAMP"}))
	}
	if h.Pad != 0 {
		o.hex("pad1", uint64(h.Pad))
	}
	if d.opts.Hex {
		b := make([]byte, h.Size())
		n, _ := d.file.ReadAt(b, 0)
		o.data("hex", b[:n], 0)
	}
	o.end()
}

// flushEvery is after how much of a file something of the output is to be seen.
const flushEvery = 4 << 20

// records walks all records, around damage where the codec finds a way.
func (d *dumpViewer) records() {
	flushed := int64(0)
	for !d.lost() {
		raw, err := d.reader.Next()
		if err == io.EOF {
			return
		}
		if err != nil {
			if !d.damaged(err) {
				return
			}
			continue
		}
		d.record(&raw)
		if raw.Offset-flushed > flushEvery {
			d.out.flush()
			flushed = raw.Offset
		}
	}
}

// damaged shows an error of the reader and reports whether there is more to read.
func (d *dumpViewer) damaged(err error) bool {
	at := d.reader.Offset()
	d.waiting.forget()
	if errors.Is(err, jitdump.ErrTooLarge) {
		d.problem(at, fmt.Errorf("%w; it is left out", err))
		return true
	}
	skipped, more := d.reader.Resync()
	if more {
		d.problem(at, fmt.Errorf("%w; %d bytes up to the next record are left out", err, skipped))
	} else {
		d.problem(at, fmt.Errorf("%w; the rest of the file is left out", err))
	}
	return more
}

// record decides whether a record is shown. Those that describe a function stand in
// front of the record that loads it, so whether they are wanted is not known until that
// comes.
func (d *dumpViewer) record(raw *jitdump.Raw) {
	if d.listing != nil && raw.IsOpenJ9Metadata() {
		d.noteOpenJ9(raw)
	}
	f := &d.opts.Filter
	if !f.picky() {
		if d.typed(raw) {
			d.show(raw)
		}
		return
	}
	switch raw.ID {
	case jitdump.IDDebugInfo, jitdump.IDUnwinding, jitdump.IDDebugInfo2:
		d.waiting.add(raw)
	case jitdump.IDTier:
		if raw.IsEarlyDebugInfo() {
			d.waiting.add(raw)
		}
	case jitdump.IDOpenJ9:
		if raw.IsOpenJ9Metadata() {
			d.waiting.add(raw)
		} else {
			d.alone(raw)
		}
	case jitdump.IDLoad:
		l, err := raw.Load()
		wanted := err == nil && d.wanted(raw, l.PID, l.Name, l.CodeAddr, l.CodeSize)
		code := dumpCode{l.PID, l.CodeIndex}
		if err == nil {
			delete(d.chosen, code)
		}
		if wanted && len(d.chosen) < maxChosen {
			d.chosen[code] = true
		}
		for _, about := range d.waiting.loaded(l.CodeAddr) {
			if wanted && d.typed(&about) {
				d.show(&about)
			}
		}
		if wanted && d.typed(raw) {
			d.show(raw)
		}
	case jitdump.IDMove:
		m, err := raw.Move()
		if err != nil || !d.typed(raw) || !f.pid(m.PID) || !f.time(raw.Timestamp, true) {
			return
		}
		there := f.Address.touches(m.OldCodeAddr, m.CodeSize) || f.Address.touches(m.NewCodeAddr, m.CodeSize)
		if there && len(f.Names) == 0 || d.chosen[dumpCode{m.PID, m.CodeIndex}] {
			d.show(raw)
		}
	default:
		d.alone(raw)
	}
}

// typed reports whether records like this are shown at all: its type is wanted, or that of a section of
// the metadata that it has.
func (d *dumpViewer) typed(raw *jitdump.Raw) bool {
	return d.opts.Filter.typed(recordName(raw.ID)) || raw.IsOpenJ9Metadata() && d.hasSections(raw)
}

// alone shows a record that is about no function, if it is wanted.
func (d *dumpViewer) alone(raw *jitdump.Raw) {
	f := &d.opts.Filter
	if len(f.PIDs) == 0 && len(f.Names) == 0 && !f.Address.Set && f.time(raw.Timestamp, true) && d.typed(raw) {
		d.show(raw)
	}
}

// wanted reports whether the filter lets a function through.
func (d *dumpViewer) wanted(raw *jitdump.Raw, pid uint32, name []byte, addr, size uint64) bool {
	f := &d.opts.Filter
	return f.pid(pid) && f.name(name) && f.Address.touches(addr, size) && f.time(raw.Timestamp, true)
}

// recordName is the name of a type; unknown ones have the same in all formats.
func recordName(id jitdump.RecordID) string {
	if id <= jitdump.IDUnwinding || id >= jitdump.IDDebugInfo2 && id <= jitdump.IDOpenJ9 {
		return id.String()
	}
	return unnamed(uint32(id))
}
