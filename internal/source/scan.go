package source

import (
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/jitinject/jitinject/internal/jitcode"
	"github.com/jitinject/jitinject/jitdump"
)

// A Problem is something in a side file that cost information.
type Problem struct {
	Offset int64  // in the side file
	Text   string // a sentence that says the offset, too
}

// maxProblems bounds how many problems of one file are kept; the rest is only
// counted.
const maxProblems = 50

// A Jitdump is a scanned jitdump file.
type Jitdump struct {
	Header   *jitdump.Header
	Events   []jitcode.Event // in the order of the file
	Problems []Problem
	Dropped  int // problems beyond those in Problems
	Unknown  int // records of types we have no use for
	Orphans  int // debug records that no load could be found for

	// Cut is the offset of a record that the end of the file cuts, or -1. That is
	// usual: the producer was killed, or still writes.
	Cut int64

	src      io.ReaderAt
	parts    []parts // of each function
	repairs  repairs
	skew     uint64 // what the producer adds to debug addresses
	high     uint64 // the end of the code that ends last
	bytecode bool   // the lines of baseline functions are about bytecode
	baseline []int  // some baseline functions that have lines
}

// parts says where a function's records lie.
type parts struct {
	load, debug, unwind span
}

// A span is a record in the file; size 0 means there is none.
type span struct {
	off  int64
	size uint32
}

func spanOf(raw *jitdump.Raw) span { return span{raw.Offset, uint32(raw.Size())} }

// ScanJitdump reads a whole jitdump once. It fails only where nothing can be
// read at all; damage costs what is damaged and becomes a Problem. src is used
// until the Jitdump is no longer, from several goroutines.
func ScanJitdump(src io.ReaderAt) (*Jitdump, error) {
	r, err := jitdump.NewReader(src)
	if err != nil {
		return nil, err
	}
	s := scanner{Jitdump: &Jitdump{Header: r.Header(), src: src, Cut: -1}, debug: make(map[uint64]span)}
	for {
		raw, err := r.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			if !s.damaged(r, err) {
				break
			}
			continue
		}
		if err := s.record(&raw); err != nil {
			s.problem(raw.Offset, "%v; the record is left out", err)
		}
	}
	s.Orphans += len(s.debug)
	s.findQuirks()
	return s.Jitdump, nil
}

// A scanner holds what is pending while a Jitdump is scanned.
type scanner struct {
	*Jitdump
	debug     map[uint64]span // by the code address they name
	lastDebug span            // the latest of those, for want of a match by address
	lastAddr  uint64          // the address it names
	unwind    span
	mapped    uint64         // what unwind says of itself
	byIndex   map[uint64]int // latest load event of a code index; nil before the first move
}

func (d *Jitdump) problem(off int64, format string, args ...any) {
	if len(d.Problems) == maxProblems {
		d.Dropped++
		return
	}
	d.Problems = append(d.Problems, Problem{off, fmt.Sprintf(format, args...)})
}

// damaged handles an error of the reader and reports whether there is more to read.
func (s *scanner) damaged(r *jitdump.Reader, err error) bool {
	at := r.Offset()
	skipped, more := r.Resync()
	switch {
	case more:
		s.problem(at, "%v; %d bytes up to the next record are left out", err, skipped)
	case errors.Is(err, jitdump.ErrCut) && !s.reaches(at+maxCut):
		s.Cut = at
	default:
		s.problem(at, "%v; the rest of the file is left out", err)
	}
	return more
}

// maxCut is what may be left of a file behind the start of a record that its end
// cuts. More than that is no record, but damage that looks like one.
const maxCut = 16 << 20

// reaches reports whether the file has a byte at offset off.
func (s *scanner) reaches(off int64) bool {
	n, _ := s.src.ReadAt(make([]byte, 1), off)
	return n == 1
}

func (s *scanner) record(raw *jitdump.Raw) error {
	switch raw.ID {
	case jitdump.IDLoad:
		l, err := raw.Load()
		if err != nil {
			return err
		}
		if l.CodeAddr+l.CodeSize < l.CodeAddr {
			return fmt.Errorf("%s at offset %#x of %d bytes at %#x: that is beyond the end of all addresses", raw.ID, raw.Offset, l.CodeSize, l.CodeAddr)
		}
		s.load(raw, &l)
	case jitdump.IDMove:
		m, err := raw.Move()
		if err != nil {
			return err
		}
		s.move(raw, &m)
	case jitdump.IDDebugInfo:
		d, err := raw.DebugInfo()
		if err != nil {
			return err
		}
		if _, again := s.debug[d.CodeAddr]; again {
			s.Orphans++
		}
		s.debug[d.CodeAddr] = spanOf(raw)
		s.lastDebug, s.lastAddr = spanOf(raw), d.CodeAddr
	case jitdump.IDUnwinding:
		u, err := raw.Unwinding()
		if err != nil {
			return err
		}
		// CPython rounds up to 16; whatever claims more is not to be believed.
		s.unwind, s.mapped = spanOf(raw), min(u.MappedSize, uint64(len(u.Data)+15)&^15)
	case jitdump.IDClose:
		// Records of other threads or of forked children may follow.
	default:
		s.Unknown++
	}
	return nil
}

func (s *scanner) load(raw *jitdump.Raw, l *jitdump.Load) {
	p := parts{load: spanOf(raw), unwind: s.unwind}
	s.unwind = span{}
	if d, ok := s.debug[l.CodeAddr]; ok {
		p.debug = d
		delete(s.debug, l.CodeAddr)
		s.lastDebug = span{}
	} else if s.lastDebug.size != 0 {
		if s.entriesInside(s.lastDebug, l.CodeAddr, l.CodeSize) {
			p.debug = s.lastDebug
			delete(s.debug, s.lastAddr)
		}
		s.lastDebug = span{} // tried once: it is for the next load or for none
	}
	if p.debug.size != 0 && len(s.baseline) < sampleSize && isBaseline(l.Name) {
		s.baseline = append(s.baseline, len(s.parts))
	}
	tid := l.TID
	if tid > maxTID {
		tid = l.PID
		s.repairs.tids.Add(1)
	}
	event := jitcode.Event{
		Kind: jitcode.Load, Function: len(s.parts), Time: raw.Timestamp, PID: l.PID, TID: tid,
		Index: l.CodeIndex, Addr: s.codeStart(l.CodeAddr), Size: l.CodeSize, Tables: s.mapped,
	}
	s.mapped = 0
	if s.byIndex != nil {
		s.byIndex[l.CodeIndex] = len(s.Events)
	}
	s.high = max(s.high, l.CodeAddr+l.CodeSize)
	s.parts = append(s.parts, p)
	s.Events = append(s.Events, event)
}

func (s *scanner) move(raw *jitdump.Raw, m *jitdump.Move) {
	if s.byIndex == nil {
		s.byIndex = make(map[uint64]int)
		for i := range s.Events {
			s.byIndex[s.Events[i].Index] = i
		}
	}
	i, ok := s.byIndex[m.CodeIndex]
	if !ok {
		s.problem(raw.Offset, "%s at offset %#x of code_index %d, which no %s before it has; it is left out", jitdump.IDMove, raw.Offset, m.CodeIndex, jitdump.IDLoad)
		return
	}
	event := s.Events[i] // a load, or the move before this one
	if m.NewCodeAddr+event.Size < m.NewCodeAddr {
		s.problem(raw.Offset, "%s at offset %#x of %d bytes to %#x: that is beyond the end of all addresses; it is left out", jitdump.IDMove, raw.Offset, event.Size, m.NewCodeAddr)
		return
	}
	if m.CodeSize != event.Size {
		s.problem(raw.Offset, "%s says that function %d has %d bytes, it was loaded with %d; the latter is used", jitdump.IDMove, m.CodeIndex, m.CodeSize, event.Size)
	}
	event.Kind = jitcode.Move
	event.Time = raw.Timestamp
	event.PID = m.PID
	event.OldAddr = event.Addr
	event.Addr = s.codeStart(m.NewCodeAddr)
	s.byIndex[m.CodeIndex] = len(s.Events)
	s.Events = append(s.Events, event)
}

// entriesInside reports whether the debug record at d has entries and all of
// them are inside the function.
func (s *scanner) entriesInside(d span, addr, size uint64) bool {
	var w window
	if err := w.hold(s.src, d, span{}); err != nil {
		return false
	}
	raw, err := w.record(d, s.Header.Order)
	if err != nil {
		return false
	}
	info, err := raw.DebugInfo()
	if err != nil {
		return false
	}
	n := 0
	for e, err := range info.Entries() {
		if err != nil || e.Addr-addr >= size {
			return false
		}
		n++
	}
	return n > 0
}

// Target returns what the dump's code is made for.
func (d *Jitdump) Target() jitcode.Target {
	return jitcode.Target{Machine: d.Header.Machine, Order: d.Header.Order, HighAddress: d.high}
}

// NumFunctions returns how many functions were loaded. Their numbers, in events
// and for Reader.Function, are smaller.
func (d *Jitdump) NumFunctions() int { return len(d.parts) }

// codeStart returns where code begins that is called at addr: on 32-bit ARM the
// lowest bit of a function's address says that its code is in the T32 set.
func (d *Jitdump) codeStart(addr uint64) uint64 {
	if elf.Machine(d.Header.Machine) == elf.EM_ARM {
		return addr &^ 1
	}
	return addr
}

// order is the byte order of the file.
func (d *Jitdump) order() binary.ByteOrder { return d.Header.Order }
