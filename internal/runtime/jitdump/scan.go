package jitdump

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/jitinject/jitinject/internal/jitcode"
	"github.com/jitinject/jitinject/internal/source"
	"github.com/jitinject/jitinject/jitdump"
)

// A scanner reads the records of a dump, pairs them, and adds functions to the listing.
type scanner struct {
	*listing
	fixes       *fixes
	records     *jitdump.Reader
	from        int64 // offset of the first record, or below it
	size        int64 // of the file from there on when it was opened, in bytes, without holes; 0 if unknown
	pieceSize   int64 // in bytes
	lost        bool  // the rest of the file is unreadable
	plain       bool  // see PreferPlain
	pairing     pairing
	orphans     int    // number of debug records without a load
	interleaved int    // number of loads after several inline-tree records
	listed      window // of the records of the last listings
}

func spanOf(raw *jitdump.Raw) source.Span {
	return source.Span{Off: raw.Offset, Size: uint32(raw.Size())}
}

// scan reads the records that were written since the last call. The error is ctx's.
func (s *scanner) scan(ctx context.Context) error {
	s.Cut, s.CutName = -1, ""
	s.listed = s.window() // the file may have grown since
	ahead := s.pieces(ctx)
	defer ahead.workers.Wait()
	defer ahead.cancel()
	for n := 0; !s.lost; n++ {
		if s.records.Offset() >= ahead.check {
			ahead.join()
		}
		if n%1024 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		at := s.records.Offset()
		if n%1024 == 0 && s.Watch != nil {
			s.Watch(at)
		}
		raw, err := s.records.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			if !s.damaged(at, err) {
				break
			}
			continue
		}
		if err := s.record(&raw); err != nil {
			if raw.ID != jitdump.IDMove { // it may have been the next load, or described it
				s.orphans += s.pairing.forget()
			}
			s.Problem(raw.Offset, "%v; the record is left out", err)
		}
	}
	if s.Watch != nil {
		s.Watch(s.records.Offset())
	}
	return nil
}

// damaged handles an error of the reader, and reports whether reading can go on.
func (s *scanner) damaged(at int64, err error) bool {
	if errors.Is(err, jitdump.ErrTooLarge) {
		s.orphans += s.pairing.forget()
		s.Problem(at, "%v; it is left out", err)
		return true
	}
	at = s.records.Offset()
	skipped, more := s.records.Resync()
	switch {
	case more:
		s.Problem(at, "%v; %d bytes up to the next record are left out", err, skipped)
	case errors.Is(err, jitdump.ErrCut) && !s.reaches(at+maxCut):
		s.Cut, s.CutName = at, s.nameAtEnd(at)
		return false
	default:
		s.Problem(at, "%v; the rest of the file is left out", err)
		s.lost = true
	}
	s.orphans += s.pairing.forget()
	return more
}

// maxCut bounds the bytes after the start of a record that the end of the file cuts. Beyond that it
// is damage that looks like a record.
const maxCut = 16 << 20

// reaches reports whether the file has a byte at offset off.
func (s *scanner) reaches(off int64) bool {
	n, _ := s.src.ReadAt(make([]byte, 1), off)
	return n == 1
}

// record adds a record to the dump.
func (s *scanner) record(raw *jitdump.Raw) error {
	switch raw.ID {
	case jitdump.IDLoad:
		load, err := raw.Load()
		if err != nil {
			return err
		}
		if load.CodeAddr+load.CodeSize < load.CodeAddr {
			return fmt.Errorf("%s at offset %#x of %d bytes at %#x: that is beyond the end of all addresses", raw.ID, raw.Offset, load.CodeSize, load.CodeAddr)
		}
		s.load(raw, &load)
	case jitdump.IDMove:
		m, err := raw.Move()
		if err != nil {
			return err
		}
		s.move(raw, &m)
	case jitdump.IDDebugInfo:
		info, err := raw.DebugInfo()
		if err != nil {
			return err
		}
		if raw.Missized != 0 {
			s.fixes.missized.Add(1)
		}
		if s.pairing.loading {
			s.endBatch()
		}
		s.orphans += s.pairing.debugInfo(spanOf(raw), info.CodeAddr)
	case jitdump.IDUnwinding:
		u, err := raw.Unwinding()
		if err != nil {
			return err
		}
		s.unwinding(raw, &u)
	case jitdump.IDDebugInfo2:
		s.pairing.inlineTree(spanOf(raw))
	case jitdump.IDTier:
		if _, err := raw.Tier(); err != nil { // objects have no field for the tier
			s.Unknown++
		}
	case jitdump.IDEmbeddedSource:
		embedded, err := raw.EmbeddedSource()
		if err != nil {
			s.Unknown++
			break
		}
		if isGarbled(embedded.Name, false) || !s.sources.Add(fileName(embedded.Name), len(embedded.Text), spanOf(raw), len(s.functions)) {
			s.Problem(raw.Offset, "%s at offset %#x: its name is not a valid file name; it is left out", raw.ID, raw.Offset)
		}
	case jitdump.IDOpenJ9:
		s.j9Metadata(raw)
	case jitdump.IDClose:
		// Records of other threads or of forked children may follow.
		s.endBatch()
	default:
		s.Unknown++
	}
	return nil
}

// load adds a function.
func (s *scanner) load(raw *jitdump.Raw, l *jitdump.Load) {
	p := parts{load: spanOf(raw)}
	var tables uint64
	p.unwind, tables = s.unwindingOf(l)
	p.inline = s.inlineTreeOf(raw, l.Name)
	p.debug = s.pairing.takeDebugInfo(l.CodeAddr, func(table source.Span) bool { return s.entriesInside(table, l.CodeAddr, l.CodeSize) })
	if s.plain && p.debug.Size != 0 {
		p.inline = source.Span{}
	}
	metadata, ok := s.metadataOf(raw, l)
	if ok = ok && p.inline.Size == 0; ok { // the producer's own tree takes precedence
		p.inline = metadata
	}
	s.salt.add(raw, l)
	if l.LacksCode() {
		if s.withoutCode == nil {
			s.withoutCode = make(map[int]int)
		}
		s.withoutCode[len(s.functions)] = len(s.Events)
	}
	s.traces = s.traces || isTraced(l.Name)
	s.high = max(s.high, l.CodeAddr+l.CodeSize)
	s.pairing.loaded(codeID{l.CodeIndex, l.PID}, len(s.Events))
	s.Events = append(source.Grown(s.Events, 1, raw.Offset-s.from, s.size), jitcode.Event{
		Kind: jitcode.Load, Function: int32(len(s.functions)), Time: raw.Timestamp, PID: l.PID, TID: s.thread(l.PID, l.TID),
		Index: l.CodeIndex, Addr: s.codeStart(l.CodeAddr), Size: l.CodeSize, More: tables,
	})
	s.addParts(&p, raw.Offset)
	if ok {
		s.addListings(len(s.functions) - 1)
	}
}

// move adds an event with the new address of a function.
func (s *scanner) move(raw *jitdump.Raw, m *jitdump.Move) {
	i, ok := s.pairing.moved(s.Events, codeID{m.CodeIndex, m.PID}, s.codeStart(m.OldCodeAddr))
	if !ok {
		s.Problem(raw.Offset, "%s at offset %#x of code_index %d, which no %s of process %d before it has; it is left out", jitdump.IDMove, raw.Offset, m.CodeIndex, jitdump.IDLoad, m.PID)
		return
	}
	event := s.Events[i] // a load, or the move before this one
	if m.NewCodeAddr+event.Size < m.NewCodeAddr {
		s.Problem(raw.Offset, "%s at offset %#x of %d bytes to %#x: that is beyond the end of all addresses; it is left out", jitdump.IDMove, raw.Offset, event.Size, m.NewCodeAddr)
		return
	}
	if m.CodeSize != event.Size {
		s.Problem(raw.Offset, "%s says that function %d has %d bytes, it was loaded with %d; the latter is used", jitdump.IDMove, m.CodeIndex, m.CodeSize, event.Size)
	}
	event.Kind = jitcode.Move
	event.Time = raw.Timestamp
	event.PID, event.TID = m.PID, s.thread(m.PID, m.TID)
	event.More = event.Addr
	event.Addr = s.codeStart(m.NewCodeAddr)
	s.pairing.loaded(codeID{m.CodeIndex, m.PID}, len(s.Events))
	s.Events = append(source.Grown(s.Events, 1, raw.Offset-s.from, s.size), event)
}

// entriesInside reports whether the debug record table has entries, all inside the function or at
// its end.
func (s *scanner) entriesInside(table source.Span, addr, size uint64) bool {
	w := s.window()
	raw, err := w.only(table)
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

// addParts adds the parts of the next function. Its load is at offset at.
func (s *scanner) addParts(p *parts, at int64) {
	packed := packedParts{load: pack(p.load), debug: p.debug.Size}
	if p.inline.Size != 0 || p.unwind.Size != 0 || p.debug.Size != 0 && p.debug.Off+int64(p.debug.Size) != p.load.Off {
		s.others = append(source.Grown(s.others, 1, at-s.from, s.size), otherParts{pack(p.debug), pack(p.inline), pack(p.unwind)})
		packed.others = uint32(len(s.others))
	}
	s.functions = append(source.Grown(s.functions, 1, at-s.from, s.size), packed)
}
