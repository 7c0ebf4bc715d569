package jitdump

import (
	"bytes"
	"slices"

	"github.com/jitinject/jitinject/internal/jitcode"
	"github.com/jitinject/jitinject/internal/source"
	"github.com/jitinject/jitinject/jitdump"
)

// A pairing has the records that wait for their load, and the loads that a move may refer to.
type pairing struct {
	debug     map[uint64]waiting // by the code address in the record
	batch     int                // number of runs of debug records with loads between them
	inBatch   bool               // the last relevant record was a debug record
	lastDebug source.Span        // the latest debug record, if no address matches
	lastAddr  uint64             // the address in it
	inline    []waitingTree      // inline-tree records since the last load
	tooMany   int                // how many more there were
	mixed     bool               // the remaining ones may belong to later loads
	j9        []waitingMetadata  // in the order of the file
	loads     int                // number of loads, counted for j9
	unwind    source.Span
	mapped    uint64 // mapped size in unwind, in bytes
	tables    int    // batch of unwind tables for the next loads, from 1; 0 for none
	loading   bool   // loads of the batch have come

	// own and any have the latest loads and moves, by code index: in a process, and in any process.
	// They are collected from the first move on, because most dumps have no moves.
	own map[codeID]int
	any map[uint64][]int
}

// A codeID identifies a function as its producer does.
type codeID struct {
	index uint64
	pid   uint32
}

// A waiting record has no load so far.
type waiting struct {
	source.Span
	batch int
}

// A waitingTree is an inline-tree record that may belong to a later load.
type waitingTree struct {
	source.Span
	name  []byte // of the function in it
	named bool   // name was read
}

// maxBatches is how many batches of debug records may come between a debug record and its load. The
// lines of a lost load must not describe a much later function at the same address.
const maxBatches = 1

// isIdle reports whether no record waits for a load, as at the beginning of a dump.
func (p *pairing) isIdle() bool {
	return len(p.debug)+len(p.inline)+len(p.j9)+p.tooMany+p.tables == 0 && !p.inBatch && !p.mixed && p.lastDebug.Size == 0 && p.unwind.Size == 0
}

func newPairing() pairing { return pairing{debug: make(map[uint64]waiting)} }

// debugInfo records a debug record, and returns how many are dropped.
func (p *pairing) debugInfo(s source.Span, addr uint64) (orphans int) {
	if !p.inBatch {
		p.inBatch = true
		p.batch++
		for a, w := range p.debug {
			if w.batch+maxBatches < p.batch {
				delete(p.debug, a)
				orphans++
			}
		}
	}
	if _, again := p.debug[addr]; again {
		orphans++
	}
	p.debug[addr] = waiting{s, p.batch}
	p.lastDebug, p.lastAddr = s, addr
	return orphans
}

// maxTrees is how many inline-tree records may wait for a load.
const maxTrees = 16

// inlineTree adds a record for the next load.
func (p *pairing) inlineTree(s source.Span) {
	if len(p.inline) == maxTrees {
		p.tooMany++
		return
	}
	p.inline = append(p.inline, waitingTree{Span: s})
}

// inlineTreeOf returns the inline-tree record of a load. Usually one record precedes the load. If
// threads interleave their records, the record with the function name of the load is right, and the
// others keep waiting. Of several records of that name, or if all have one other name, the last is
// right, as with debug records: the loads of those before it are lost.
func (s *scanner) inlineTreeOf(load *jitdump.Raw, name []byte) source.Span {
	p := &s.pairing
	switch {
	case len(p.inline) == 0:
		return source.Span{}
	case len(p.inline) == 1 && p.tooMany == 0 && !p.mixed:
		only := p.inline[0].Span
		p.inline = p.inline[:0]
		return only
	}
	for i := range p.inline {
		w := &p.inline[i]
		if !w.named { // it may be large, and many loads may come before its own
			w.name, w.named = bytes.Clone(s.outerName(w.Span)), true
		}
	}
	last := p.inline[len(p.inline)-1]
	isOther := func(w waitingTree) bool { return !bytes.Equal(w.name, last.name) }
	if !p.mixed && p.tooMany == 0 && !slices.ContainsFunc(p.inline, isOther) {
		name = last.name
	}
	before := len(p.inline)
	p.inline = slices.DeleteFunc(p.inline, func(w waitingTree) bool {
		if !bytes.Equal(w.name, name) {
			return false
		}
		last = w
		return true
	})
	if found := before - len(p.inline); found > 0 {
		if p.mixed = len(p.inline) > 0; p.mixed || before == 1 {
			s.interleaved++
		}
		s.orphans += found - 1
		return last.Span
	}
	s.Problem(p.inline[0].Off, "%d records of inlined calls, from offset %#x on, come before the %s at offset %#x, and none of them is about a function of that name; they are left out", len(p.inline)+p.tooMany, p.inline[0].Off, load.ID, load.Offset)
	s.orphans += len(p.inline) + p.tooMany
	p.inline, p.tooMany, p.mixed = p.inline[:0], 0, false
	return source.Span{}
}

// outerName returns the function name in an inline-tree record.
func (l *listing) outerName(tree source.Span) []byte {
	w := l.window()
	raw, err := w.only(tree)
	if err != nil {
		return nil
	}
	var info jitdump.DebugInfo2
	if raw.DebugInfo2(&info) != nil {
		return nil
	}
	return outerOf(&info)
}

// unwinding records the unwinding record of the next load.
func (p *pairing) unwinding(s source.Span, mapped uint64) { p.unwind, p.mapped = s, mapped }

// takeUnwinding removes and returns the unwinding record before a load.
func (p *pairing) takeUnwinding() (s source.Span, mapped uint64) {
	s, mapped = p.unwind, p.mapped
	p.unwind, p.mapped = source.Span{}, 0
	return s, mapped
}

// takeDebugInfo returns the debug record of the load at addr. fits reports whether a record with
// another address describes this load all the same.
func (p *pairing) takeDebugInfo(addr uint64, fits func(source.Span) bool) (s source.Span) {
	p.inBatch = false
	if w, ok := p.debug[addr]; ok {
		delete(p.debug, addr)
		s = w.Span
	} else if p.lastDebug.Size != 0 && fits(p.lastDebug) {
		delete(p.debug, p.lastAddr)
		s = p.lastDebug
	}
	p.lastDebug = source.Span{} // one attempt: it belongs to the next load or to none
	return s
}

// forget drops the records that wait for the next load, after that load was lost. The loads of
// metadata may be lost, too. forget returns the number of dropped metadata records.
func (p *pairing) forget() (orphans int) {
	p.unwind, p.mapped, p.lastDebug = source.Span{}, 0, source.Span{}
	p.tables, p.loading = 0, false
	p.inline, p.tooMany, p.mixed = p.inline[:0], 0, false
	p.inBatch = false
	orphans = len(p.j9)
	p.j9 = p.j9[:0]
	return orphans
}

// loaded records a load or move of a process.
func (p *pairing) loaded(id codeID, event int) {
	if p.own != nil {
		p.own[id] = event
		p.any[id.index] = append(p.any[id.index], event)
	}
}

// maxCandidates bounds the events of a code index that are examined for another process's load.
const maxCandidates = 100

// moved returns the event with the old place of a moved function: the latest event of that index in
// the process. If loads share the index, it is that of the function at the old address of the move.
// A forked child may move inherited code. Then it is an event of another process with that address.
// Other processes do not have the function.
func (p *pairing) moved(events []jitcode.Event, id codeID, from uint64) (event int, ok bool) {
	if p.own == nil {
		p.own, p.any = make(map[codeID]int), make(map[uint64][]int)
		for i := range events {
			p.loaded(codeID{events[i].Index, events[i].PID}, i)
		}
	}
	own, ok := p.own[id]
	if ok && events[own].Addr == from {
		return own, true
	}
	candidates := p.any[id.index]
	candidates = candidates[max(0, len(candidates)-maxCandidates):]
	for i := len(candidates) - 1; i >= 0; i-- {
		switch e := &events[candidates[i]]; {
		case e.Addr != from, ok && e.PID != id.pid:
		case ok && slices.ContainsFunc(candidates[i+1:], func(later int) bool { return events[later].Function == e.Function }): // has left
		default:
			return candidates[i], true
		}
	}
	return own, ok
}

// Quirks of BeamAsm, the JIT compiler of Erlang.

// maxTID is the largest possible thread id (PID_MAX_LIMIT of linux/threads.h). BeamAsm writes
// pthread handles.
const maxTID = 1 << 22

// thread returns the thread of a record, or the process if the id is impossible.
func (s *scanner) thread(pid, tid uint32) uint32 {
	if tid > maxTID {
		s.fixes.tids.Add(1)
		return pid
	}
	return tid
}

// maxBefore is how far before a function, in bytes, an entry may lie that still describes its first
// instructions. Entries of BeamAsm lie up to 0x37 before, at the function's header.
const maxBefore = 4 << 10
