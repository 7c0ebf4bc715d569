package callframe

import (
	"cmp"
	"math"
	"slices"

	"github.com/jitinject/jitinject/internal/wire"
)

// A RuleKind says where the caller's value of a register is.
type RuleKind uint8

const (
	NoRule       RuleKind = iota // by convention: what was called saves it
	Undefined                    // nowhere; for a return address: the stack ends
	SameValue                    // in the register
	AtCFA                        // in memory, at the CFA plus Offset
	IsCFA                        // it is the CFA plus Offset
	InRegister                   // in the register Reg
	AtExpression                 // in memory, at an address that is computed
	IsExpression                 // it is computed
)

// A Rule is the rule of a register in a row.
type Rule struct {
	Kind   RuleKind
	Offset int64  // in bytes
	Reg    uint64 // DWARF number
}

// A Row has the rules of a span of code.
type Row struct {
	Defined  bool   // the CFA has a rule
	Computed bool   // the CFA is an expression; else Reg plus Offset
	Reg      uint64 // DWARF number
	Offset   int64  // in bytes
	Return   Rule   // of the return address
	Saved    []Saved
}

// A Saved is the rule of a register. The registers of a row are in order.
type Saved struct {
	Reg uint64
	Rule
}

// Fault returns what keeps unwinders from using a row. It is empty for usable rows.
func (r *Row) Fault(p *Place) string {
	switch {
	case !r.Defined:
		return "do not say where the CFA is"
	case (r.Return.Kind == NoRule || r.Return.Kind == SameValue) && p.Pushes():
		return "have no rule for the return address"
	case !r.Computed && r.Offset == 0 && r.Return == Rule{Kind: AtCFA}:
		return "have the return address where the CFA is, and the frame has no size"
	}
	return ""
}

// Bounds of hostile tables. Registers of a row are bounded by those of any machine, and compilers
// remember one state or two.
const (
	maxSaved      = 256
	maxRemembered = math.MaxUint8
	maxKept       = 2 // states that a CIE remembers, each by one byte
)

// A program is in the middle of instructions.
type program struct {
	*Place
	cie   *CIE
	c     wire.Cursor
	now   Row
	saved []Row // remembered states
}

// begin carries out the instructions of a CIE, at an offset of the file. It returns their size
// without the padding after them.
func (p *Place) begin(cie *CIE, at int64) (size int, err error) {
	g := program{Place: p, cie: cie, c: wire.NewCursor(".eh_frame", "CIE", cie.Instructions, p.Order, at)}
	for i := range p.Instructions(cie, &g.c) {
		switch {
		case i.Op == Advance && i.Delta > 0:
			g.c.Bad("instruction", "an advance in a CIE")
		case i.Op == RememberState && len(g.saved) == maxKept:
			g.c.Bad("instruction", "the third state that a CIE remembers")
		}
		g.do(&i)
		if i.Op != Nop {
			size = g.c.Pos()
		}
	}
	cie.first, cie.saved = g.now, g.saved
	return size, g.c.Err()
}

// Prepare makes a CIE that was not read by a [Reader] usable for [Place.Rows].
func (p *Place) Prepare(cie *CIE) error {
	_, err := p.begin(cie, 0)
	return err
}

// Rows carries out the instructions of an FDE, at an offset of the table, which is about size bytes
// of code. It calls visit with the rows in order: row is that of the code from offset from up to to.
// The last row may be empty. visit must not keep row. If it returns a fault, that is the error.
//
// Rows returns the size of the instructions without the padding after them.
func (p *Place) Rows(cie *CIE, instructions []byte, at int64, size uint64, visit func(from, to uint64, row *Row) (fault string)) (used int, err error) {
	g := program{
		Place: p, cie: cie, c: wire.NewCursor(".eh_frame", "FDE", instructions, p.Order, p.File+at),
		now: cie.first.clone(), saved: slices.Clone(cie.saved),
	}
	pos := uint64(0)
	row := func(to uint64) {
		if g.c.Err() != nil {
			return
		}
		if fault := visit(pos, to, &g.now); fault != "" {
			g.c.Fail("instructions", "%s, from byte %d on", fault, pos)
		}
		pos = to
	}
	for i := range p.Instructions(cie, &g.c) {
		if i.Op == Advance && i.Delta > 0 {
			to := pos + i.Delta
			if to > size {
				g.c.Bad("instruction", "advances to byte %d of %d", to, size)
			}
			row(to)
		}
		g.do(&i)
		if i.Op != Nop {
			used = g.c.Pos()
		}
	}
	row(size)
	return used, g.c.Err()
}

// do changes the rules.
func (g *program) do(i *Instruction) {
	now := &g.now
	switch i.Op {
	case SetRule:
		g.set(i.Reg, i.Rule)
	case Restore:
		rule := Rule{}
		if i.Reg == g.cie.ReturnReg {
			rule = g.cie.first.Return
		} else if at, ok := find(g.cie.first.Saved, i.Reg); ok {
			rule = g.cie.first.Saved[at].Rule
		}
		g.set(i.Reg, rule)
	case RememberState:
		if g.saved = append(g.saved, now.clone()); len(g.saved) > maxRemembered {
			g.c.Bad("instruction", "%d states are remembered", len(g.saved))
		}
	case RestoreState:
		last := len(g.saved) - 1
		if last < 0 {
			g.c.Bad("instruction", "DW_CFA_restore_state, but no state is remembered")
			return
		}
		*now, g.saved = g.saved[last].clone(), g.saved[:last] // the CIE's states serve other FDEs, too
	case DefCFA:
		now.Defined, now.Computed, now.Reg, now.Offset = true, false, i.Reg, i.Offset
	case DefCFARegister:
		g.needCFA()
		now.Reg = i.Reg
	case DefCFAOffset:
		g.needCFA()
		now.Computed, now.Offset = false, i.Offset
	case DefCFAExpression:
		now.Defined, now.Computed = true, true
	}
}

// needCFA fails if an instruction changes a part of the CFA, and there is none.
func (g *program) needCFA() {
	if !g.now.Defined {
		g.c.Bad("instruction", "a part of the CFA changes, but there is none")
	}
}

// set sets the rule of a register.
func (g *program) set(reg uint64, rule Rule) {
	if reg == g.cie.ReturnReg {
		g.now.Return = rule
	}
	if !g.All {
		return
	}
	saved := &g.now.Saved
	switch at, found := find(*saved, reg); {
	case found && rule.Kind == NoRule:
		*saved = slices.Delete(*saved, at, at+1)
	case found:
		(*saved)[at].Rule = rule
	case rule.Kind == NoRule:
	case len(*saved) == maxSaved:
		g.c.Bad("register", "more than %d registers have rules", maxSaved)
	default:
		*saved = slices.Insert(*saved, at, Saved{reg, rule})
	}
}

func find(saved []Saved, reg uint64) (at int, found bool) {
	return slices.BinarySearchFunc(saved, reg, func(s Saved, reg uint64) int { return cmp.Compare(s.Reg, reg) })
}

// clone returns a row that shares nothing with r.
func (r *Row) clone() Row {
	c := *r
	c.Saved = slices.Clone(r.Saved)
	return c
}
