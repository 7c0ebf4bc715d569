package source

import (
	"debug/elf"
	"math"
	"slices"

	"github.com/jitinject/jitinject/internal/jitcode"
)

// V8 and LLVM add the size of an ELF header to every debug address, in the
// belief that perf puts the code behind one and does not account for it. perf
// did so until Linux 5.8. V8 adds 0x40 where pointers have 8 bytes and 0x34 where
// they have 4 (perf-jit.h, kElfHeaderSize, in all versions since 2016); LLVM adds
// 0x40 everywhere (PerfJITEventListener.cpp, NotifyDebug; PerfSupportPlugin.cpp,
// getDebugInfoRecord). V8 does so for all tiers.
const (
	elf64Header = 0x40
	elf32Header = 0x34
)

// skewsOf returns what producers may have added to addresses on a machine, V8's first.
func skewsOf(machine elf.Machine) []int64 {
	switch machine {
	case elf.EM_386, elf.EM_ARM, elf.EM_MIPS, elf.EM_PPC:
		return []int64{elf32Header, elf64Header}
	case elf.EM_RISCV: // the dump does not say whether 32 or 64
		return []int64{elf64Header, elf32Header}
	}
	return []int64{elf64Header}
}

// A lineEvidence is what the line tables of a dump say about their addresses. Each
// hypothesis is that its skew was added to all of them; the first is that none was.
//
// An entry belongs to the start of an instruction in its function. In dumps of V8 and
// LLVM, 99.9 % or more do once they are moved back, and 9 to 40 % as they are written.
// So a table fits a hypothesis or not by itself, and all tables are looked at: the first
// ones, or some, may be short or odd.
type lineEvidence struct {
	hypotheses []hypothesis
	tables     int // with entries, of code that V8's baseline compiler did not make
	rows       int // in them
	judged     int // tables that some hypothesis does not fit
	baseline   int // tables of V8's baseline compiler
	functions  int // looked at so far, those without tables included

	starts starts // of the function that is looked at
	fits   []bool // by hypothesis
}

// A hypothesis is that a producer has added a skew to all addresses of lines.
type hypothesis struct {
	skew    int64 // in bytes
	known   int   // rows of which it is known whether an instruction starts there
	starts  int   // of them, those where one does
	outside int   // rows in front of the code or behind its end
	inside  int   // rows that are outside as written, and in the code if moved
	first   int   // tables whose lowest row is at the first byte of the code
	only    int   // tables that fit this hypothesis and not the first
	either  int   // tables that fit both
	neither int   // tables that fit neither

	failed         []int32 // functions, in order, whose table does not fit
	failedBaseline int     // tables of V8's baseline compiler that do not fit
}

// maxMisfits is one in how many rows of a table may be at no instruction's start: a
// sweep may lose its way in data for a few instructions.
const maxMisfits = 8

// maxAgainst is one in how many tables may contradict the others; of fewer, but no less
// than minWithOne, one may.
const (
	maxAgainst = 20
	minWithOne = 8
)

// add takes in the sorted rows of a function, whose offsets are as the dump has them.
func (e *lineEvidence) add(t jitcode.Target, i int, fn *jitcode.Function, rows []row, baseline bool) {
	if e.hypotheses == nil {
		e.hypotheses = []hypothesis{{}}
		for _, skew := range skewsOf(elf.Machine(t.Machine)) {
			e.hypotheses = append(e.hypotheses, hypothesis{skew: skew})
		}
		e.fits = make([]bool, len(e.hypotheses))
	}
	e.starts.sweep(t, fn.Code)
	size := int64(fn.Size)
	if baseline {
		e.baseline++
		for h := range e.hypotheses {
			hypothesis := e.hypotheses[h] // whose counts are about other tables
			if fits, known := hypothesis.addTable(&e.starts, rows, size); !fits || known == 0 {
				e.hypotheses[h].failedBaseline++
			}
		}
		return
	}
	e.tables++
	e.rows += len(rows)
	all := true
	for h := range e.hypotheses {
		e.fits[h], _ = e.hypotheses[h].addTable(&e.starts, rows, size)
		all = all && e.fits[h]
	}
	if all {
		for h := range e.hypotheses {
			e.hypotheses[h].either++
		}
		return
	}
	e.judged++
	for h := range e.hypotheses {
		x := &e.hypotheses[h]
		switch {
		case e.fits[h] && e.fits[0]:
			x.either++
		case e.fits[h]:
			x.only++
		case !e.fits[0]:
			x.neither++
		}
		if !e.fits[h] {
			x.failed = append(x.failed, int32(i))
		}
	}
}

// addTable counts the rows of a table, and reports whether they fit: rows in the code are
// where instructions start, as far as that is known, and none is outside that another
// hypothesis has inside. known is how many rows that was decided by.
func (h *hypothesis) addTable(s *starts, rows []row, size int64) (fits bool, known int) {
	misfits := 0
	for _, w := range rows {
		off := w.off - h.skew
		switch {
		case off < 0 || off > size:
			h.outside++
			if w.off >= 0 && w.off <= size+elf64Header { // else it is outside anyway
				known++
				misfits++
			}
			continue
		case w.off > size:
			h.inside++
			known++
		}
		if start, ok := s.at(uint64(off)); ok && off < size {
			h.known++
			if w.off <= size {
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

// A LineDecision is what was decided about the addresses of lines.
type LineDecision string

const (
	LinesAsWritten     LineDecision = "as-written"    // they are right
	LinesMovedBack     LineDecision = "moved-back"    // a skew was added to all, and is taken off
	LinesUndecided     LineDecision = "undecided"     // nothing shows whether they are right; used as written
	LinesContradictory LineDecision = "contradictory" // tables contradict each other; no lines are used
)

// A LineBasis is what a LineDecision was made by.
type LineBasis string

const (
	ByInstructions LineBasis = "instructions" // entries are where instructions start only so
	ByExtent       LineBasis = "extent"       // entries are inside the code only so, or begin with it
	ByProducer     LineBasis = "producer"     // V8 is known to write them so
	ByNothing      LineBasis = "none"
)

// decide returns the index of the hypothesis that holds. v8 says that V8 wrote the dump.
func (e *lineEvidence) decide(machine elf.Machine, v8 bool) (chosen int, decision LineDecision, basis LineBasis) {
	basis = ByInstructions
	if !hasSweep(machine) {
		basis = ByExtent
	}
	if e.judged == 0 {
		for h := 1; h < len(e.hypotheses); h++ {
			if n := e.hypotheses[h].first; n >= 2 && 2*n >= e.tables {
				return h, LinesMovedBack, ByExtent
			}
		}
		if v8 && e.tables+e.baseline > 0 {
			return 1, LinesMovedBack, ByProducer
		}
		return 0, LinesUndecided, ByNothing
	}
	for h := range e.hypotheses {
		x, best := &e.hypotheses[h], &e.hypotheses[chosen]
		if len(x.failed) < len(best.failed) || len(x.failed) == len(best.failed) && x.first > best.first {
			chosen = h
		}
	}
	best := &e.hypotheses[chosen]
	switch against := len(best.failed); {
	case against*maxAgainst > e.judged && (against > 1 || e.judged < minWithOne):
		return chosen, LinesContradictory, basis
	case chosen == 0:
		return 0, LinesAsWritten, basis
	case v8 || 2*best.first >= e.tables || best.inside > 0 || best.known >= minKnown:
		return chosen, LinesMovedBack, basis
	}
	return 0, LinesUndecided, ByNothing
}

// minKnown is how many rows have to be at starts of instructions after they were moved,
// where nothing else speaks for that: a few may be there by chance.
const minKnown = 8

// hasFailed reports whether the table of function i does not fit a hypothesis.
func (h *hypothesis) hasFailed(i int) bool {
	if i > math.MaxInt32 {
		return false
	}
	_, found := slices.BinarySearch(h.failed, int32(i))
	return found
}
