package ehframe

import (
	"cmp"
	"slices"

	"github.com/jitinject/jitinject/internal/jitcode"
	"github.com/jitinject/jitinject/internal/sorting"
)

// A Proof is what code proves about the frame in a span: the CFA, counted from one register or from
// several.
type Proof struct {
	Span
	CFAs []jitcode.CFA
}

// Correct compares the table of a producer, u.Sent, with proofs, which are in order and disjoint.
// Where a proof contradicts the table, rows replace those of the table. If that is more than half of
// the bytes that can be compared, they replace the whole table. rows are derived from the code, and
// known where there is a proof. Correct reports whether the table contradicts the code.
func Correct(place Place, u *jitcode.Unwind, proofs []Proof, rows []jitcode.FrameRow) bool {
	wrong, compared := contradictions(&place, rulesOf(place, u.Sent), proofs)
	if len(wrong) == 0 {
		return false
	}
	bytes := uint64(0)
	for _, w := range wrong {
		bytes += w.To - w.From
	}
	cut, ok := Cut(place, u.Sent, wrong)
	if ok && 2*bytes <= compared {
		u.Sent, u.Rows = cut, within(rows, wrong)
	} else {
		u.Sent, u.Rows = jitcode.FrameTable{}, rows
	}
	return true
}

// contradictions returns the spans in which proofs contradict rules, in order and disjoint. compared
// is the number of bytes for which there are both.
func contradictions(place *Place, rules []rule, proofs []Proof) (wrong []Span, compared uint64) {
	sorting.By(rules, func(a, b rule) int { return cmp.Compare(a.From, b.From) })
	format := place.format()
	at := 0
	for i := range proofs {
		p := &proofs[i]
		for at < len(rules) && rules[at].To <= p.From {
			at++
		}
		for j := at; j < len(rules) && rules[j].From < p.To; j++ {
			r := &rules[j]
			proved := slices.IndexFunc(p.CFAs, func(c jitcode.CFA) bool { return uint64(c.Reg) == r.Reg })
			if proved < 0 {
				continue // the distance of the registers is unknown
			}
			span := Span{max(p.From, r.From), min(p.To, r.To)}
			compared += span.To - span.From
			returns := !r.Stored || !format.Pushes() || r.Return == -int64(place.AddrSize)
			if returns && p.CFAs[proved].Offset == r.Offset {
				continue
			}
			if last := len(wrong) - 1; last >= 0 && wrong[last].To == span.From {
				wrong[last].To = span.To
			} else {
				wrong = append(wrong, span)
			}
		}
	}
	return wrong, compared
}

// within returns the rows in spans, and unknown ones between them.
func within(rows []jitcode.FrameRow, spans []Span) (in []jitcode.FrameRow) {
	at := 0 // the row in force is the one before
	for _, s := range spans {
		for at < len(rows) && rows[at].Offset <= s.From {
			at++
		}
		if at > 0 {
			first := rows[at-1]
			first.Offset = s.From
			in = append(in, first)
		}
		for ; at < len(rows) && rows[at].Offset < s.To; at++ {
			in = append(in, rows[at])
		}
		in = append(in, jitcode.FrameRow{Offset: s.To})
	}
	return in
}
