package checkdump

import (
	"bytes"
	"context"
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"slices"

	"golang.org/x/arch/x86/x86asm"

	"github.com/jitinject/jitinject/jitdump"
)

// quirks are quirks of a producer that hold for a whole dump. They show only over all
// functions, so this pass comes first.
type quirks struct {
	skew       uint64         // added to the address of each line
	bytecode   bool           // baseline functions have bytecode offsets as addresses
	misplaced  map[int64]bool // loads, by offset, with misplaced lines, unlike the others
	contradict string         // how tables contradict each other, or ""
}

// v8Pad is V8's value of the header's pad1.
const v8Pad = 0xdeadbeef

// isBaseline reports whether a function is of V8's baseline compiler. Up to V8 10 its code
// has other names, which other producers might use.
func isBaseline(name []byte, v8 bool) bool {
	return bytes.HasPrefix(name, []byte("JS:^")) || v8 && (bytes.HasPrefix(name, []byte("Function:^")) || bytes.HasPrefix(name, []byte("LazyCompile:^")))
}

// A skewVote is the evidence of a dump's tables about one skew.
type skewVote struct {
	skew     uint64
	votes    int     // tables that are right only with this skew
	first    int     // tables with the lowest entry at the skew
	against  []int64 // loads, by offset, that are wrong with it
	baseline int     // tables of baseline functions that are wrong with it
}

// A quirkScan reads all tables of a dump.
type quirkScan struct {
	machine  elf.Machine
	v8       bool
	skews    []skewVote // without skew first
	tables   int
	baseline int
	neither  int // tables that are wrong with every skew
	waiting  map[uint64][]uint64
	addrs    int                           // in waiting
	freed    map[uint64]*jitdump.DebugInfo // records that only the function's name can split into entries
}

// maxFreed bounds the debug records that wait for a name.
const maxFreed = 256

// findQuirks returns the quirks shown by all functions with lines.
func findQuirks(ctx context.Context, src io.ReaderAt, machine elf.Machine) (h quirks, err error) {
	reader, err := jitdump.NewReader(src)
	if err != nil {
		return h, nil // the caller says what is wrong
	}
	s := quirkScan{machine: machine, v8: reader.Header().Pad == v8Pad, waiting: make(map[uint64][]uint64), freed: make(map[uint64]*jitdump.DebugInfo)}
	s.skews = []skewVote{{}, {skew: 0x40}}
	switch machine {
	case elf.EM_386, elf.EM_ARM, elf.EM_MIPS, elf.EM_PPC:
		s.skews = []skewVote{{}, {skew: 0x34}, {skew: 0x40}}
	case elf.EM_RISCV:
		s.skews = append(s.skews, skewVote{skew: 0x34})
	}
	for n := 0; ; n++ {
		if n%1024 == 0 && ctx.Err() != nil {
			return h, ctx.Err()
		}
		raw, err := reader.Next()
		if errors.Is(err, jitdump.ErrTooLarge) {
			continue
		}
		if err != nil {
			if _, ok := reader.Resync(); ok {
				continue
			}
			break
		}
		switch raw.ID {
		case jitdump.IDDebugInfo:
			if d, err := raw.DebugInfo(); err == nil {
				s.debugInfo(&raw, &d)
			}
		case jitdump.IDLoad:
			if l, err := raw.Load(); err == nil {
				s.load(&raw, &l)
			}
		}
	}
	return s.quirks(), nil
}

// debugInfo keeps the addresses of a record until its load comes.
func (s *quirkScan) debugInfo(raw *jitdump.Raw, d *jitdump.DebugInfo) {
	s.addrs -= len(s.waiting[d.CodeAddr])
	delete(s.freed, d.CodeAddr)
	delete(s.waiting, d.CodeAddr)
	switch t, whole := walkLines(d, raw.Order); {
	case whole && t.entries > 0 && s.addrs < maxWaiting:
		s.waiting[d.CodeAddr] = t.addrs
		s.addrs += len(t.addrs)
	case !whole && d.Count <= uint64(len(d.Area))/jitdump.DebugEntryHead && len(d.Area) < 1<<20 && len(s.freed) < maxFreed:
		kept := *d
		kept.Area = bytes.Clone(d.Area)
		s.freed[d.CodeAddr] = &kept
	}
}

// load adds the table of a function.
func (s *quirkScan) load(raw *jitdump.Raw, l *jitdump.Load) {
	addrs := s.waiting[l.CodeAddr]
	s.addrs -= len(addrs)
	delete(s.waiting, l.CodeAddr)
	if d := s.freed[l.CodeAddr]; d != nil {
		delete(s.freed, l.CodeAddr)
		if stride := strideOf(d, l.Name); stride > 0 {
			addrs = strideAddrs(d, stride, raw.Order)
		}
	}
	if len(addrs) == 0 {
		return
	}
	starts := instructionStarts(s.machine, l.Code)
	if isBaseline(l.Name, s.v8) {
		s.baseline++
		for i := range s.skews {
			if known, misfits := countMisfits(starts, addrs, l.CodeAddr+s.skews[i].skew); misfits > 0 || known == 0 {
				s.skews[i].baseline++
			}
		}
		return
	}
	s.tables++
	low := slices.Min(addrs)
	var right []int // of skews
	for i := range s.skews {
		v := &s.skews[i]
		if low == l.CodeAddr+v.skew {
			v.first++
		}
		if s.isRight(v.skew, starts, addrs, l) {
			right = append(right, i)
		} else {
			v.against = append(v.against, raw.Offset)
		}
	}
	switch len(right) {
	case 0:
		s.neither++
	case 1:
		s.skews[right[0]].votes++
	}
}

// isRight reports whether nine of ten entries are at starts of instructions after
// subtracting a skew. Entries outside the code count if another skew has them inside.
func (s *quirkScan) isRight(skew uint64, starts []bool, addrs []uint64, l *jitdump.Load) bool {
	known, misfits := countMisfits(starts, addrs, l.CodeAddr+skew)
	for _, a := range addrs {
		off, moved := a-l.CodeAddr, a-l.CodeAddr-skew
		if int64(off) >= 0 && off <= l.CodeSize+0x40 && (int64(moved) < 0 || moved > l.CodeSize) {
			known++
			misfits++
		}
	}
	return misfits*10 <= known
}

// quirks returns the quirks that the tables prove.
func (s *quirkScan) quirks() (h quirks) {
	chosen, votes := 0, 0
	for i := range s.skews {
		v := &s.skews[i]
		votes += v.votes
		if v.votes > s.skews[chosen].votes || v.votes == s.skews[chosen].votes && len(v.against) < len(s.skews[chosen].against) {
			chosen = i
		}
	}
	best := &s.skews[chosen]
	others := votes - best.votes
	few := 1 + votes/20 // a few odd tables prove nothing, if there are enough others
	if best.votes < 7 {
		few = 0
	}
	if wrong := others + s.neither; others > few || 4*wrong > votes+s.neither {
		h.contradict = fmt.Sprintf("of %d tables, %d are right as they are", s.tables, s.skews[0].votes)
		for _, v := range s.skews[1:] {
			h.contradict += fmt.Sprintf(", %d if %#x is taken off", v.votes, v.skew)
		}
		h.contradict += fmt.Sprintf(", %d neither way", s.neither)
		return h
	}
	if votes == 0 {
		chosen = 0
		for i := len(s.skews) - 1; i > 0; i-- {
			if n := s.skews[i].first; n > 0 && n == s.tables || n >= 2 && 2*n >= s.tables || s.v8 && i == 1 && s.tables+s.baseline > 0 && chosen == 0 {
				chosen = i
			}
		}
		best = &s.skews[chosen]
	}
	h.skew = best.skew
	h.bytecode = 2*best.baseline > s.baseline
	h.misplaced = make(map[int64]bool)
	for _, offset := range best.against {
		h.misplaced[offset] = true
	}
	return h
}

// countMisfits counts the addresses, from base on, of which it is known whether an
// instruction starts there, and those where none does.
func countMisfits(starts []bool, addrs []uint64, base uint64) (known, misfits int) {
	for _, a := range addrs {
		if off := a - base; off < uint64(len(starts)) {
			known++
			if !starts[off] {
				misfits++
			}
		}
	}
	return known, misfits
}

// instructionStarts says of each byte of code, as far as a sweep gets, whether an
// instruction starts there. It knows x86, where instructions tell most.
func instructionStarts(machine elf.Machine, code []byte) []bool {
	mode := 0
	switch machine {
	case elf.EM_X86_64:
		mode = 64
	case elf.EM_386:
		mode = 32
	default:
		return nil
	}
	starts := make([]bool, 0, len(code))
	for len(starts) < len(code) {
		n := x86Length(code[len(starts):], mode)
		if n <= 0 || n > len(code)-len(starts) {
			break
		}
		starts = append(starts, true)
		for range n - 1 {
			starts = append(starts, false)
		}
	}
	return starts
}

// x86Length returns the length of an instruction, or 0. x86asm is wrong about
// vzeroupper, vzeroall, endbr64 and endbr32.
func x86Length(b []byte, mode int) int {
	if len(b) >= 3 && b[0] == 0xc5 && b[2] == 0x77 {
		return 3
	}
	if len(b) >= 4 && (b[0] == 0xc4 && b[3] == 0x77 || b[0] == 0xf3 && b[1] == 0x0f && b[2] == 0x1e && b[3]&0xfe == 0xfa) {
		return 4
	}
	inst, err := x86asm.Decode(b, mode)
	if err != nil || inst.Op == 0 {
		return 0
	}
	return inst.Len
}
