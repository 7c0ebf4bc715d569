package showj9

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/jitinject/jitinject/internal/format/j9meta"
	"github.com/jitinject/jitinject/internal/show/listing"
)

// Exception ranges and their handlers as marks in front of instructions.

// ExceptionMarks says where exception ranges begin and end in code, and where their handlers
// are. The code is a part of the body: size bytes that are at start, and are shown at
// shown. A range that began in front of it begins with it.
func (b *Body) ExceptionMarks(start, shown, size uint64) []listing.Mark {
	const (
		ends = iota
		handler
		begins
	)
	type mark struct {
		at   listing.Mark
		kind int
	}
	base := b.Decoded.Header.StartPC
	// at is where in the code an offset of the metadata is.
	at := func(offset uint32) (uint64, bool) {
		n := base + uint64(offset) - start
		return n, n < size
	}
	// address is where the instruction is shown, or is in the other part of the code.
	address := func(offset uint32) uint64 {
		if n, ok := at(offset); ok || n == size {
			return shown + n
		}
		return base + uint64(offset)
	}
	var list []mark
	for i := range b.Decoded.Exceptions {
		e := &b.Decoded.Exceptions[i]
		first, in := at(e.Start)
		if last, endsIn := at(e.End); endsIn && e.Start < e.End {
			list = append(list, mark{listing.Mark{Offset: last, Text: fmt.Sprintf("exception range %d ends", i)}, ends})
			if !in && base+uint64(e.Start) < start && last > 0 {
				first, in = 0, true
			}
		} else if !in && base+uint64(e.Start) < start && base+uint64(e.End) > start {
			first, in = 0, true
		}
		if in && e.Start < e.End {
			list = append(list, mark{listing.Mark{Offset: first, Text: fmt.Sprintf("exception range %d begins: up to %x, handler at %x, %s", i, address(e.End), address(e.Handler), b.catches(e))}, begins})
		}
		if where, ok := at(e.Handler); ok {
			list = append(list, mark{listing.Mark{Offset: where, Text: fmt.Sprintf("handler of exception range %d", i)}, handler})
		}
	}
	slices.SortStableFunc(list, func(a, b mark) int { return cmp.Or(cmp.Compare(a.at.Offset, b.at.Offset), cmp.Compare(a.kind, b.kind)) })
	marks := make([]listing.Mark, len(list))
	for i := range list {
		marks[i] = list[i].at
	}
	return marks
}

// catches says in words what an entry catches, and where its handler belongs.
func (b *Body) catches(e *j9meta.Exception) string {
	what := b.catchType(e)
	switch what {
	case "":
		what = fmt.Sprintf("catches type %d", e.CatchType)
	case catchesAny:
		what = "catches all"
	case catchesSynthetic:
		what = "for on-stack replacement"
	}
	return what + ", of " + b.handlerName(e)
}
