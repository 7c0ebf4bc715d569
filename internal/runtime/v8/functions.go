package v8

import (
	"hash/maphash"

	"github.com/jitinject/jitinject/internal/format/v8log"
)

// A function is a function of a script.
type function struct {
	sfi    uint64 // address of its SharedFunctionInfo, at the line that was read last
	name   nameRef
	script int32 // index, or unknown
	start  int32 // in code units of the script
}

// A nameRef is the place of a name in the log: its offset, and in the lowest bits its length in
// bytes. Logs have less than 128 TiB.
type nameRef int64

// sizeBits are the bits of the length of a name; no name is longer.
const sizeBits = 16

func newNameRef(off int64, size int) nameRef { return nameRef(off<<sizeBits | int64(size)) }

func (n nameRef) span() v8log.Span {
	return v8log.Span{Off: int64(n >> sizeBits), Size: int64(n & (1<<sizeBits - 1))}
}

// A functionList has functions in parts that are never copied: logs have up to a million.
type functionList struct {
	parts [][]function
	count int
}

// partSize is the number of functions in a part.
const partSize = 4096

// at returns the i-th function.
func (l *functionList) at(i int32) *function { return &l.parts[i/partSize][i%partSize] }

// add appends a function, and returns its index.
func (l *functionList) add(f function) int32 {
	if l.count%partSize == 0 {
		l.parts = append(l.parts, make([]function, 0, partSize))
	}
	last := &l.parts[len(l.parts)-1]
	*last = append(*last, f)
	l.count++
	return int32(l.count - 1)
}

// identities are the functions at the addresses of SharedFunctionInfos, at the line that was read
// last. It is a hash table with linear probing, of four bytes an entry: the addresses are in the
// functions.
type identities struct {
	functions *functionList
	slots     []uint32 // index of a function plus firstIndex, or one of the following
	used      int      // slots that are not free
}

// Values of slots.
const (
	freeSlot   = 0
	goneSlot   = 1 // its function has moved: the search goes on
	firstIndex = 2
)

// minSlots is the number of slots at first, a power of two like all.
const minSlots = 1024

func newIdentities(functions *functionList) identities {
	return identities{functions: functions, slots: make([]uint32, minSlots)}
}

// slotOf returns the slot of an address, or else the slot where it would be added.
func (m *identities) slotOf(sfi uint64) (slot int, found bool) {
	mask := len(m.slots) - 1
	slot = int(maphash.Comparable(seed, sfi)) & mask // the author of a log cannot choose equal slots
	gone := -1
	for ; m.slots[slot] != freeSlot; slot = (slot + 1) & mask {
		if v := m.slots[slot]; v == goneSlot {
			if gone < 0 {
				gone = slot
			}
		} else if m.functions.at(int32(v-firstIndex)).sfi == sfi {
			return slot, true
		}
	}
	if gone >= 0 {
		slot = gone
	}
	return slot, false
}

// find returns the function at an address.
func (m *identities) find(sfi uint64) (fn int32, ok bool) {
	slot, ok := m.slotOf(sfi)
	if !ok {
		return unknown, false
	}
	return int32(m.slots[slot] - firstIndex), true
}

// set puts a function at an address. Another one that was there is gone: the collector freed it.
func (m *identities) set(sfi uint64, fn int32) {
	slot, found := m.slotOf(sfi)
	if !found && m.slots[slot] == freeSlot {
		if 4*(m.used+1) > 3*len(m.slots) {
			m.grow()
			slot, _ = m.slotOf(sfi)
		}
		m.used++
	}
	m.functions.at(fn).sfi = sfi
	m.slots[slot] = uint32(fn) + firstIndex
}

// remove removes the function at an address.
func (m *identities) remove(sfi uint64) {
	if slot, found := m.slotOf(sfi); found {
		m.slots[slot] = goneSlot
	}
}

// move moves a function. Functions without code were never logged.
func (m *identities) move(from, to uint64) {
	if from == to {
		return
	}
	fn, ok := m.find(from)
	m.remove(to)
	if ok {
		m.remove(from)
		m.set(to, fn)
	}
}

// grow makes more slots, unless many of them are of functions that have moved.
func (m *identities) grow() {
	old, live := m.slots, 0
	for _, v := range old {
		if v >= firstIndex {
			live++
		}
	}
	size := len(old)
	if 2*live > size {
		size *= 2
	}
	m.slots, m.used = make([]uint32, size), live
	for _, v := range old {
		if v >= firstIndex {
			slot, _ := m.slotOf(m.functions.at(int32(v - firstIndex)).sfi)
			m.slots[slot] = v
		}
	}
}
