package jitdump

import (
	"slices"
	"sync/atomic"

	"github.com/jitinject/jitinject/internal/source"
)

// Quirks of producers are fixed only if the dump itself proves them. Each quirk has a test with real
// or rebuilt bytes.

// fixes counts the fixes. Several goroutines read functions, hence the atomic counters.
type fixes struct {
	skew, contradictory, misfitting, bytecode              atomic.Int64 // addresses of lines
	fileNames, garbled, foreign, lateNames                 atomic.Int64 // files of lines
	outside, unplaced, unchecked, unsorted, absurdLines    atomic.Int64 // lines
	unwind, contradicted, displaced, trees, missized, tids atomic.Int64
}

// Fixes returns the fixes so far, in a fixed order, without those that did not occur. Those of the
// header are the last.
func (d *Dump) Fixes() []source.Fix {
	f := &d.fixes
	all := []source.Fix{
		{Name: "skewed-lines", Count: f.skew.Load(), Text: "functions with source lines moved back to their code"},
		{Name: "contradictory-lines", Count: f.contradictory.Load(), Text: "functions without lines, because the dump's line tables contradict each other"},
		{Name: "misplaced-lines", Count: f.misfitting.Load(), Text: "functions without lines, because theirs are not at starts of instructions, unlike those of other functions"},
		{Name: "bytecode-offsets", Count: f.bytecode.Load(), Text: "functions with bytecode offsets instead of addresses in their line table; the lines were left out"},
		{Name: "freed-file-names", Count: f.fileNames.Load(), Text: "functions with an overwritten source file name; the name was taken from the function's name"},
		{Name: "garbled-file-names", Count: f.garbled.Load(), Text: "source lines with garbage as file name; left out"},
		{Name: "lines-outside", Count: f.outside.Load(), Text: "functions with source lines outside their code; cut to it"},
		{Name: "foreign-lines", Count: f.foreign.Load(), Text: "functions with lines of code inlined from other files, which V8 writes under the name of the function's own file; left out, except about 1 in 70"},
		{Name: "late-file-names", Count: f.lateNames.Load(), Text: "functions with code inlined from other files; V8 writes the files' names one entry too late; fixed"},
		{Name: "unplaced-lines", Count: f.unplaced.Load(), Text: "functions with code that V8 places in line 1, column 1, for lack of a position; such lines were left out"},
		{Name: "unchecked-lines", Count: f.unchecked.Load(), Text: "optimized functions that may have lines of other files: the dump has no line table of their baseline code"},
		{Name: "unsorted-lines", Count: f.unsorted.Load(), Text: "functions with source lines out of order; sorted"},
		{Name: "absurd-lines", Count: f.absurdLines.Load(), Text: "source lines with an impossible number; left out"},
		{Name: "unusable-unwind-tables", Count: f.unwind.Load(), Text: "functions with unreadable unwind tables; the tables were left out"},
		{Name: "contradicted-unwind-tables", Count: f.contradicted.Load(), Text: "functions with unwind tables that contradict their code; tables derived from the code are used there instead"},
		{Name: source.DisplacedTables, Count: f.displaced.Load(), Text: "functions with unwind tables in another order or for another place, which perf cannot use; fixed"},
		{Name: "broken-inline-trees", Count: f.trees.Load(), Text: "functions with unusable inlined calls; the calls were left out"},
		{Name: "interleaved-trees", Count: int64(d.scanner.interleaved), Text: "functions with inlined calls assigned by name, as threads wrote into each other's records"},
		{Name: "missized-records", Count: f.missized.Load(), Text: "line tables with a wrong size, which hides the next record; read by their entries"},
		{Name: "orphaned-lines", Count: int64(d.Orphans()), Text: "line tables that belong to no function of the dump; left out"},
		{Name: "absurd-tids", Count: f.tids.Load(), Text: "functions with an impossible thread id; the process id is used instead"},
	}
	all = slices.DeleteFunc(all, func(fix source.Fix) bool { return fix.Count == 0 })
	if d.header.Flags.Unknown() != 0 {
		all = append(all, source.Fix{Name: "unknown-flags", Count: 1, Text: "header with unknown flags; they were ignored, and the clock was found from the times"})
	}
	if d.assumed {
		all = append(all, source.Fix{Name: "no-machine", Count: 1, Text: "header without elf_mach; the machine is the recording's"})
	}
	if n := d.replaced(); n > 0 {
		all = append(all, source.Fix{Name: "salted-code", Count: n, Text: "functions with their last 8 bytes of code replaced by the runtime; shown as (bad), as the original bytes are unknown"})
	}
	return all
}

// LineAddresses returns the current decision. ok is false for a dump without lines.
func (d *Dump) LineAddresses() (a source.LineAddresses, ok bool) {
	c := &d.decisions.constraints
	if len(c.hypotheses) == 0 {
		return a, false
	}
	moved := d.decisions.chosen
	if moved == 0 { // use the closest one
		moved = 1
		for h := range c.hypotheses {
			if h > 0 && len(c.hypotheses[h].failed) < len(c.hypotheses[moved].failed) {
				moved = h
			}
		}
	}
	h, first := &c.hypotheses[moved], &c.hypotheses[0]
	a = source.LineAddresses{
		Decision: d.decisions.decision, Basis: d.decisions.basis, Skew: uint64(h.skew), Tables: c.tables, Rows: c.rows,
		Either: h.either, Neither: h.neither, AsWritten: first.fit(), MovedBack: h.fit(),
	}
	a.AsWritten.Tables = c.tables - h.only - h.either - h.neither
	return a, true
}

// fit returns the counts of a hypothesis.
func (h *hypothesis) fit() source.AddressFit {
	return source.AddressFit{Tables: h.only, Known: h.known, AtStarts: h.starts, Outside: h.outside}
}
