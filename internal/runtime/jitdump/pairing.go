package jitdump

import (
	"slices"

	"github.com/jitinject/jitinject/internal/jitcode"
	"github.com/jitinject/jitinject/internal/source"
	"github.com/jitinject/jitinject/jitdump"
)

// A pairing remembers what records of a dump wait for their load, and which
// loads a move may be about.
type pairing struct {
	debug     map[uint64]waiting // by the code address they name
	batch     int                // counts runs of debug records with loads between them
	inBatch   bool               // the last record of interest was a debug record
	lastDebug source.Span        // the latest debug record, for want of a match by address
	lastAddr  uint64             // the address it names
	inline    []source.Span      // records of inline trees since the last load
	tooMany   int                // how many more there were
	mixed     bool               // what is left of them is not simply the next load's
	j9        []waitingMetadata  // in the order of the file
	loads     int                // that have been, as far as they are counted for j9
	unwind    source.Span
	mapped    uint64 // what unwind says of itself
	tables    int    // number of the batch of unwind tables that loads belong to, from 1; 0 for none
	loading   bool   // loads of it have come

	// The latest loads and moves: of a code index in a process, and of a code
	// index in any. They are collected from the first move on, as most dumps have
	// none.
	own map[codeID]int
	any map[uint64][]int
}

// A codeID is what a producer calls a function by.
type codeID struct {
	index uint64
	pid   uint32
}

// A waiting record has not found its load.
type waiting struct {
	source.Span
	batch int
	early bool // it is samply's early record, which has an inline tree
}

// maxBatches is how many batches of debug records may come between one and its
// load. A load that was lost must not leave its lines to whatever function comes
// to lie at that address much later.
const maxBatches = 1

func newPairing() pairing { return pairing{debug: make(map[uint64]waiting)} }

// debugInfo takes note of a debug record and returns how many are given up.
func (p *pairing) debugInfo(s source.Span, addr uint64, early bool) (orphans int) {
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
	p.debug[addr] = waiting{s, p.batch, early}
	p.lastDebug, p.lastAddr = s, addr
	if early {
		p.lastDebug = source.Span{} // it has no addresses that could prove where it belongs
	}
	return orphans
}

// maxTrees is how many records of inline trees are kept until a load comes.
const maxTrees = 16

// inlineTree takes note of a record that describes the next load.
func (p *pairing) inlineTree(s source.Span) {
	if len(p.inline) == maxTrees {
		p.tooMany++
		return
	}
	p.inline = append(p.inline, s)
}

// inlineTreeOf returns the record of the inline tree of a load. There is one in front
// of it, or threads have written into each other's records; then it is the one that
// calls its function as the load does, and the others wait for theirs.
func (d *Dump) inlineTreeOf(load *jitdump.Raw, name []byte) source.Span {
	p := &d.pairing
	switch {
	case len(p.inline) == 0:
		return source.Span{}
	case len(p.inline) == 1 && p.tooMany == 0 && !p.mixed:
		s := p.inline[0]
		p.inline = p.inline[:0]
		return s
	}
	for i, s := range p.inline {
		if string(d.outerName(s)) == string(name) {
			d.interleaved++
			p.inline = slices.Delete(p.inline, i, i+1)
			p.mixed = len(p.inline) > 0
			return s
		}
	}
	d.Problem(load.Offset, "%s at offset %#x: %d records of inlined calls came before it, and none of them is about a function of that name; it is left without", load.ID, load.Offset, len(p.inline)+p.tooMany)
	d.orphans += len(p.inline) + p.tooMany
	p.inline, p.tooMany, p.mixed = p.inline[:0], 0, false
	return source.Span{}
}

// outerName returns how a record of an inline tree calls the function that it is
// about.
func (d *Dump) outerName(s source.Span) []byte {
	var w window
	if err := w.hold(d.src, s); err != nil {
		return nil
	}
	raw, err := w.record(s, d.order())
	if err != nil {
		return nil
	}
	var info jitdump.DebugInfo2
	if raw.DebugInfo2(&info) != nil || len(info.Functions) == 0 || uint64(info.Functions[0].Name) >= uint64(len(info.Names)) {
		return nil
	}
	return info.Names[info.Functions[0].Name]
}

func (p *pairing) unwinding(s source.Span, mapped uint64) { p.unwind, p.mapped = s, mapped }

// takeUnwinding returns the unwinding record that came before a load.
func (p *pairing) takeUnwinding() (s source.Span, mapped uint64) {
	s, mapped = p.unwind, p.mapped
	p.unwind, p.mapped = source.Span{}, 0
	return s, mapped
}

// takeDebugInfo returns the debug record of the load at addr, and whether it is an
// early one. fits says whether a record that names another address is about it all
// the same.
func (p *pairing) takeDebugInfo(addr uint64, fits func(source.Span) bool) (s source.Span, early bool) {
	p.inBatch = false
	if w, ok := p.debug[addr]; ok {
		delete(p.debug, addr)
		s, early = w.Span, w.early
	} else if p.lastDebug.Size != 0 && fits(p.lastDebug) {
		delete(p.debug, p.lastAddr)
		s = p.lastDebug
	}
	p.lastDebug = source.Span{} // tried once: it is for the next load or for none
	return s, early
}

// forget drops what counts on the next load: that one is lost, and so may be those that
// metadata is about. It returns how many records of metadata it was.
func (p *pairing) forget() (orphans int) {
	p.unwind, p.mapped, p.lastDebug = source.Span{}, 0, source.Span{}
	p.tables, p.loading = 0, false
	p.inline, p.tooMany, p.mixed = p.inline[:0], 0, false
	p.inBatch = false
	orphans = len(p.j9)
	p.j9 = p.j9[:0]
	return orphans
}

// loaded takes note of the event, a load or move of a process.
func (p *pairing) loaded(id codeID, event int) {
	if p.own != nil {
		p.own[id] = event
		p.any[id.index] = append(p.any[id.index], event)
	}
}

// maxCandidates is how many events of a code index are looked at for one that
// another process has moved.
const maxCandidates = 100

// moved returns the event that says where the function of a move was: the latest
// of that index in the process, or, in a forked child that moves what it was
// born with, that of another process which is where the move says.
func (p *pairing) moved(events []jitcode.Event, id codeID, from uint64) (event int, ok bool) {
	if p.own == nil {
		p.own, p.any = make(map[codeID]int), make(map[uint64][]int)
		for i := range events {
			p.loaded(codeID{events[i].Index, events[i].PID}, i)
		}
	}
	if event, ok = p.own[id]; ok {
		return event, true
	}
	candidates := p.any[id.index]
	candidates = candidates[max(0, len(candidates)-maxCandidates):]
	for i := len(candidates) - 1; i >= 0; i-- {
		if e := candidates[i]; events[e].Addr == from {
			return e, true
		}
	}
	if len(candidates) == 0 {
		return 0, false
	}
	return candidates[len(candidates)-1], true
}
