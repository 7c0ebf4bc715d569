package jitdump

import (
	"bytes"
	"slices"
	"sync/atomic"

	"github.com/jitinject/jitinject/internal/source"
	"github.com/jitinject/jitinject/jitdump"
)

// Quirks of producers, and their proofs in a dump. Each quirk has a test with real or rebuilt
// bytes. Quirks of addresses are in skew.go, quirks of V8's inlined lines in v8positions.go.

// fixes counts the fixes. Several goroutines read functions, hence the atomic counters.
type fixes struct {
	skew, bytecode, fileNames, garbled, outside, unsorted, absurdLines, tids, unwind, contradicted, trees, displaced atomic.Int64
	missized                                                                                                         atomic.Int64
	asWritten                                                                                                        atomic.Int64 // functions with lines at the addresses of the dump: no fix
	misfitting, contradictory, withheld, foreign, lateNames, unplaced, unchecked                                     atomic.Int64
}

// Fixes returns the fixes so far, in a fixed order, without those that did not occur.
func (d *Dump) Fixes() []source.Fix {
	r := &d.fixes
	all := []source.Fix{
		{Name: "skewed-lines", Count: r.skew.Load(), Text: "functions with source lines moved back to their code"},
		{Name: "contradictory-lines", Count: r.contradictory.Load(), Text: "functions without lines, because the dump's line tables contradict each other"},
		{Name: "misplaced-lines", Count: r.misfitting.Load(), Text: "functions without lines, because theirs are not at starts of instructions, unlike those of other functions"},
		{Name: "undecided-lines", Count: r.withheld.Load(), Text: "functions without lines, loaded before the right addresses of lines were known"},
		{Name: "bytecode-offsets", Count: r.bytecode.Load(), Text: "functions with bytecode offsets instead of addresses in their line table; the lines were left out"},
		{Name: "freed-file-names", Count: r.fileNames.Load(), Text: "functions with an overwritten source file name; the name was taken from the function's name"},
		{Name: "garbled-file-names", Count: r.garbled.Load(), Text: "source lines with garbage as file name; left out"},
		{Name: "lines-outside", Count: r.outside.Load(), Text: "functions with source lines outside their code; cut to it"},
		{Name: "foreign-lines", Count: r.foreign.Load(), Text: "functions with lines of code inlined from other files, which V8 writes under the name of the function's own file; left out, except about 1 in 70"},
		{Name: "late-file-names", Count: r.lateNames.Load(), Text: "functions with code inlined from other files; V8 writes the files' names one entry too late; fixed"},
		{Name: "unplaced-lines", Count: r.unplaced.Load(), Text: "functions with code that V8 places in line 1, column 1, for lack of a position; such lines were left out"},
		{Name: "unchecked-lines", Count: r.unchecked.Load(), Text: "optimized functions that may have lines of other files: the dump has no line table of their baseline code, or grew while it was read"},
		{Name: "unsorted-lines", Count: r.unsorted.Load(), Text: "functions with source lines out of order; sorted"},
		{Name: "absurd-lines", Count: r.absurdLines.Load(), Text: "source lines with an impossible number; left out"},
		{Name: "unusable-unwind-tables", Count: r.unwind.Load(), Text: "functions with unreadable unwind tables; the tables were left out"},
		{Name: "contradicted-unwind-tables", Count: r.contradicted.Load(), Text: "functions with unwind tables that contradict their code; tables derived from the code are used there instead"},
		{Name: source.DisplacedTables, Count: r.displaced.Load(), Text: "functions with unwind tables in another order or for another place, which perf cannot use; fixed"},
		{Name: "broken-inline-trees", Count: r.trees.Load(), Text: "functions with unusable inlined calls; the calls were left out"},
		{Name: "interleaved-trees", Count: int64(d.scanner.interleaved), Text: "functions with inlined calls assigned by name, as threads wrote into each other's records"},
		{Name: "missized-records", Count: r.missized.Load(), Text: "line tables with a wrong size, which hides the next record; read by their entries"},
		{Name: "orphaned-lines", Count: int64(d.Orphans()), Text: "line tables that belong to no function of the dump; left out"},
		{Name: "absurd-tids", Count: r.tids.Load(), Text: "functions with an impossible thread id; the process id is used instead"},
	}
	all = slices.DeleteFunc(all, func(r source.Fix) bool { return r.Count == 0 })
	return append(all, d.HeaderFixes()...)
}

// maxTID is the largest possible thread id (PID_MAX_LIMIT of linux/threads.h). BeamAsm writes
// pthread handles.
const maxTID = 1 << 22

// V8 writes the file names of optimized code from freed memory. The allocator's links, with NULs,
// have replaced their first bytes. The length and the rest of the name are still right, and the
// function's own name contains the script's.

// freedBytes is how many bytes of a freed block glibc's allocator overwrites.
const freedBytes = 16

// intactName returns the end of script that freed is the damaged form of. It must have the same
// length and the same bytes after the overwritten ones. The overwritten bytes must be impossible in
// a name: otherwise freed may be another script with the same ending.
func intactName(script, freed []byte) ([]byte, bool) {
	n := len(script) - len(freed)
	if n < 1 || script[n-1] != ' ' || len(freed) > freedBytes && !bytes.Equal(script[n:][freedBytes:], freed[freedBytes:]) {
		return nil, false
	}
	front := freed[:min(freedBytes, len(freed))]
	if !bytes.Equal(script[n:], freed) && !isGarbled(front, true) {
		return nil, false
	}
	return script[n:], true
}

// freedName returns the name in a debug record if NULs were written into its names, or else
// nil. The proof: walking fails, but entries with names of one length fill the area. Each
// name ends in a NUL, and its intact part matches the script's.
func freedName(info *jitdump.DebugInfo, script []byte) ([]byte, freedLayout) {
	if len(script) == 0 || info.Count == 0 || info.Count > uint64(len(info.Area))/jitdump.DebugEntryHead || walks(info) {
		return nil, freedLayout{}
	}
	for i := len(script) - 1; i > 0; i-- {
		if script[i-1] != ' ' {
			continue
		}
		for _, repeats := range []bool{false, true} {
			if fills(info, script, freedLayout{len(script) - i, repeats}) {
				return script[i:], freedLayout{len(script) - i, repeats}
			}
		}
	}
	return nil, freedLayout{}
}

// A freedLayout describes entries with freed names.
type freedLayout struct {
	length  int  // of the names, in bytes
	repeats bool // names after the first may be RepeatName; freed names may begin with its bytes
}

// fills reports whether entries of a layout fill a debug record.
func fills(info *jitdump.DebugInfo, script []byte, l freedLayout) bool {
	area := info.Area
	for n := range info.Count {
		size, ok := freedEntry(area, script, l, n == 0)
		if !ok {
			return false
		}
		area = area[size:]
	}
	return len(area) < 8
}

// freedEntry returns the size of the entry at the start of area, if its name is a freed one
// of a layout. V8 10 repeats names, as the format allows.
func freedEntry(area, script []byte, l freedLayout, first bool) (size int, ok bool) {
	const head = jitdump.DebugEntryHead
	length := l.length
	if l.repeats && !first && len(area) >= head+2 && area[head+1] == 0 && string(area[head:head+1]) == jitdump.RepeatName {
		return head + 2, true
	}
	if len(area) <= head+length || area[head+length] != 0 {
		return 0, false
	}
	_, ok = intactName(script, area[head:head+length])
	return head + length + 1, ok
}

// walks reports whether the entries, read name by name, fill the area up to padding.
func walks(info *jitdump.DebugInfo) bool {
	area := info.Area
	for range info.Count {
		if len(area) < jitdump.DebugEntryHead {
			return false
		}
		end := bytes.IndexByte(area[jitdump.DebugEntryHead:], 0)
		if end < 0 {
			return false
		}
		area = area[jitdump.DebugEntryHead+end+1:]
	}
	return len(area) < 8
}

// entries calls yield for each entry of a debug record, with the intended file name.
func (r *Reader) entries(info *jitdump.DebugInfo, yield func(jitdump.DebugEntry)) error {
	name, _ := r.listing.v8Name(r.fn.Name)
	script := name.script
	if file, layout := freedName(info, script); file != nil {
		r.fixes.fileNames.Add(1)
		order := r.listing.order()
		area := info.Area
		for n := range info.Count {
			yield(jitdump.DebugEntry{Addr: order.Uint64(area), Line: order.Uint32(area[8:]), Discrim: order.Uint32(area[12:]), Name: file})
			size, _ := freedEntry(area, script, layout, n == 0)
			area = area[size:]
		}
		return nil
	}
	repaired := false
	for e, err := range info.Entries() {
		if err != nil {
			return err
		}
		if len(e.Name) > freedBytes && script != nil {
			if file, ok := intactName(script, e.Name); ok && !bytes.Equal(file, e.Name) {
				e.Name, repaired = file, true
			}
		}
		yield(e)
	}
	if repaired {
		r.fixes.fileNames.Add(1)
	}
	return nil
}
