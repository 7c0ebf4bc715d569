package showjitdump

import (
	"bytes"
	"slices"

	"github.com/jitinject/jitinject/jitdump"
)

// waiting holds records that describe functions until these are loaded: those that name
// an address, for the load of that address, the others for the next. It is bounded; what
// waits longest is given up first.
type waiting struct {
	named map[uint64][]jitdump.Raw // by the address they name
	order []uint64                 // of the addresses, as they came; some are gone from named
	next  []jitdump.Raw
	size  int64
}

// maxWaiting bounds the bytes that wait. LLVM describes a module of functions before it
// loads them.
const maxWaiting = 32 << 20

func (w *waiting) forget() { *w = waiting{} }

func (w *waiting) add(raw *jitdump.Raw) {
	r := *raw
	r.Body = bytes.Clone(raw.Body)
	w.size += r.Size()
	at := 0 // of the address
	if r.ID == jitdump.IDOpenJ9 {
		at = 8
	}
	if names := r.ID == jitdump.IDDebugInfo || r.ID == jitdump.IDOpenJ9; names && len(r.Body) >= at+8 {
		addr := r.Order.Uint64(r.Body[at:])
		if w.named == nil {
			w.named = make(map[uint64][]jitdump.Raw)
		}
		w.named[addr] = append(w.named[addr], r)
		w.order = append(w.order, addr)
	} else {
		w.next = append(w.next, r)
	}
	for ; w.size > maxWaiting && len(w.order) > 0; w.order = w.order[1:] {
		w.take(w.order[0])
	}
	for ; w.size > maxWaiting && len(w.next) > 1; w.next = w.next[1:] {
		w.size -= w.next[0].Size()
	}
}

// take takes out what names an address.
func (w *waiting) take(addr uint64) []jitdump.Raw {
	list := w.named[addr]
	for i := range list {
		w.size -= list[i].Size()
	}
	delete(w.named, addr)
	return list
}

// loaded takes out what describes a function that is loaded at an address, in the order
// of the file.
func (w *waiting) loaded(addr uint64) []jitdump.Raw {
	list := append(w.take(addr), w.next...)
	for i := range w.next {
		w.size -= w.next[i].Size()
	}
	w.next = nil
	if len(w.named) == 0 {
		w.order = nil
	}
	slices.SortFunc(list, func(a, b jitdump.Raw) int { return int(a.Offset - b.Offset) })
	return list
}
