package ehframe

import (
	"github.com/jitinject/jitinject/internal/jitcode"
	"github.com/jitinject/jitinject/internal/wire"
)

// A Rule is what a table says about a span of code. The CFA is a register plus an offset.
type Rule struct {
	Span
	Reg    uint64 // DWARF number
	Offset int64  // in bytes
	// Return is the distance in bytes from the CFA to the place of the return address. Stored is
	// false if that is not in memory.
	Return int64
	Stored bool
}

// Rules returns the rules of a table, as [Check] returns it, in the order of its FDEs. It omits
// spans in which the CFA is an expression.
func Rules(place Place, table jitcode.FrameTable) (all []Rule) {
	for i := range table.FDEs {
		f := &table.FDEs[i]
		cie := &table.CIEs[f.CIE]
		p := program{place: &place, cie: cie}
		c := wire.NewCursor(".eh_frame", "CIE", cie.Instructions, place.Order, 0)
		p.run(&c)
		p.initial, p.size = p.now, f.Size
		add := func(from, to uint64, now *rules) {
			if from < to && now.cfa && !now.computed {
				all = append(all, Rule{
					Span: Span{f.Offset + from, f.Offset + to}, Reg: now.cfaReg, Offset: now.cfaOffset,
					Return: now.raCFAOffset, Stored: now.raInMemory,
				})
			}
		}
		c = wire.NewCursor(".eh_frame", "FDE", f.Instructions, place.Order, 0)
		from := uint64(0)
		for c.Err() == nil && c.Len() > 0 {
			was := p.now
			p.instruction(&c, c.U8("instruction"))
			if p.at > from {
				add(from, p.at, &was)
				from = p.at
			}
		}
		add(from, f.Size, &p.now)
	}
	return all
}
