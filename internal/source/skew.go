package source

import (
	"debug/elf"

	"github.com/jitinject/jitinject/internal/jitcode"
)

// V8 and LLVM add the size of an ELF header to every debug address, in the
// belief that perf puts the code behind one and does not account for it. perf
// did so until Linux 5.8 (V8: perf-jit.cc; LLVM: PerfSupportPlugin.cpp and
// PerfJITEventListener.cpp).
const (
	elf64Header = 0x40
	elf32Header = 0x34
)

// v8Pad is what V8 writes into the pad field of the file header.
const v8Pad = 0xdeadbeef

// evidence is what the line tables of a dump say about a skew.
type evidence struct {
	tables  int // looked at
	pro     int // first entry exactly at the skew, or last one inside only when moved back
	outside int // of these, the latter: the tables are wrong as they are
	con     int // an entry before the skew

	// Entries at places that are no start of an instruction, as they are and
	// when moved back.
	misfits, misfitsBack int
}

// findSkew looks at some functions with line tables and decides whether their
// addresses have been moved.
func (d *Jitdump) findSkew(r *Reader, with []int) {
	skews := []uint64{elf64Header}
	switch elf.Machine(d.header.Machine) {
	case elf.EM_386, elf.EM_ARM, elf.EM_MIPS, elf.EM_PPC: // LLVM takes the other one even there
		skews = []uint64{elf32Header, elf64Header}
	}
	for _, skew := range skews {
		var e evidence
		for i, step := 0, max(1, len(with)/sampleSize); i < len(with); i += step {
			fn, err := r.rawRows(with[i])
			if err != nil || len(r.rows) == 0 || isBaseline(fn.Name) {
				continue
			}
			e.add(d, r, fn, skew)
		}
		if e.proves(d.header.Pad == v8Pad) {
			d.skew = skew
			return
		}
	}
}

func (e *evidence) add(d *Jitdump, r *Reader, fn *jitcode.Function, skew uint64) {
	e.tables++
	lo, hi, size := r.rows[0].off, r.rows[len(r.rows)-1].off, int64(fn.Size)
	switch {
	case lo < int64(skew):
		e.con++
		return // moved back, its entries would be in front of the code
	case hi > size && hi-int64(skew) <= size:
		e.pro++
		e.outside++
	case lo == int64(skew):
		e.pro++
	}
	s := instructionStarts(d.Target(), fn.Code)
	_, n := r.misfits(&s, 0)
	e.misfits += n
	_, n = r.misfits(&s, skew)
	e.misfitsBack += n
}

// proves decides. Nine of ten functions must agree. Where instructions tell the
// two apart, they decide. Where they do not, which is so wherever all have the
// same length, an entry at the skew may be chance: then more than one function
// must say so, and half of them, unless the dump is of a producer that is known
// for the habit.
func (e *evidence) proves(known bool) bool {
	switch {
	case e.pro == 0 || e.pro < 9*e.con:
		return false
	case e.misfits != e.misfitsBack:
		return e.misfits >= 9*e.misfitsBack
	case known || e.outside == e.tables:
		return true
	}
	return e.pro >= 2 && 2*e.pro >= e.tables
}

// misfits counts the rows that, moved back by skew, are where no instruction
// starts, and how many there are of which that is known.
func (r *Reader) misfits(s *starts, skew uint64) (known, misfits int) {
	for _, w := range r.rows {
		start, ok := s.at(uint64(w.off) - skew)
		if !ok {
			continue
		}
		known++
		if !start {
			misfits++
		}
	}
	return known, misfits
}
