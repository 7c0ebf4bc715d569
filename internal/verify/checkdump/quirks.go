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
	only     int     // tables that are right with it, and not as they are
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
	judged   int // tables that are wrong with some skew
	notAsIs  int // tables that are wrong as they are
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
			if fits, known := tableFits(s.skews[i].skew, starts, addrs, l); !fits || known == 0 {
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
		if fits, _ := tableFits(v.skew, starts, addrs, l); fits {
			right = append(right, i)
		} else {
			v.against = append(v.against, raw.Offset)
		}
	}
	switch len(right) {
	case len(s.skews):
		return
	case 0:
		s.neither++
	case 1:
		s.skews[right[0]].votes++
	}
	s.judged++
	if !slices.Contains(right, 0) {
		s.notAsIs++
		for _, i := range right {
			s.skews[i].only++
		}
	}
}

// tableFits reports whether seven of eight entries that say something are at starts of instructions
// after subtracting a skew, and how many these are. Entries outside the code count if another skew
// has them inside.
func tableFits(skew uint64, starts []bool, addrs []uint64, l *jitdump.Load) (fits bool, known int) {
	misfits := 0
	for _, a := range addrs {
		off := int64(a - l.CodeAddr)
		moved := off - int64(skew)
		inside := off >= 0 && uint64(off) <= l.CodeSize
		switch {
		case moved < 0 || uint64(moved) > l.CodeSize:
			if off >= 0 && uint64(off) <= l.CodeSize+0x40 {
				known++
				misfits++
			}
			continue
		case !inside:
			known++
		}
		if moved < int64(len(starts)) {
			if inside {
				known++
			}
			if !starts[moved] {
				misfits++
			}
		}
	}
	return misfits*8 <= known, known
}

// quirks returns the quirks that the tables prove.
func (s *quirkScan) quirks() (h quirks) {
	chosen := 0
	for i := range s.skews {
		v, best := &s.skews[i], &s.skews[chosen]
		if len(v.against) < len(best.against) || len(v.against) == len(best.against) && v.first > best.first {
			chosen = i
		}
	}
	best := &s.skews[chosen]
	others := 0 // tables that are right with another skew only
	if chosen > 0 {
		others = len(best.against) - (s.notAsIs - best.only)
	} else {
		for _, v := range s.skews {
			others = max(others, v.only)
		}
	}
	// A few odd tables prove nothing, if there are enough others.
	if 20*others > s.judged && (others > 1 || s.judged < 8) || 4*len(best.against) > s.judged {
		h.contradict = fmt.Sprintf("of %d tables, %d are right as they are", s.tables, s.skews[0].votes)
		for _, v := range s.skews[1:] {
			h.contradict += fmt.Sprintf(", %d if %#x is taken off", v.votes, v.skew)
		}
		h.contradict += fmt.Sprintf(", %d neither way", s.neither)
		return h
	}
	if s.judged == 0 {
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

// instructionStarts says of each byte of code, as far as a sweep gets, whether an instruction starts
// there. It is empty for unknown machines.
func instructionStarts(machine elf.Machine, code []byte) []bool {
	var length func(b []byte) int
	switch machine {
	case elf.EM_X86_64:
		length = func(b []byte) int { return x86Length(b, 64) }
	case elf.EM_386:
		length = func(b []byte) int { return x86Length(b, 32) }
	case elf.EM_ARM: // or 4
		length = func(b []byte) int { return 2 }
	case elf.EM_AARCH64, elf.EM_PPC64, elf.EM_PPC, elf.EM_MIPS, elf.EM_LOONGARCH, elf.EM_SPARCV9:
		length = func(b []byte) int { return 4 }
	case elf.EM_RISCV: // by the low bits; 0 for more than 4
		length = func(b []byte) int {
			switch {
			case b[0]&3 != 3:
				return 2
			case b[0]&0x1f != 0x1f:
				return 4
			}
			return 0
		}
	case elf.EM_S390: // by the high bits
		length = func(b []byte) int { return [4]int{2, 4, 4, 6}[b[0]>>6] }
	default:
		return nil
	}
	starts := make([]bool, 0, len(code))
	for len(starts) < len(code) {
		n := length(code[len(starts):])
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
