package v8

import (
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"math"

	"github.com/jitinject/jitinject/internal/format/v8log"
	"github.com/jitinject/jitinject/internal/quote"
)

// An index has what the log says of optimized code that may be in the dump.
type index struct {
	src  io.ReaderAt
	name string // of the log, for messages

	scripts   []script
	functions functionList
	objects   []object
	inlined   []int32 // of all objects: indexes in functions, or unknown

	optimized int // code objects of Maglev and Turbofan with positions
	isolates  int
	damaged   int   // number of damaged lines
	damage    error // the first
	cut       int64 // offset of the unfinished last line, or -1
	full      int64 // offset of the first line that was not kept, or -1
	memory    int   // estimate, in bytes
	stopped   bool  // the log was not read to its end: its first code is not in the dump
}

// maxStrange is the number of optimized functions after which reading stops if none is where the
// dump has one. Dumps have code from the start of their process on, too.
const maxStrange = 1024

// unknown is the index of a function or script that the log does not describe.
const unknown = -1

// A script is a source text.
type script struct {
	url    string
	logged string     // the URL as in the log, with escapes
	text   v8log.Span // in the log
	lines  *v8log.Lines
	number int32 // of the text in the dump's description, or unknown

	// Scripts inside other files, such as pages, begin at another line of these.
	placed, indented bool   // line and column are known
	line, column     uint32 // added to lines, and to columns of the first line
}

// An object is optimized code in the log.
type object struct {
	addr, size, time uint64 // time in microseconds of the isolate
	key              uint64 // hash of the name, as in the dump
	sum              uint64 // of its lists: it tells whether they have changed
	isolate          int32
	function         int32 // index of its own function
	script           int32
	first, last      int32 // its inlined functions, in index.inlined
	positions        v8log.Span
	calls            v8log.Span
}

// maxIndex bounds the memory of the indexes of a run, in bytes. The index of a log of 800 MB, with
// 800,000 functions, needs it.
const maxIndex = 40 << 20

// Memory of kept things, in bytes, with that of tables.
const (
	scriptMemory   = 256
	functionMemory = 32
	objectMemory   = 160
)

// A pending is a code-creation that waits for its code-source-info.
type pending struct {
	addr, size, time, sfi uint64
	name                  int64  // offset of the name
	text                  []byte // tag, colon, tier and name
	before                int    // bytes of text before the name
	optimized, valid      bool
}

// maxPending is how many functions may be logged at once, by threads of one isolate.
const maxPending = 16

// A scanner reads a log into an index.
type scanner struct {
	*index
	wanted  map[place]int   // number of loads of the dump
	limit   int             // of index.memory
	hit     bool            // some code of the log is where the dump has code
	byID    map[int32]int32 // indexes of scripts of this isolate
	current identities
	pending [maxPending]pending
	next    int
	list    []byte
}

// A reading is a log to be read.
type reading struct {
	ctx    context.Context
	src    io.ReaderAt
	name   string           // of the log, for messages
	wanted map[place]int    // number of loads of the dump
	limit  int              // of the index's memory, in bytes
	watch  func(done int64) // if not nil, gets the number of bytes that are read
	done   int64
}

// ReadAt reads the log from its beginning to its end. It fails when ctx is done: the reader of the
// log asks for a block of a few hundred kilobytes at a time, however long the lines are.
func (l *reading) ReadAt(b []byte, off int64) (int, error) {
	if err := l.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := l.src.ReadAt(b, off)
	if end := off + int64(n); l.watch != nil && end > l.done {
		l.done = end
		l.watch(end)
	}
	return n, err
}

// index reads the log. It fails if the log cannot be read, or if ctx is done. Damaged lines are
// left out.
func (l *reading) index() (*index, error) {
	r, err := v8log.NewReader(l)
	if err != nil {
		return nil, err
	}
	s := &scanner{index: &index{src: l.src, name: l.name, cut: -1, full: -1}, wanted: l.wanted, limit: l.limit}
	s.beginIsolate()
	for !s.stopped {
		rec, err := r.Next()
		if err == io.EOF {
			break
		}
		if damage := (*v8log.Error)(nil); errors.As(err, &damage) {
			s.addDamage(err)
			continue
		}
		if err != nil {
			return nil, err
		}
		s.record(rec)
	}
	s.cut = r.Cut
	return s.index, nil
}

// addDamage counts a line that cannot be used.
func (s *scanner) addDamage(err error) {
	if s.damaged++; s.damage == nil {
		s.damage = err
	}
}

// beginIsolate forgets all addresses and ids: they are an isolate's. An isolate without any does not
// count.
func (s *scanner) beginIsolate() {
	for i := range s.pending {
		s.pending[i].valid = false
	}
	if s.isolates > 0 && len(s.byID) == 0 && s.current.used == 0 {
		return
	}
	s.isolates++
	s.byID = make(map[int32]int32)
	s.current = newIdentities(&s.functions)
}

// record adds a record to the index.
func (s *scanner) record(rec v8log.Record) {
	switch rec := rec.(type) {
	case *v8log.Version:
		if rec.Offset > 0 {
			s.beginIsolate()
		}
	case *v8log.ScriptSource:
		if !s.keep(rec.Offset, scriptMemory+2*len(rec.URL)+rec.Lines.Bytes()) {
			return
		}
		if _, again := s.byID[rec.Script]; again {
			// V8 writes a script once. So isolates share the file, and their ids are mixed up.
			s.addDamage(fmt.Errorf("%s: script-source at offset %#x: script %d is there again", v8log.FormatName, rec.Offset, rec.Script))
			s.byID[rec.Script] = unknown
			return
		}
		s.byID[rec.Script] = int32(len(s.scripts))
		s.scripts = append(s.scripts, script{url: string(v8log.AppendText(nil, rec.URL)), logged: string(rec.URL), text: rec.Text, lines: rec.Lines})
	case *v8log.CodeCreation:
		s.creation(rec)
	case *v8log.SourceInfo:
		s.sourceInfo(rec)
	case *v8log.Move:
		if rec.Kind == v8log.FunctionMoved {
			s.current.move(rec.From, rec.To)
		}
	}
}

// keep reports whether size bytes more can be kept.
func (s *scanner) keep(off int64, size int) bool {
	if s.memory+size > s.limit || len(s.inlined) > math.MaxInt32/2 {
		if s.full < 0 {
			s.full = off
		}
		return false
	}
	s.memory += size
	return true
}

// creation remembers a function's code until its source is known.
func (s *scanner) creation(c *v8log.CodeCreation) {
	if !c.IsFunction {
		return
	}
	p := &s.pending[s.next%maxPending]
	s.next++
	text := append(p.text[:0], c.Tag...)
	text = append(append(text, ':'), c.Tier...)
	*p = pending{
		addr: c.Address, size: c.Size, time: c.Time, sfi: c.SFI, name: c.NameOffset,
		text: append(text, c.Name...), before: len(text), optimized: c.IsOptimized(), valid: true,
	}
}

// takePending returns the latest creation at an address, valid until the next creation.
func (s *scanner) takePending(addr uint64) (*pending, bool) {
	for i := 1; i <= maxPending && i <= s.next; i++ {
		p := &s.pending[(s.next-i)%maxPending]
		if p.valid && p.addr == addr {
			p.valid = false
			return p, true
		}
	}
	return nil, false
}

// sourceInfo adds a function, and its code if the dump may have it.
func (s *scanner) sourceInfo(i *v8log.SourceInfo) {
	p, ok := s.takePending(i.Address)
	if !ok {
		return // a line between is damaged
	}
	at, ok := s.byID[i.Script]
	if !ok {
		at = unknown
	}
	var sc *script
	if at != unknown {
		sc = &s.scripts[at]
	}
	n := splitName(p.text[p.before:], sc)
	if sc != nil && !sc.begins(i.Start, n.line, n.column) {
		s.addDamage(fmt.Errorf("%s: code-source-info at offset %#x: start: %d is not where the function's name says, at %d:%d", v8log.FormatName, i.Offset, i.Start, n.line, n.column))
		return
	}
	own, known := s.current.find(p.sfi)
	if f := (function{p.sfi, newNameRef(p.name, n.function), at, i.Start}); !known || s.functions.at(own).script != at || s.functions.at(own).start != i.Start {
		if !s.keep(i.Offset, functionMemory) {
			return
		}
		own = s.functions.add(f)
		s.current.set(p.sfi, own)
	}
	if !p.optimized || i.Positions.Size == 0 {
		return
	}
	s.optimized++
	if s.wanted[place{p.addr, p.size}] == 0 {
		s.stopped = !s.hit && s.optimized == maxStrange && len(s.wanted) > 0
		return
	}
	s.hit = true
	o := object{
		addr: p.addr, size: p.size, time: p.time, key: logKey(p.text, p.before+n.function), isolate: int32(s.isolates - 1), function: own, script: at,
		positions: i.Positions, calls: i.Inlining, first: int32(len(s.inlined)),
	}
	if !s.resolve(i) || !s.sumLists(&o) {
		return
	}
	o.last = int32(len(s.inlined))
	if s.keep(i.Offset, objectMemory) {
		s.objects = append(s.objects, o)
	}
}

// sumLists sets o.sum. Longer lists than those that are worth reading have none.
func (s *scanner) sumLists(o *object) bool {
	for _, span := range []v8log.Span{o.positions, o.calls} {
		if span.Size > v8log.MaxList {
			continue
		}
		var err error
		if s.list, err = v8log.ReadSpan(s.src, span, v8log.MaxList, s.list); err != nil {
			s.addDamage(err)
			return false
		}
		o.sum += maphash.Bytes(seed, s.list)
	}
	return true
}

// resolve appends the inlined functions of code to s.inlined.
func (s *scanner) resolve(i *v8log.SourceInfo) bool {
	var err error
	if s.list, err = v8log.ReadSpan(s.src, i.Functions, v8log.MaxList, s.list); err != nil {
		s.addDamage(err)
		return false
	}
	for addr, err := range v8log.Functions(s.list, i.Functions.Off) {
		if err != nil {
			s.addDamage(err)
			return false
		}
		if !s.keep(i.Offset, 8) {
			return false
		}
		fn, ok := s.current.find(addr)
		if !ok {
			fn = unknown
		}
		s.inlined = append(s.inlined, fn)
	}
	return true
}

// begins reports whether a function that begins at a code unit may be at line and column of the
// file, or 0 if its place is unknown. The first functions prove where the script begins in the file.
func (s *script) begins(start int32, line, column uint32) bool {
	if line == 0 || column == 0 {
		return true
	}
	l, c, ok := s.lines.Position(start)
	if !ok || line < l || l == 1 && column < c {
		return false
	}
	if !s.placed {
		s.placed, s.line = true, line-l
	}
	if l == 1 && !s.indented {
		s.indented, s.column = true, column-c
	}
	if l == 1 {
		c += s.column
	}
	return line == l+s.line && column == c
}

// position returns the line and the column of a code unit in the script's file, from 1, or 0.
func (s *script) position(unit int32) (line, column uint32) {
	line, column, ok := s.lines.Position(unit)
	if !ok {
		return 0, 0
	}
	if line == 1 {
		column += s.column
	}
	return line + s.line, column
}

// problem returns an error about the log.
func (x *index) problem(err error) error {
	return fmt.Errorf("%s: %w", quote.Printable(x.name), err)
}
