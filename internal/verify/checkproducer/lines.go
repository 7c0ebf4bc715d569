package checkproducer

import (
	"cmp"
	"slices"

	"github.com/jitinject/jitinject/jitdump"
)

// A run is code from an offset up to the next run's.
type run struct {
	offset uint64 // from the start of the function
	line   bool   // it has a line
}

// plainTables are the JIT_CODE_DEBUG_INFO that wait for their loads, by address.
type plainTables struct {
	byAddr map[uint64][]run
	runs   int // of all
}

// maxRuns bounds the runs that wait for loads. Tables beyond count as absent.
const maxRuns = 4 << 20

// debugInfo keeps the lines of a JIT_CODE_DEBUG_INFO until its load.
func (s *scan) debugInfo(d *jitdump.DebugInfo) {
	s.plain.take(d.CodeAddr)
	var runs []run
	for e, err := range d.Entries() {
		if err != nil || s.plain.runs+len(runs) >= maxRuns {
			break
		}
		runs = append(runs, run{e.Addr - d.CodeAddr - s.skew, e.Line > 0})
		s.position(e.Line, e.Discrim > 0)
		if string(e.Name) != jitdump.RepeatName {
			s.files.add(e.Name)
		}
	}
	if len(runs) > 0 {
		s.plain.byAddr[d.CodeAddr] = runs
		s.plain.runs += len(runs)
	}
}

// take removes and returns the table of an address.
func (p *plainTables) take(addr uint64) []run {
	runs := p.byAddr[addr]
	delete(p.byAddr, addr)
	p.runs -= len(runs)
	return runs
}

// A tree is the latest SAMPLY_JIT_CODE_DEBUG_INFO2.
type tree struct {
	info  jitdump.DebugInfo2 // without names, which are gone with the record
	waits bool               // for its load
	runs  []run              // memory of the lines
}

// debugInfo2 counts a SAMPLY_JIT_CODE_DEBUG_INFO2, and keeps its lines for the next load.
func (s *scan) debugInfo2(d *jitdump.DebugInfo2) {
	s.tree.waits = true
	for _, l := range d.Lines {
		s.position(l.Line, l.Column != 0 && l.Column != jitdump.NoColumn)
		if uint64(l.File) < uint64(len(d.Files)) {
			s.files.add(d.Files[l.File])
		}
	}
	if len(d.Calls) > 0 {
		s.withCalls++
	}
	for i, f := range d.Functions {
		s.user = s.user || f.Flags&jitdump.UserFunction != 0
		if i == 0 && f.Flags.Tier() != 0 {
			s.tiered++
		}
	}
}

func (s *scan) position(line uint32, column bool) {
	if line == 0 {
		return
	}
	s.positions++
	if column {
		s.columns++
	}
}

// linesOf counts the lines of a function.
func (s *scan) linesOf(l *jitdump.Load) {
	plain := s.plain.take(l.CodeAddr)
	covered := codeWithLines(plain, l.CodeSize)
	hasPlain, hasTree := hasLine(plain), false
	if s.tree.waits {
		s.tree.waits = false
		runs := s.tree.runs[:0]
		for _, line := range s.tree.info.Lines {
			runs = append(runs, run{uint64(line.Offset), line.Line > 0})
		}
		s.tree.runs = runs
		hasTree = hasLine(runs)
		covered = max(covered, codeWithLines(runs, l.CodeSize))
	}
	if s.openJ9[l.CodeAddr] {
		delete(s.openJ9, l.CodeAddr)
		s.withCalls++
		hasTree, covered = true, l.CodeSize
	}
	if hasPlain || hasTree {
		s.withLines++
	}
	if hasTree && !hasPlain {
		s.treeOnly++
	}
	s.covered += covered
}

func hasLine(runs []run) bool {
	for _, r := range runs {
		if r.line {
			return true
		}
	}
	return false
}

// codeWithLines sorts runs and returns how many of a function's size bytes have a line. Runs outside
// the function count as 0 bytes.
func codeWithLines(runs []run, size uint64) (n uint64) {
	slices.SortStableFunc(runs, func(a, b run) int { return cmp.Compare(a.offset, b.offset) })
	for i, r := range runs {
		end := size
		if i+1 < len(runs) {
			end = min(runs[i+1].offset, size)
		}
		if r.line && r.offset < end {
			n += end - r.offset
		}
	}
	return n
}
