package truth

import (
	"debug/elf"
	"fmt"
	"slices"

	"github.com/ianlancetaylor/demangle"
	"github.com/jitinject/jitinject/internal/judge"
)

// addressesOf returns the address in an object of each leaf. An object may have several
// functions of the same name, such as lambdas of one file. The address printed by perf
// decides: it is an address in the object, or one in memory, to be looked up in a mapping.
//
// It fails for a symbol that the object does not have, and for one that may be several
// functions of the object.
func addressesOf(object string, leaves []leaf, mappings []judge.Mapping) ([]uint64, error) {
	f, err := elf.Open(object)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	symbols, err := f.Symbols()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", object, err)
	}
	values := make(map[string][]uint64)
	for i := range symbols {
		names := []string{demangled(symbols[i].Name), demangle.Filter(symbols[i].Name)} // perf 7 shows parameters
		for _, name := range slices.Compact(names) {
			values[name] = append(values[name], symbols[i].Value)
		}
	}
	addresses := make([]uint64, len(leaves))
	for i, l := range leaves {
		v := values[l.symbol]
		if len(v) > 1 {
			at := l.places(mappings)
			v = slices.DeleteFunc(slices.Clone(v), func(value uint64) bool { return !slices.Contains(at, value+l.offset) })
		}
		switch {
		case len(values[l.symbol]) == 0:
			return nil, fmt.Errorf("%s has no symbol %s, which perf shows", object, l.symbol)
		case len(v) != 1:
			return nil, fmt.Errorf("%s has %d symbols %s, and %#x matches none or several", object, len(values[l.symbol]), l.symbol, l.printed)
		}
		addresses[i] = v[0] + l.offset
	}
	return addresses, nil
}

// places returns the object's addresses that the printed address may stand for.
func (l *leaf) places(mappings []judge.Mapping) []uint64 {
	at := []uint64{l.printed}
	for _, m := range mappings {
		if m.File == l.object && l.printed-m.Start < m.Size {
			at = append(at, l.printed-m.Start+m.Offset)
		}
	}
	return at
}
