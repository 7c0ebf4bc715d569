package verify

import (
	"bytes"
	"context"
	"debug/elf"
	"errors"
	"io"
	"slices"

	"golang.org/x/arch/x86/x86asm"

	"github.com/jitinject/jitinject/jitdump"
)

// habits are what the producer of a dump gets wrong everywhere. That they are habits
// shows only when many functions are looked at, so this is done first.
type habits struct {
	skew     uint64 // added to the address of each line
	bytecode bool   // baseline functions have offsets in the bytecode for addresses
}

// How much of a dump is looked at for habits.
const (
	habitTables = 256
	habitBytes  = 64 << 20
)

// v8Pad is what V8 writes into the header's pad1.
const v8Pad = 0xdeadbeef

func isBaseline(name []byte) bool { return bytes.HasPrefix(name, []byte("JS:^")) }

// A skewEvidence is what tables say about one skew.
type skewEvidence struct {
	skew                uint64
	tables, pro, con    int
	outside             int // of pro: tables that are wrong as they are
	misfits, misfitBack int // entries that are at no instruction's start, as they are and moved back
}

// findHabits looks at the first functions with lines.
func findHabits(ctx context.Context, src io.ReaderAt, machine elf.Machine) (h habits, err error) {
	reader, err := jitdump.NewReader(src)
	if err != nil {
		return h, nil // the caller says what is wrong
	}
	skews := []*skewEvidence{{skew: 0x40}}
	if machine == elf.EM_386 || machine == elf.EM_ARM || machine == elf.EM_MIPS || machine == elf.EM_PPC {
		skews = []*skewEvidence{{skew: 0x34}, {skew: 0x40}}
	}
	waiting := make(map[uint64][]uint64)
	freed := make(map[uint64]*jitdump.DebugInfo) // whose entries only the function's name tells apart
	baseline, misfitting := 0, 0
	for skews[0].tables < habitTables && reader.Offset() < habitBytes {
		if ctx.Err() != nil {
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
			if d, err := raw.DebugInfo(); err == nil && len(waiting) < 4*habitTables {
				delete(freed, d.CodeAddr)
				delete(waiting, d.CodeAddr)
				if t, whole := walkLines(&d, raw.Order); whole && t.entries > 0 {
					waiting[d.CodeAddr] = t.addrs
				} else if !whole && d.Count <= uint64(len(d.Area))/jitdump.DebugEntryHead && len(d.Area) < 1<<20 && len(freed) < habitTables {
					d.Area = bytes.Clone(d.Area)
					freed[d.CodeAddr] = &d
				}
			}
		case jitdump.IDLoad:
			l, err := raw.Load()
			if err != nil {
				continue
			}
			addrs := waiting[l.CodeAddr]
			delete(waiting, l.CodeAddr)
			if d := freed[l.CodeAddr]; d != nil {
				delete(freed, l.CodeAddr)
				if stride := strideOf(d, l.Name); stride > 0 {
					addrs = strideAddrs(d, stride, raw.Order)
				}
			}
			if len(addrs) == 0 {
				continue
			}
			starts := instructionStarts(machine, l.Code)
			if isBaseline(l.Name) {
				baseline++
				if known, misfits := countMisfits(starts, addrs, l.CodeAddr); misfits > 0 || known == 0 {
					misfitting++
				}
				continue
			}
			for _, e := range skews {
				e.add(addrs, &l, starts)
			}
		}
	}
	h.bytecode = 2*misfitting > baseline
	for _, e := range skews {
		if e.proved(reader.Header().Pad == v8Pad) {
			h.skew = e.skew
			break
		}
	}
	return h, nil
}

// add takes in what the entries of one function say.
func (e *skewEvidence) add(addrs []uint64, l *jitdump.Load, starts []bool) {
	e.tables++
	lo, hi, size := int64(slices.Min(addrs)-l.CodeAddr), int64(slices.Max(addrs)-l.CodeAddr), int64(l.CodeSize)
	skew := int64(e.skew)
	switch {
	case lo < skew:
		e.con++
		return
	case hi > size && hi-skew <= size:
		e.pro++
		e.outside++
	case lo == skew:
		e.pro++
	}
	_, n := countMisfits(starts, addrs, l.CodeAddr)
	e.misfits += n
	_, n = countMisfits(starts, addrs, l.CodeAddr+e.skew)
	e.misfitBack += n
}

// proved decides. Nine of ten functions must agree. Where instructions tell the two
// apart, they decide; else an entry at the skew may be chance, and more than one
// function must say so, and half of them.
func (e *skewEvidence) proved(v8 bool) bool {
	switch {
	case e.pro == 0 || e.pro < 9*e.con:
		return false
	case e.misfits != e.misfitBack:
		return e.misfits >= 9*e.misfitBack
	case v8 || e.outside == e.tables:
		return true
	}
	return e.pro >= 2 && 2*e.pro >= e.tables
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
