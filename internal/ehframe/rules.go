package ehframe

import (
	"github.com/jitinject/jitinject/internal/format/callframe"
	"github.com/jitinject/jitinject/internal/jitcode"
)

// A rule is what a table says about a span of code. The CFA is a register plus an offset.
type rule struct {
	Span
	Reg    uint64 // DWARF number
	Offset int64  // in bytes
	// Return is the distance in bytes from the CFA to the place of the return address. Stored is
	// false if that is not in memory.
	Return int64
	Stored bool
}

// rulesOf returns the rules of a table, as [Check] returns it, in the order of its FDEs. It omits
// spans in which the CFA is an expression.
func rulesOf(place Place, table jitcode.FrameTable) (all []rule) {
	format := place.format()
	for i := range table.FDEs {
		f := &table.FDEs[i]
		cie := commonPart(&table.CIEs[f.CIE])
		if format.Prepare(&cie) != nil {
			continue
		}
		format.Rows(&cie, f.Instructions, 0, f.Size, func(from, to uint64, row *callframe.Row) string {
			if from < to && row.Defined && !row.Computed {
				all = append(all, rule{
					Span: Span{f.Offset + from, f.Offset + to}, Reg: row.Reg, Offset: row.Offset,
					Return: row.Return.Offset, Stored: row.Return.Kind == callframe.AtCFA,
				})
			}
			return ""
		})
	}
	return all
}

// commonPart returns a CIE as the reader of tables has it.
func commonPart(cie *jitcode.FrameCIE) callframe.CIE {
	return callframe.CIE{CodeAlign: cie.CodeAlign, DataAlign: cie.DataAlign, ReturnReg: cie.ReturnReg, Instructions: cie.Instructions}
}
