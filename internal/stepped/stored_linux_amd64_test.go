package stepped

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/go-delve/delve/pkg/dwarf/frame"
)

// contradictsStored is contradicts for a row whose CFA is an expression: the code keeps it in
// a word of its frame, and moves the return address away from it.
//
// Where rbp is still the caller's, or is so again, such a row follows it as unwinders do
// without a row. So it is with what code pushes before it enters the next frame, and with
// calls of parts of itself. There is nothing to compare.
func (s *step) contradictsStored(row *frame.FrameContext, d *dump) string {
	truth := &s.frame
	if truth.regs[1] == s.regs.Rbp || s.regs.Rbp > truth.slot {
		return unknown
	}
	var at [3]uint64
	for i, expr := range [][]byte{row.CFA.Expression, row.Regs[returnAddress].Expression, row.Regs[rbp].Expression} {
		var err error
		if at[i], err = s.eval(expr); err != nil {
			return err.Error()
		}
	}
	cfa, ra, fp := at[0], at[1], at[2]
	if ra != truth.slot || truth.moved {
		return fmt.Sprintf("got the return address at %#x, want %#x (moved: %v); rbp is %#x, was %#x", ra, truth.slot, truth.moved, s.regs.Rbp, truth.regs[1])
	}
	// HotSpot's adapters align the stack between an interpreted caller and its callee. Rows
	// of such a caller count from rbp: no CFA matters to them.
	if caller, lo := d.at(truth.ra, s.time); cfa != truth.cfa && caller != nil {
		if row, err := caller.row(truth.ra - lo); err != nil || row == nil || row.CFA.Rule != frame.RuleExpression || cfa <= ra || cfa > truth.cfa {
			return fmt.Sprintf("got CFA %#x, want %#x", cfa, truth.cfa)
		}
	}
	if got, ok := s.nearFP(fp); !ok || got != truth.regs[1] {
		return fmt.Sprintf("got frame pointer %#x of the caller, want %#x", got, truth.regs[1])
	}
	return ""
}

// unknown stands for the fault of a row that is not judged.
const unknown = "unknown"

// storedAt is how many bytes below rbp a stored CFA may be.
const storedAt = 16

// nearFP returns a word near rbp.
func (s *step) nearFP(at uint64) (v uint64, ok bool) {
	if n := (at - s.regs.Rbp + storedAt) / 8; n < uint64(len(s.atFP)) && at%8 == s.regs.Rbp%8 {
		return s.atFP[n], true
	}
	return 0, false
}

// returnAddress is the DWARF number of the return address.
const returnAddress = 16

// eval computes an expression as DWARF 5, 2.5 has it, as far as tables of ours need it.
func (s *step) eval(expr []byte) (uint64, error) {
	if len(expr) == 0 {
		return 0, errors.New("no expression")
	}
	var stack []uint64
	pop := func() uint64 {
		if len(stack) == 0 {
			return 0
		}
		v := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		return v
	}
	truth := map[bool]uint64{true: 1}
	for len(expr) > 0 {
		op := expr[0]
		expr = expr[1:]
		switch op {
		case 0x76, 0x77: // breg6, breg7
			n := int64(int8(expr[0]<<1)) >> 1
			expr = expr[1:]
			stack = append(stack, map[byte]uint64{0x76: s.regs.Rbp, 0x77: s.regs.Rsp}[op]+uint64(n))
		case 0x0c: // const4u
			stack = append(stack, uint64(binary.LittleEndian.Uint32(expr)))
			expr = expr[4:]
		case 0x30: // lit0
			stack = append(stack, 0)
		case 0x06: // deref
			at := pop()
			v, ok := s.nearFP(at)
			if !ok {
				return 0, fmt.Errorf("no memory at %#x", at)
			}
			stack = append(stack, v)
		case 0x12: // dup
			v := pop()
			stack = append(stack, v, v)
		case 0x14: // over
			b, a := pop(), pop()
			stack = append(stack, a, b, a)
		default:
			b, a := pop(), pop()
			switch op {
			case 0x1a:
				a &= b
			case 0x1c:
				a -= b
			case 0x1e:
				a *= b
			case 0x22:
				a += b
			case 0x2a:
				a = truth[int64(a) >= int64(b)]
			case 0x2c:
				a = truth[int64(a) <= int64(b)]
			default:
				return 0, fmt.Errorf("operation %#x", op)
			}
			stack = append(stack, a)
		}
	}
	return pop(), nil
}
