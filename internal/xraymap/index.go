package xraymap

import (
	"errors"
	"fmt"

	"github.com/jitinject/jitinject/internal/format/elffile"
)

// readIndex reads xray_fn_idx. The result is nil if there is none, and the address 0 for an
// entry without sleds.
func readIndex(f *elffile.File, m *sleds) ([]uint64, error) {
	word := wordSize(f)
	size := 2 * word
	var first, second []uint64
	addr, err := readTable(f, "xray_fn_idx", size, func(_ uint64, entry []byte) {
		first, second = append(first, getWord(f, entry)), append(second, getWord(f, entry[word:]))
	})
	if errors.Is(err, ErrNoMap) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	// Relative to their place first: such entries have no relocations, and a place in the
	// table would have to lie as far behind the entry as it lies behind address 0.
	if functions, ok := m.indexed(first, second, func(i, begin, count uint64) (uint64, uint64) {
		begin += addr + i*size
		if word == 4 {
			begin = uint64(uint32(begin))
		}
		return begin, begin + count*m.size
	}); ok {
		return functions, nil
	}
	for _, words := range [][]uint64{first, second} {
		for i := range words {
			words[i] |= unrelocated
		}
	}
	for at, words := range map[uint64][]uint64{0: first, word: second} {
		if err := m.relocate(f, addr, size, at, words); err != nil {
			return nil, err
		}
		for i := range words {
			words[i] &^= unrelocated
		}
	}
	if functions, ok := m.indexed(first, second, func(_, begin, end uint64) (uint64, uint64) { return begin, end }); ok {
		return functions, nil
	}
	return nil, fmt.Errorf("section xray_fn_idx does not fit xray_instr_map: its entries are neither addresses in it nor relative to their place; the file may be damaged, or of an LLVM that is newer than this program")
}

// indexed returns the functions that pairs of words stand for, if all of these are places
// in the table of sleds.
func (m *sleds) indexed(first, second []uint64, span func(i, a, b uint64) (begin, end uint64)) ([]uint64, bool) {
	functions := make([]uint64, len(first))
	for i := range first {
		begin, end := span(uint64(i), first[i], second[i])
		from, ok := m.index(begin)
		to, also := m.index(end)
		if !ok || !also || to < from {
			return nil, false
		}
		if from < to {
			functions[i] = m.functions[from]
		}
	}
	return functions, true
}
