package jitdump

import (
	"debug/elf"
	"math"
	"slices"

	"github.com/jitinject/jitinject/internal/disasm"
	"github.com/jitinject/jitinject/internal/jitcode"
	"github.com/jitinject/jitinject/internal/source"
)

// V8 and LLVM add the size of an ELF header to every debug address. They expect perf to put the
// code after such a header without adjusting addresses. perf did so until Linux 5.8. V8 adds 0x40
// for pointers of 8 bytes and 0x34 for pointers of 4 (perf-jit.h, kElfHeaderSize, in all versions
// since 2016). LLVM adds 0x40 everywhere (PerfJITEventListener.cpp, NotifyDebug;
// PerfSupportPlugin.cpp, getDebugInfoRecord). V8 does so for all tiers.
const (
	elf64Header = 0x40
	elf32Header = 0x34
)

// skewsOf returns the skews that producers may add on a machine, V8's first.
func skewsOf(machine elf.Machine) []int64 {
	switch machine {
	case elf.EM_386, elf.EM_ARM, elf.EM_MIPS, elf.EM_PPC:
		return []int64{elf32Header, elf64Header}
	case elf.EM_RISCV: // of 32 or 64 bits: unknown from the dump
		return []int64{elf64Header, elf32Header}
	}
	return []int64{elf64Header}
}

// A lineConstraints has the counts of a dump's line tables that decide about their addresses. Each
// hypothesis adds one skew to all addresses. The first hypothesis adds none.
//
// An entry belongs to the start of an instruction in its function. In dumps of V8 and LLVM, 99.9 %
// or more do once they are moved back, and 9 to 40 % as written. So each table fits a hypothesis or
// not. All tables are checked: a few may be short or odd.
type lineConstraints struct {
	hypotheses []hypothesis
	tables     int // with entries, without tables of V8's baseline compiler
	rows       int // entries of these
	judged     int // tables that contradict at least one hypothesis
	baseline   int // tables of V8's baseline compiler

	fits []bool // whether the current function fits, by hypothesis
}

// A hypothesis is that a producer added a skew to all addresses of lines.
type hypothesis struct {
	skew    int64 // in bytes
	known   int   // rows that can be compared with starts of instructions
	starts  int   // of these, rows at the start of an instruction
	outside int   // rows before or after the code
	inside  int   // rows in the code that would be outside as written
	first   int   // tables with their lowest row at the first byte of the code
	only    int   // tables that fit this hypothesis and not the first
	either  int   // tables that fit both
	neither int   // tables that fit neither

	failed         []int32 // functions with a table that does not fit, in order
	failedBaseline int     // tables of V8's baseline compiler that do not fit
}

// maxMisfits: one in maxMisfits rows of a table may miss the starts of instructions. A linear sweep
// may decode data as a few instructions.
const maxMisfits = 8

// maxAgainst: one in maxAgainst tables may fit another hypothesis only. With minWithOne tables or
// more, one table may in any case. maxOdd: one in maxOdd tables may fit no hypothesis, or another
// one. The lines of such tables are dropped.
const (
	maxAgainst = 20
	minWithOne = 8
	maxOdd     = 4
)

// add counts the rows of a function, sorted, with the offsets of the dump. It reuses starts.
func (c *lineConstraints) add(t jitcode.Target, starts *disasm.Starts, i int, fn *jitcode.Function, rows []row, baseline bool) {
	if c.hypotheses == nil {
		c.hypotheses = []hypothesis{{}}
		for _, skew := range skewsOf(elf.Machine(t.Machine)) {
			c.hypotheses = append(c.hypotheses, hypothesis{skew: skew})
		}
		c.fits = make([]bool, len(c.hypotheses))
	}
	starts.Sweep(t, fn.Code)
	size := int64(fn.Size)
	if baseline {
		c.baseline++
		for h := range c.hypotheses {
			hypothesis := c.hypotheses[h] // its counts are for other tables
			if fits, known := hypothesis.addTable(starts, rows, size); !fits || known == 0 {
				c.hypotheses[h].failedBaseline++
			}
		}
		return
	}
	c.tables++
	c.rows += len(rows)
	all := true
	for h := range c.hypotheses {
		c.fits[h], _ = c.hypotheses[h].addTable(starts, rows, size)
		all = all && c.fits[h]
	}
	if all {
		for h := range c.hypotheses {
			c.hypotheses[h].either++
		}
		return
	}
	c.judged++
	for h := range c.hypotheses {
		x := &c.hypotheses[h]
		switch {
		case c.fits[h] && c.fits[0]:
			x.either++
		case c.fits[h]:
			x.only++
		case !c.fits[0]:
			x.neither++
		}
		if !c.fits[h] {
			x.failed = append(x.failed, int32(i))
		}
	}
}

// addTable counts the rows of a table, and reports whether it fits. In a table that fits, rows in
// the code are at starts of instructions, if these are known. None of its rows is outside the code
// that another hypothesis has inside. known is the number of rows that count.
func (h *hypothesis) addTable(s *disasm.Starts, rows []row, size int64) (fits bool, known int) {
	misfits := 0
	for _, row := range rows {
		off := row.off - h.skew
		switch {
		case off < 0 || off > size:
			h.outside++
			if row.off >= 0 && row.off <= size+elf64Header { // other rows are outside in any case
				known++
				misfits++
			}
			continue
		case row.off > size:
			h.inside++
			known++
		}
		if start, ok := s.At(uint64(off)); ok && off < size {
			h.known++
			if row.off <= size {
				known++
			}
			if start {
				h.starts++
			} else {
				misfits++
			}
		}
	}
	if len(rows) > 0 && rows[0].off == h.skew {
		h.first++
	}
	return misfits*maxMisfits <= known, known
}

// decide returns the index of the valid hypothesis. v8 reports that V8 wrote the dump.
func (c *lineConstraints) decide(machine elf.Machine, v8 bool) (chosen int, decision source.LineDecision, basis source.LineBasis) {
	basis = source.ByInstructions
	if !disasm.HasSweep(machine) {
		basis = source.ByExtent
	}
	if c.judged == 0 {
		for h := 1; h < len(c.hypotheses); h++ {
			if n := c.hypotheses[h].first; n > 0 && n == c.tables || n >= 2 && 2*n >= c.tables {
				return h, source.LinesMovedBack, source.ByExtent
			}
		}
		if v8 && c.tables+c.baseline > 0 {
			return 1, source.LinesMovedBack, source.ByProducer
		}
		return 0, source.LinesUndecided, source.ByNothing
	}
	for h := range c.hypotheses {
		x, best := &c.hypotheses[h], &c.hypotheses[chosen]
		if len(x.failed) < len(best.failed) || len(x.failed) == len(best.failed) && x.first > best.first {
			chosen = h
		}
	}
	best := &c.hypotheses[chosen]
	switch against := c.against(chosen); {
	case against*maxAgainst > c.judged && (against > 1 || c.judged < minWithOne), len(best.failed)*maxOdd > c.judged:
		return chosen, source.LinesContradictory, basis
	case chosen == 0:
		return 0, source.LinesAsWritten, basis
	case v8 || 2*best.first >= c.tables || best.inside > 0 || best.known >= minKnown:
		return chosen, source.LinesMovedBack, basis
	}
	return 0, source.LinesUndecided, source.ByNothing
}

// against returns how many tables fit another hypothesis only.
func (c *lineConstraints) against(chosen int) int {
	if chosen > 0 {
		return len(c.hypotheses[chosen].failed) - c.hypotheses[chosen].neither
	}
	most := 0
	for h := range c.hypotheses {
		most = max(most, c.hypotheses[h].only)
	}
	return most
}

// minKnown is the number of moved rows that must be compared with starts of instructions, if
// nothing else decides: a few may match by chance.
const minKnown = 8

// hasFailed reports whether the table of function i does not fit a hypothesis.
func (h *hypothesis) hasFailed(i int) bool {
	if i > math.MaxInt32 {
		return false
	}
	_, found := slices.BinarySearch(h.failed, int32(i))
	return found
}
