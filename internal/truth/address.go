package truth

import (
	"debug/elf"
	"fmt"
)

// addressesOf returns the address in an object of each leaf. An object may have several
// functions of the same name, such as lambdas of one file. The address that perf prints
// says which: it is the address in the object, or that in memory, which is a constant
// away, the object's bias. Symbols whose name is unique tell the bias.
//
// A symbol that the object does not have is an error, and so is one that several
// functions of the object could be.
func addressesOf(object string, leaves []leaf) ([]uint64, error) {
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
		values[symbols[i].Name] = append(values[symbols[i].Name], symbols[i].Value)
	}
	biases := map[uint64]bool{0: true}
	for _, l := range leaves {
		if v := values[l.symbol]; len(v) == 1 {
			biases[l.printed-v[0]-l.offset] = true
		}
	}
	addresses := make([]uint64, len(leaves))
	for i, l := range leaves {
		v := values[l.symbol]
		if len(v) > 1 {
			v = nil
			for _, value := range values[l.symbol] {
				if biases[l.printed-value-l.offset] {
					v = append(v, value)
				}
			}
		}
		switch {
		case len(values[l.symbol]) == 0:
			return nil, fmt.Errorf("%s has no symbol %s, which perf shows", object, l.symbol)
		case len(v) != 1:
			return nil, fmt.Errorf("%s has %d symbols %s, and %#x does not say which is meant", object, len(values[l.symbol]), l.symbol, l.printed)
		}
		addresses[i] = v[0] + l.offset
	}
	return addresses, nil
}
