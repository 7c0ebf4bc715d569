package jitdump

import (
	"context"
	"debug/elf"
	"fmt"
	"io"
	"io/fs"
	"math"
	"syscall"

	"github.com/jitinject/jitinject/internal/source"
	"github.com/jitinject/jitinject/jitdump"
)

// Kind is the kind of jitdumps in the summary and in options.
const Kind = "jitdump"

// ErrNotJitdump says that a file is no jitdump.
var ErrNotJitdump = jitdump.ErrNotJitdump

// A Dump is a jitdump file, scanned up to the last call of Scan.
type Dump struct {
	listing
	scanner     scanner
	decisions   decisions
	description Description
	fixes       fixes
}

var (
	_ source.Dump   = (*Dump)(nil)
	_ source.Tracer = (*Dump)(nil)
	_ source.Texter = (*Dump)(nil)
)

// Identify reports whether a file begins with the magic number of jitdumps.
func Identify(src io.ReaderAt, _ string) bool {
	var head [4]byte
	n, _ := src.ReadAt(head[:], 0)
	return string(head[:n]) == "DTiJ" || string(head[:n]) == "JiTD"
}

// Open is OpenFile for callers that open files of several formats.
func Open(src io.ReaderAt) (source.Dump, error) {
	d, err := OpenFile(src)
	if err != nil {
		return nil, err
	}
	return d, nil
}

// OpenFile reads the header of a jitdump. It fails if the file is not readable as one. The Dump
// uses src for its whole lifetime, from several goroutines.
func OpenFile(src io.ReaderAt) (*Dump, error) {
	records, err := jitdump.NewReader(src)
	if err != nil {
		return nil, err
	}
	if m := records.Header().Machine; m > math.MaxUint16 {
		return nil, fmt.Errorf("%s: elf_mach at offset %#x is %#x; ELF machines have 16 bits", jitdump.FormatName, 12, m)
	}
	d := &Dump{listing: listing{header: records.Header(), src: src, Listing: source.Listing{Cut: -1}}}
	d.scanner = scanner{listing: &d.listing, fixes: &d.fixes, records: records, pairing: newPairing(), size: sizeOf(src), pieceSize: 1 << 20}
	return d, nil
}

// sizeOf returns the size of a file in bytes, without holes, or 0 if it is unknown.
func sizeOf(src io.ReaderAt) int64 {
	f, ok := src.(interface{ Stat() (fs.FileInfo, error) })
	if !ok {
		return 0
	}
	st, err := f.Stat()
	if err != nil {
		return 0
	}
	if u, ok := st.Sys().(*syscall.Stat_t); ok {
		return min(st.Size(), 512*u.Blocks)
	}
	return st.Size()
}

// Scan reads the records that were written since the last call, and decides about the dump as a
// whole. A damaged part is dropped and becomes a Problem. The error is ctx's. Scan must not run
// while functions are read.
func (d *Dump) Scan(ctx context.Context) error {
	if err := d.scanner.scan(ctx); err != nil {
		return err
	}
	if err := d.decisions.decide(ctx, &d.listing); err != nil {
		return err
	}
	d.decisions.callees.collect(&d.listing)
	return nil
}

// PreferPlain makes functions use their debug record if they have a record of inlined calls, too. So the faults of
// both can be found. It must be called before Scan.
func (d *Dump) PreferPlain() { d.scanner.plain = true }

// Reader returns a new reader for one goroutine.
func (d *Dump) Reader() *Reader {
	return newReader(&d.listing, &d.decisions, &d.description, &d.fixes)
}

// Functions is Reader for the interface source.Dump.
func (d *Dump) Functions() source.FunctionReader { return d.Reader() }

// Inspect returns a reader that counts no fixes and leaves out unwind tables.
func (d *Dump) Inspect() source.FunctionReader {
	r := newReader(&d.listing, &d.decisions, &d.description, new(fixes))
	r.inspects = true
	return r
}

// MayHaveLines reports whether a record or a log describes lines of function i.
func (d *Dump) MayHaveLines(i int) bool {
	p := d.partsOf(i)
	return p.debug.Size != 0 || p.inline.Size != 0 || d.description.has(i)
}

// Orphans returns how many debug records have no load so far.
func (d *Dump) Orphans() int {
	s := &d.scanner
	return s.orphans + len(s.pairing.debug) + len(s.pairing.inline) + s.pairing.tooMany + len(s.pairing.j9)
}

// The values in the header of a jitdump, and their reliability.

// Clock returns the clock of the dump's times, from the header. The error is always nil.
func (l *listing) Clock() (source.Clock, error) {
	switch {
	case l.header.Flags.Unknown() != 0:
		return source.UnknownClock, nil
	case l.header.Flags&jitdump.ArchTimestamps != 0:
		return source.ArchClock, nil
	}
	return source.MonotonicClock, nil
}

// Traits returns the traits of jitdumps.
func (l *listing) Traits() source.Traits {
	return source.Traits{Kind: Kind, Trust: source.TrustDump, ClockUnsure: true}
}

// SetMachine sets the machine, if the header has no elf_mach, to that of the recording.
func (l *listing) SetMachine(machine source.Machine) {
	if l.header.Machine != uint32(elf.EM_NONE) {
		return
	}
	ptrSize := uint8(8)
	if machine.Narrow(l.header.PID) {
		ptrSize = 4
	}
	if m := source.MachineOf(machine.Name, ptrSize); m != elf.EM_NONE {
		l.header.Machine, l.assumed = uint32(m), true
	}
}
