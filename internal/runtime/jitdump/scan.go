package jitdump

import (
	"context"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"slices"
	"syscall"

	"github.com/jitinject/jitinject/internal/jitcode"
	"github.com/jitinject/jitinject/internal/source"
	"github.com/jitinject/jitinject/jitdump"
)

// ErrNotJitdump says that a file is no jitdump.
var ErrNotJitdump = jitdump.ErrNotJitdump

// A Dump is a jitdump file, scanned up to the last call of Scan.
type Dump struct {
	source.Listing
	Unknown int // number of records of unused types

	header      *jitdump.Header
	src         io.ReaderAt
	size        int64 // of the file when it was opened, in bytes, without holes; 0 if unknown
	reader      *jitdump.Reader
	lost        bool // the rest of the file is unreadable
	pairing     pairing
	orphans     int // number of debug records without a load
	interleaved int // number of loads after several inline-tree records
	sources     source.Sources
	batches     []unwindBatch // in the order of the file
	withoutCode map[int]bool  // functions with loads that lack the bytes
	salt        salting
	listed      window            // of the records of the last listings
	listings    source.ListingsOf // cache for reading listings
	derive      bool              // derive unwind tables from code
	callees     callees           // used if derive is set
	traces      bool              // code runs in an interpreter frame
	interpreter *jitcode.FrameRow // that frame, or nil
	parts       []packedParts     // of each function
	others      []otherParts      // of functions with inlined calls or unwind tables
	fixes       fixes
	assumed     bool   // the machine is the recording's
	high        uint64 // highest end address of code

	constraints lineConstraints // about the addresses of lines
	positions   v8Positions
	optimized   int // functions of optimizing compilers with lines
	chosen      int // index of the valid hypothesis
	decision    source.LineDecision
	basis       source.LineBasis
	bytecode    bool // V8's baseline functions have lines of bytecode
	growing     bool // functions are read before the dump is complete
	objects     ObjectDescription
	isDescribed func(function int) bool
	newTrees    func() TreeSource // with isDescribed; nil without
	described   []int             // numbers of the description's texts in sources, or -1

	embedDescribed bool           // functions have these texts
	originals      OriginalSource // nil without
	given          givenAway      // functions with lines
}

func spanOf(raw *jitdump.Raw) source.Span {
	return source.Span{Off: raw.Offset, Size: uint32(raw.Size())}
}

var (
	_ source.Dump   = (*Dump)(nil)
	_ source.Tracer = (*Dump)(nil)
	_ source.Texter = (*Dump)(nil)
)

// OpenFile reads the header of a jitdump. It fails if the file is not readable as one. The Dump
// uses src for its whole lifetime, from several goroutines.
func OpenFile(src io.ReaderAt) (*Dump, error) {
	r, err := jitdump.NewReader(src)
	if err != nil {
		return nil, err
	}
	if m := r.Header().Machine; m > math.MaxUint16 {
		return nil, fmt.Errorf("%s: elf_mach at offset %#x is %#x; ELF machines have 16 bits", jitdump.FormatName, 12, m)
	}
	d := &Dump{header: r.Header(), src: src, reader: r, pairing: newPairing(), Listing: source.Listing{Cut: -1}}
	if f, ok := src.(interface{ Stat() (fs.FileInfo, error) }); ok {
		if st, err := f.Stat(); err == nil {
			d.size = st.Size()
			if u, ok := st.Sys().(*syscall.Stat_t); ok {
				d.size = min(d.size, 512*u.Blocks)
			}
		}
	}
	return d, nil
}

// grown returns a list with space for another element. It estimates their total from the number up
// to offset at, to avoid repeated copying and spare space. The estimate is bounded until there are
// some: the first records may be shorter than the others.
func grown[T any](list []T, at, size int64) []T {
	n := len(list)
	if n < cap(list) {
		return list
	}
	most := 4*float64(n) + 256
	if n > 1024 {
		most = 256 * float64(n)
	}
	guess := 1.0625 * float64(n) * float64(size) / float64(max(at, 1))
	return slices.Grow(list, int(min(max(guess, 1.25*float64(n), 256), most))-n)
}

// Scan reads the records that were written since the last call. A damaged part is dropped and
// becomes a Problem. The error is ctx's. Scan must not run while functions are read.
func (d *Dump) Scan(ctx context.Context) error {
	d.Cut, d.CutName = -1, ""
	d.listed = window{} // the file may have grown since
	for n := 0; !d.lost; n++ {
		if n%1024 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		at := d.reader.Offset()
		if n%1024 == 0 && d.Watch != nil {
			d.Watch(at)
		}
		raw, err := d.reader.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			if !d.damaged(at, err) {
				break
			}
			continue
		}
		if err := d.record(&raw); err != nil {
			if raw.ID != jitdump.IDMove { // it may have been the next load, or described it
				d.orphans += d.pairing.forget()
			}
			d.Problem(raw.Offset, "%v; the record is left out", err)
		}
	}
	if d.Watch != nil {
		d.Watch(d.reader.Offset())
	}
	if err := d.findQuirks(ctx); err != nil {
		return err
	}
	d.collectCallees()
	return nil
}

// damaged handles an error of the reader, and reports whether reading can go on.
func (d *Dump) damaged(at int64, err error) bool {
	if errors.Is(err, jitdump.ErrTooLarge) {
		d.orphans += d.pairing.forget()
		d.Problem(at, "%v; it is left out", err)
		return true
	}
	at = d.reader.Offset()
	skipped, more := d.reader.Resync()
	switch {
	case more:
		d.Problem(at, "%v; %d bytes up to the next record are left out", err, skipped)
	case errors.Is(err, jitdump.ErrCut) && !d.reaches(at+maxCut):
		d.Cut, d.CutName = at, d.nameAtEnd(at)
		return false
	default:
		d.Problem(at, "%v; the rest of the file is left out", err)
		d.lost = true
	}
	d.orphans += d.pairing.forget()
	return more
}

// maxCut bounds the bytes after the start of a record that the end of the file cuts. Beyond that it
// is damage that looks like a record.
const maxCut = 16 << 20

// reaches reports whether the file has a byte at offset off.
func (d *Dump) reaches(off int64) bool {
	n, _ := d.src.ReadAt(make([]byte, 1), off)
	return n == 1
}

// record adds a record to the dump.
func (d *Dump) record(raw *jitdump.Raw) error {
	switch raw.ID {
	case jitdump.IDLoad:
		l, err := raw.Load()
		if err != nil {
			return err
		}
		if l.CodeAddr+l.CodeSize < l.CodeAddr {
			return fmt.Errorf("%s at offset %#x of %d bytes at %#x: that is beyond the end of all addresses", raw.ID, raw.Offset, l.CodeSize, l.CodeAddr)
		}
		d.load(raw, &l)
	case jitdump.IDMove:
		m, err := raw.Move()
		if err != nil {
			return err
		}
		d.move(raw, &m)
	case jitdump.IDDebugInfo:
		info, err := raw.DebugInfo()
		if err != nil {
			return err
		}
		if raw.Missized != 0 {
			d.fixes.missized.Add(1)
		}
		if d.pairing.loading {
			d.endBatch()
		}
		d.orphans += d.pairing.debugInfo(spanOf(raw), info.CodeAddr, false)
	case jitdump.IDUnwinding:
		u, err := raw.Unwinding()
		if err != nil {
			return err
		}
		d.unwinding(raw, &u)
	case jitdump.IDDebugInfo2:
		d.pairing.inlineTree(spanOf(raw))
	case jitdump.IDTier:
		if !raw.IsEarlyDebugInfo() {
			if _, err := raw.Tier(); err != nil {
				d.Unknown++
			}
			break // objects have no field for the tier
		}
		d.orphans += d.pairing.debugInfo(spanOf(raw), raw.Order.Uint64(raw.Body), true)
	case jitdump.IDEmbeddedSource:
		s, err := raw.EmbeddedSource()
		if err != nil {
			d.Unknown++
			break
		}
		if isGarbled(s.Name, false) || !d.sources.Add(fileName(s.Name), len(s.Text), spanOf(raw), len(d.parts)) {
			d.Problem(raw.Offset, "%s at offset %#x: its name is not a valid file name; it is left out", raw.ID, raw.Offset)
		}
	case jitdump.IDOpenJ9:
		d.j9Metadata(raw)
	case jitdump.IDClose:
		// Records of other threads or of forked children may follow.
		d.endBatch()
	default:
		d.Unknown++
	}
	return nil
}

// load adds a function.
func (d *Dump) load(raw *jitdump.Raw, l *jitdump.Load) {
	p := parts{load: spanOf(raw)}
	var tables uint64
	p.unwind, tables = d.unwindingOf(l)
	p.inline = d.inlineTreeOf(raw, l.Name)
	debug, early := d.pairing.takeDebugInfo(l.CodeAddr, func(s source.Span) bool { return d.entriesInside(s, l.CodeAddr, l.CodeSize) })
	switch {
	case !early:
		p.debug = debug
	case p.inline.Size == 0:
		p.inline = debug
	}
	metadata, ok := d.metadataOf(raw, l)
	if ok = ok && p.inline.Size == 0; ok { // the producer's own tree takes precedence
		p.inline = metadata
	}
	d.salt.add(raw, l)
	if l.LacksCode() {
		if d.withoutCode == nil {
			d.withoutCode = make(map[int]bool)
		}
		d.withoutCode[len(d.parts)] = true
	}
	d.traces = d.traces || isTraced(l.Name)
	d.high = max(d.high, l.CodeAddr+l.CodeSize)
	d.pairing.loaded(codeID{l.CodeIndex, l.PID}, len(d.Events))
	d.Events = append(grown(d.Events, raw.Offset, d.size), jitcode.Event{
		Kind: jitcode.Load, Function: len(d.parts), Time: raw.Timestamp, PID: l.PID, TID: d.thread(l.PID, l.TID),
		Index: l.CodeIndex, Addr: d.codeStart(l.CodeAddr), Size: l.CodeSize, Tables: tables,
	})
	d.addParts(&p, raw.Offset)
	if ok {
		d.addListings(len(d.parts) - 1)
	}
}

// thread returns the thread of a record, or the process if the id is impossible.
func (d *Dump) thread(pid, tid uint32) uint32 {
	if tid > maxTID {
		d.fixes.tids.Add(1)
		return pid
	}
	return tid
}

// move adds an event with the new address of a function.
func (d *Dump) move(raw *jitdump.Raw, m *jitdump.Move) {
	i, ok := d.pairing.moved(d.Events, codeID{m.CodeIndex, m.PID}, d.codeStart(m.OldCodeAddr))
	if !ok {
		d.Problem(raw.Offset, "%s at offset %#x of code_index %d, which no %s of process %d before it has; it is left out", jitdump.IDMove, raw.Offset, m.CodeIndex, jitdump.IDLoad, m.PID)
		return
	}
	event := d.Events[i] // a load, or the move before this one
	if m.NewCodeAddr+event.Size < m.NewCodeAddr {
		d.Problem(raw.Offset, "%s at offset %#x of %d bytes to %#x: that is beyond the end of all addresses; it is left out", jitdump.IDMove, raw.Offset, event.Size, m.NewCodeAddr)
		return
	}
	if m.CodeSize != event.Size {
		d.Problem(raw.Offset, "%s says that function %d has %d bytes, it was loaded with %d; the latter is used", jitdump.IDMove, m.CodeIndex, m.CodeSize, event.Size)
	}
	event.Kind = jitcode.Move
	event.Time = raw.Timestamp
	event.PID, event.TID = m.PID, d.thread(m.PID, m.TID)
	event.OldAddr = event.Addr
	event.Addr = d.codeStart(m.NewCodeAddr)
	d.pairing.loaded(codeID{m.CodeIndex, m.PID}, len(d.Events))
	d.Events = append(grown(d.Events, raw.Offset, d.size), event)
}

// entriesInside reports whether the debug record at s has entries, all inside the function or at
// its end.
func (d *Dump) entriesInside(s source.Span, addr, size uint64) bool {
	var w window
	if err := w.hold(d.src, s, source.Span{}); err != nil {
		return false
	}
	raw, err := w.record(s, d.order())
	if err != nil {
		return false
	}
	info, err := raw.DebugInfo()
	if err != nil {
		return false
	}
	n := 0
	for e, err := range info.Entries() {
		if err != nil || e.Addr-addr > size || e.Addr-addr == size && n == 0 {
			return false
		}
		n++
	}
	return n > 0
}

// Target returns the target of the dump's code.
func (d *Dump) Target() jitcode.Target {
	return jitcode.Target{Machine: d.header.Machine, Order: d.header.Order, HighAddress: d.high}
}

// Orphans returns how many debug records have no load so far.
func (d *Dump) Orphans() int {
	return d.orphans + len(d.pairing.debug) + len(d.pairing.inline) + d.pairing.tooMany + len(d.pairing.j9)
}

// PID returns the process in the header, in its own pid namespace.
func (d *Dump) PID() uint32 { return d.header.PID }

// NumFunctions returns how many functions were loaded. Function numbers, in events and for
// Reader.Function, are smaller.
func (d *Dump) NumFunctions() int { return len(d.parts) }

// HasCode reports whether the dump has the bytes of a function.
func (d *Dump) HasCode(function int) bool { return !d.withoutCode[function] }

// codeStart returns the start of code that is called at addr. On 32-bit ARM, the lowest bit of an
// address marks code of the T32 instruction set.
func (d *Dump) codeStart(addr uint64) uint64 {
	if elf.Machine(d.header.Machine) == elf.EM_ARM {
		return addr &^ 1
	}
	return addr
}

// order returns the byte order of the file.
func (d *Dump) order() binary.ByteOrder { return d.header.Order }
