package showjitdump

import (
	"context"
	"errors"
	"fmt"
	"io"

	jitdumps "github.com/jitinject/jitinject/internal/runtime/jitdump"
	"github.com/jitinject/jitinject/internal/show"
	"github.com/jitinject/jitinject/internal/show/listing"
	"github.com/jitinject/jitinject/jitdump"
)

// A dumpViewer walks a jitdump.
type dumpViewer struct {
	*show.Viewer
	reader  *jitdump.Reader
	waiting waiting
	chosen  map[codeID]bool // functions with moves that are shown, too
	listing *codeLister     // with -d
	ticks   bool            // times are of a clock with an unknown rate

	shown *jitdump.Raw // the record of which fields are written
	later error        // in what add writes for it
}

// A codeID is what a producer calls a function by.
type codeID struct {
	pid   uint32
	index uint64
}

// maxChosen bounds how many functions are remembered for their moves.
const maxChosen = 1 << 20

// Format is the format of jitdumps.
var Format = show.Format{
	Show:     showDump,
	Types:    append([]string{"header"}, recordTypes...),
	Prefixes: []string{"JIT_CODE_", "SAMPLY_JIT_CODE_", "SAMPLY_JIT_", "SAMPLY_", "JITINJECT_"},
}

func showDump(v *show.Viewer) error {
	r, err := jitdump.NewReader(v.File)
	if err != nil {
		return err
	}
	d := &dumpViewer{Viewer: v, reader: r, chosen: make(map[codeID]bool), ticks: r.Header().Flags == jitdump.ArchTimestamps}
	v.Add = d.add
	if v.Opts.Disassemble {
		if d.listing, err = newCodeLister(v); err != nil {
			return err
		}
	}
	v.Begun("jitdump")
	v.Out.End()
	d.header(r.Header())
	d.records()
	return nil
}

func (d *dumpViewer) header(h *jitdump.Header) {
	rec := struct {
		Version uint32   `show:"version"`
		Order   string   `show:"order"`
		Machine uint32   `show:"elf_mach,machine"`
		PID     uint32   `show:"pid"`
		Ticks   uint64   `show:"ticks,since:2"`
		Time    uint64   `show:"timestamp,time,until:1"`
		Flags   []string `show:"flags"`
		Pad     uint32   `show:"pad1,hex,opt"`
	}{Version: h.Version, Order: show.OrderName(h.Order), Machine: h.Machine, PID: h.PID, Ticks: h.Timestamp, Time: h.Timestamp, Flags: show.BitNames(uint64(h.Flags), []string{"ARCH_TIMESTAMP"}), Pad: h.Pad}
	if h.Flags.Unknown() != 0 { // no bit of it means anything
		rec.Flags = show.BitNames(uint64(h.Flags), nil)
	}
	d.Version = 1
	if d.ticks {
		d.Version = 2
	}
	d.Summary(show.Item{Offset: 0, Type: "header", Size: h.Size()}, &rec)
}

// records walks all records, around damage where the codec finds a way.
func (d *dumpViewer) records() {
	flushed := int64(0)
	for !d.Lost() {
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
		if raw.Offset-flushed > show.FlushEvery {
			d.Out.Flush()
			flushed = raw.Offset
		}
	}
}

// damaged shows an error of the reader and reports whether there is more to read.
func (d *dumpViewer) damaged(err error) bool {
	at := d.reader.Offset()
	d.waiting.forget()
	if errors.Is(err, jitdump.ErrTooLarge) {
		d.Problem(at, fmt.Errorf("%w; it is left out", err))
		return true
	}
	skipped, more := d.reader.Resync()
	if more {
		d.Problem(at, fmt.Errorf("%w; %d bytes up to the next record are left out", err, skipped))
	} else {
		d.Problem(at, fmt.Errorf("%w; the rest of the file is left out", err))
	}
	return more
}

// record decides whether a record is shown. Those that describe a function stand in
// front of the record that loads it, so whether they are wanted is not known until that
// comes.
func (d *dumpViewer) record(raw *jitdump.Raw) {
	f := &d.Opts.Filter
	if !f.IsPicky() {
		d.show(raw)
		return
	}
	switch raw.ID {
	case jitdump.IDDebugInfo, jitdump.IDUnwinding, jitdump.IDDebugInfo2:
		d.waiting.add(raw)
	case jitdump.IDTier: // of no function
	case jitdump.IDOpenJ9:
		if raw.IsOpenJ9Metadata() {
			d.waiting.add(raw)
		} else {
			d.alone(raw)
		}
	case jitdump.IDLoad:
		l, err := raw.Load()
		wanted := err == nil && f.MatchesTime(raw.Timestamp, true) && d.Wants(&l)
		code := codeID{l.PID, l.CodeIndex}
		if err == nil {
			delete(d.chosen, code)
		}
		if wanted && len(d.chosen) < maxChosen {
			d.chosen[code] = true
		}
		for _, about := range d.waiting.loaded(l.CodeAddr) {
			if wanted {
				d.show(&about)
			}
		}
		if wanted {
			d.show(raw)
		}
	case jitdump.IDMove:
		m, err := raw.Move()
		if err == nil && f.MatchesTime(raw.Timestamp, true) && (d.chosen[codeID{m.PID, m.CodeIndex}] || d.Wants(&m)) {
			d.show(raw)
		}
	default:
		d.alone(raw)
	}
}

// alone shows a record that is about no function, if it is wanted.
func (d *dumpViewer) alone(raw *jitdump.Raw) {
	f := &d.Opts.Filter
	if len(f.PIDs) == 0 && len(f.Names) == 0 && !f.Address.Set && f.MatchesTime(raw.Timestamp, true) {
		d.show(raw)
	}
}

// recordTypes are the names of the records of jitdumps.
var recordTypes = []string{
	"JIT_CODE_LOAD", "JIT_CODE_MOVE", "JIT_CODE_DEBUG_INFO", "JIT_CODE_CLOSE", "JIT_CODE_UNWINDING_INFO",
	"SAMPLY_JIT_CODE_DEBUG_INFO2", "SAMPLY_JIT_TIER", "SAMPLY_EMBEDDED_SOURCE_FILE", "JITINJECT_OPENJ9_METADATA",
}

// recordName is the name of a type; unknown ones have the same in all formats.
func recordName(id jitdump.RecordID) string {
	if id <= jitdump.IDUnwinding || id >= jitdump.IDDebugInfo2 && id <= jitdump.IDOpenJ9 {
		return id.String()
	}
	return show.Unnamed(uint32(id))
}

// A codeLister shows the code of a jitdump's functions with their lines. Which lines
// are a function's, and what producers get wrong about them, internal/runtime/jitdump knows; it
// scans the whole dump first.
type codeLister struct {
	*show.Viewer
	dump   *jitdumps.Dump
	reader *jitdumps.Reader
	said   bool
}

func newCodeLister(v *show.Viewer) (*codeLister, error) {
	d, err := jitdumps.OpenFile(v.File)
	if err != nil {
		return nil, err
	}
	if err := d.Scan(context.Background()); err != nil {
		return nil, err
	}
	return &codeLister{Viewer: v, dump: d, reader: d.Reader()}, nil
}

// show shows the code of a function. Where source cannot make sense of the record, the
// code is shown as it is.
func (d *codeLister) show(raw *jitdump.Raw, load *jitdump.Load) {
	t := d.dump.Target()
	l := listing.Code{Machine: t.Machine, Order: t.Order, Addr: load.CodeAddr, Code: load.Code, Text: func([]byte, uint64) ([]byte, bool) { return nil, false }}
	if i, ok := d.dump.FunctionAt(raw.Offset); ok {
		if fn, err := d.reader.Function(i); err == nil {
			l.Fill(fn, d.Texts)
		}
		d.reader.Problems = d.reader.Problems[:0]
	}
	if why := listing.Unsupported(t.Machine); why != "" && !d.said {
		d.said = true
		d.Out.Word("not_disassembled", why)
	}
	l.Show(d.Out)
}
