package v8

import (
	"fmt"
	"hash/maphash"
	"math"

	"github.com/jitinject/jitinject/internal/format/v8log"
)

// Scanning a log: its lines become scripts, functions and objects of an index.

// A pending is a code-creation that waits for its code-source-info.
type pending struct {
	addr, size, time, sfi uint64
	name                  int64  // offset of the name
	text                  []byte // tag, colon, tier and name
	before                int    // bytes of text before the name
	optimized, valid      bool
	code                  int32 // its number in the scanner's log, or unknown
}

// maxPending bounds the functions that threads of one isolate log at once.
const maxPending = 16

// A scanner reads a log into an index.
type scanner struct {
	*index
	wanted  map[place]int   // number of loads of the dump
	limit   int             // of index.memory
	hit     bool            // some code of the log is where the dump has code
	byID    map[int32]int32 // indexes of scripts of this isolate
	current identities
	started bool // the log has builtins of this isolate, or functions
	pending [maxPending]pending
	next    int
	list    []byte

	// These are used if the log is a dump of its own.
	log      *Log              // gets all code; nil for the log of another dump
	prefixes map[string]string // of names, each once
	prefix   []byte
	at       map[uint64]int32 // codes of this isolate by their addresses
	time     uint64           // the latest, in nanoseconds
	before   uint64           // the one before
	latest   int32            // the code that time is of, or unknown
	jumped   bool             // one time was damaged
	timed    int              // number of stays with their last time
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
	s.started = false
	s.time, s.before = 0, 0
	if s.isolates > 0 && len(s.byID) == 0 && len(s.current) == 0 && len(s.at) == 0 {
		s.began[s.isolates-1] = 0
		return
	}
	s.isolates++
	s.began = append(s.began, 0)
	s.byID = make(map[int32]int32)
	s.current = make(identities)
	s.at = make(map[uint64]int32)
	if s.log != nil {
		s.log.code.Ends, s.timed = append(s.log.code.Ends, 0), len(s.log.code.Stays)
	}
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
			if s.log != nil {
				s.log.shared = true
			}
			return
		}
		s.byID[rec.Script] = int32(len(s.scripts))
		s.scripts = append(s.scripts, script{url: string(v8log.AppendText(nil, rec.URL)), logged: string(rec.URL), text: rec.Text, Placement: v8log.Placement{Lines: rec.Lines}})
	case *v8log.CodeCreation:
		s.creation(rec)
	case *v8log.SourceInfo:
		s.sourceInfo(rec)
	case *v8log.Move:
		switch rec.Kind {
		case v8log.FunctionMoved:
			s.current.move(rec.From, rec.To)
		case v8log.CodeMoved:
			s.moveCode(rec)
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
	if !s.started && c.IsFunction { // an isolate makes its builtins first
		s.began[s.isolates-1] = max(c.Time, 1)
	}
	s.started = s.started || c.IsFunction || string(c.Tag) == "Builtin"
	added := s.addCode(c)
	if !c.IsFunction {
		return
	}
	s.created++
	p := &s.pending[s.next%maxPending]
	s.next++
	text := append(p.text[:0], c.Tag...)
	text = append(append(text, ':'), c.Tier...)
	*p = pending{
		addr: c.Address, size: c.Size, time: c.Time, sfi: c.SFI, name: c.NameOffset,
		text: append(text, c.Name...), before: len(text), optimized: c.IsOptimized(), valid: true, code: added,
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
	if sc != nil && !sc.Begins(i.Start, n.line, n.column) {
		s.addDamage(fmt.Errorf("%s: code-source-info at offset %#x: start: %d is not where the function's name says, at %d:%d", v8log.FormatName, i.Offset, i.Start, n.line, n.column))
		return
	}
	if p.code != unknown && n.function < len(p.text)-p.before {
		s.log.codes[p.code].escaped = int32(n.function)
		s.log.code.Codes[p.code].Key = logKey(p.text, p.before+n.function)
	}
	own, known := s.current[p.sfi]
	if !known || s.functions[own].script != at || s.functions[own].start != i.Start {
		if !s.keep(i.Offset, functionMemory) {
			return
		}
		own = int32(len(s.functions))
		s.functions = append(s.functions, function{newNameRef(p.name, n.function), at, i.Start})
		s.current[p.sfi] = own
	}
	if !p.optimized || i.Positions.Size == 0 {
		return
	}
	s.optimized++
	if s.log == nil && s.wanted[place{p.addr, p.size}] == 0 {
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
		if p.code != unknown {
			s.log.codes[p.code].object = int32(len(s.objects))
			s.log.code.Codes[p.code].Lines = o.sum ^ uint64(own+1)
		}
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
		fn, ok := s.current[addr]
		if !ok {
			fn = unknown
		}
		s.inlined = append(s.inlined, fn)
	}
	return true
}
