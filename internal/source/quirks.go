package source

import (
	"bytes"
	"slices"
	"sync/atomic"

	"github.com/jitinject/jitinject/internal/jitcode"
	"github.com/jitinject/jitinject/jitdump"
)

// What producers get wrong, and how a dump proves it. Each quirk has a test
// with real or rebuilt bytes in quirks_test.go.

// repairs counts what was repaired. Functions are read by several goroutines.
type repairs struct {
	skew, bytecode, fileNames, garbled, outside, unsorted, absurdLines, tids, unwind, trees, displaced atomic.Int64
}

// all returns the counters, in a fixed order.
func (r *repairs) all() [11]*atomic.Int64 {
	return [...]*atomic.Int64{
		&r.skew, &r.bytecode, &r.fileNames, &r.garbled, &r.outside, &r.unsorted, &r.absurdLines, &r.tids, &r.unwind, &r.trees, &r.displaced,
	}
}

// RepairCounts are counts of repairs, for adding them to those of another run in which
// the functions are not read.
type RepairCounts [11]int64

// RepairCounts returns the counts so far.
func (d *Jitdump) RepairCounts() (counts RepairCounts) {
	for i, n := range d.repairs.all() {
		counts[i] = n.Load()
	}
	return counts
}

// AddRepairs counts what an earlier run has repaired in functions of the dump.
func (d *Jitdump) AddRepairs(counts RepairCounts) {
	for i, n := range d.repairs.all() {
		n.Add(counts[i])
	}
}

// DisplacedTables is the name of the repair of unwind tables that perf inject would hand
// on unreadable: the index is in front of them, or they tell of another place.
const DisplacedTables = "displaced-unwind-tables"

// A Repair is a quirk of a producer that was repaired.
type Repair struct {
	Name  string // short and stable
	Count int64
	Text  string // what Count counts, and what was done
}

// Repairs returns what has been repaired so far, in a fixed order, without what
// did not occur.
func (d *Jitdump) Repairs() []Repair {
	r := &d.repairs
	all := []Repair{
		{"skewed-lines", r.skew.Load(), "functions whose source lines were moved back to the code they belong to"},
		{"bytecode-offsets", r.bytecode.Load(), "functions whose line table holds bytecode offsets instead of addresses; left without lines"},
		{"freed-file-names", r.fileNames.Load(), "functions whose source file name had been overwritten; taken from their own name"},
		{"garbled-file-names", r.garbled.Load(), "source lines whose file name is garbage; left out"},
		{"lines-outside", r.outside.Load(), "functions with source lines outside their code; cut to it"},
		{"unsorted-lines", r.unsorted.Load(), "functions with source lines out of order; sorted"},
		{"absurd-lines", r.absurdLines.Load(), "source lines with an impossible number; left out"},
		{"unusable-unwind-tables", r.unwind.Load(), "functions with unwind tables that no reader can follow; left without"},
		{DisplacedTables, r.displaced.Load(), "functions with unwind tables that perf could not have used: in another order, or for another place; put right"},
		{"broken-inline-trees", r.trees.Load(), "functions whose inlined calls cannot be used; left without"},
		{"interleaved-trees", int64(d.interleaved), "functions whose inlined calls were told from others' by their names, as threads wrote into each other's records"},
		{"orphaned-lines", int64(d.Orphans()), "line tables that belong to no function of the dump; left out"},
		{"absurd-tids", r.tids.Load(), "functions with a thread id that Linux does not give out; the process id stands for it"},
	}
	return slices.DeleteFunc(all, func(r Repair) bool { return r.Count == 0 })
}

// maxTID is the largest thread id there can be (PID_MAX_LIMIT of linux/threads.h).
// BeamAsm writes pthread handles.
const maxTID = 1 << 22

// sampleSize is how many functions are looked at to find a producer's habits.
const sampleSize = 64

// findQuirks decides what holds for the dump as a whole.
func (d *Jitdump) findQuirks() {
	var with []int
	for i := range d.parts {
		if d.parts[i].debug.size != 0 && d.parts[i].inline.size == 0 {
			with = append(with, i)
		}
	}
	if len(with) == 0 {
		return
	}
	r := d.Reader()
	r.repairs = new(repairs) // looking is not repairing
	d.findSkew(r, with)
	d.findBytecode(r)
}

// v8Function begins the names of functions of V8 that come from a script.
var v8Function = []byte("JS:")

// V8 marks the tier of a function in its name; ^ is Sparkplug, the baseline
// compiler. Its line tables are those of the bytecode: their "addresses" are the
// function's plus an offset in the bytecode, and say nothing about the code.
var v8Baseline = []byte("JS:^")

func isBaseline(name []byte) bool { return bytes.HasPrefix(name, v8Baseline) }

// findBytecode decides whether baseline functions have bytecode offsets for
// addresses: their tables do not fit the instructions. Short tables may fit by
// chance, so the majority decides for all; where instructions cannot be told
// apart at all, no line is better than one that is probably false.
func (d *Jitdump) findBytecode(r *Reader) {
	bad := 0
	for _, i := range d.baseline {
		fn, err := r.rawRows(i)
		if err != nil {
			continue
		}
		s := instructionStarts(d.Target(), fn.Code)
		if known, misfits := r.misfits(&s, 0); misfits > 0 || known == 0 {
			bad++
		}
	}
	d.bytecode = 2*bad > len(d.baseline)
}

// notCodeOffsets reports whether fn's lines are about its bytecode.
func (d *Jitdump) notCodeOffsets(fn *jitcode.Function) bool {
	return d.bytecode && isBaseline(fn.Name)
}

// V8 writes the file names of optimized code from memory that it has freed, so
// the allocator's links stand in their first bytes, NULs among them. The length
// of the name and the rest of it are still right, and the function's own name
// tells the script.

// freedBytes is how much of a freed block glibc's allocator overwrites.
const freedBytes = 16

// v8Script returns the part of a V8 function's name that ends with the script's
// file name: "JS:*add /tmp/prog.js" of "JS:*add /tmp/prog.js:2:49".
func v8Script(name []byte) []byte {
	if !bytes.HasPrefix(name, v8Function) {
		return nil
	}
	for range 2 {
		i := bytes.LastIndexByte(name, ':')
		if i < 0 || i+1 == len(name) || len(bytes.Trim(name[i+1:], "0123456789")) > 0 {
			return nil
		}
		name = name[:i]
	}
	return name
}

// intactName returns the script's name if freed is what is left of it: as long,
// the same behind the overwritten bytes, and with bytes in front that are in no
// name, since a name that only ends the same may be another script's.
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

// freedNames returns the entries of a debug record whose names cannot be walked
// because NULs were written into them. The proof: walking fails, but entries of
// one length fill the area, each ends in a NUL, and what is intact of the name
// is the script's.
func freedNames(info *jitdump.DebugInfo, script []byte) (stride int, name []byte) {
	area := info.Area
	if script == nil || info.Count == 0 || info.Count > uint64(len(area))/jitdump.DebugEntryHead || walks(info) {
		return 0, nil
	}
	n := int(info.Count)
	for stride := len(area) / n; stride > jitdump.DebugEntryHead && (n*stride+7)&^7 >= len(area); stride-- {
		name, ok := intactName(script, area[jitdump.DebugEntryHead:stride-1])
		for i := 0; ok && i < n; i++ {
			e := area[i*stride : (i+1)*stride]
			_, same := intactName(script, e[jitdump.DebugEntryHead:stride-1])
			ok = same && e[stride-1] == 0
		}
		if ok {
			return stride, name
		}
	}
	return 0, nil
}

// walks reports whether walking the entries from name to name ends where the
// area does, up to padding.
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

// entries calls yield for each entry of a debug record, with the file name that
// its producer meant.
func (r *Reader) entries(fn *jitcode.Function, info *jitdump.DebugInfo, yield func(jitdump.DebugEntry)) error {
	script := v8Script(fn.Name)
	if stride, name := freedNames(info, script); stride != 0 {
		r.repairs.fileNames.Add(1)
		order := r.d.order()
		for i := range int(info.Count) {
			e := info.Area[i*stride:]
			yield(jitdump.DebugEntry{Addr: order.Uint64(e), Line: order.Uint32(e[8:]), Discrim: order.Uint32(e[12:]), Name: name})
		}
		return nil
	}
	repaired := false
	for e, err := range info.Entries() {
		if err != nil {
			return err
		}
		if len(e.Name) > freedBytes && script != nil {
			if name, ok := intactName(script, e.Name); ok && !bytes.Equal(name, e.Name) {
				e.Name, repaired = name, true
			}
		}
		yield(e)
	}
	if repaired {
		r.repairs.fileNames.Add(1)
	}
	return nil
}
