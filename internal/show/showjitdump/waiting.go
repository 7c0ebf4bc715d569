package showjitdump

import (
	"bytes"

	"github.com/jitinject/jitinject/jitdump"
)

// waiting holds records that describe functions until these are loaded, in the order of the file.
type waiting struct {
	records []jitdump.Raw
	size    int64
}

// maxWaiting bounds the bytes that wait; what waits longest is given up. LLVM describes a module of
// functions before it loads them.
const maxWaiting = 32 << 20

func (w *waiting) forget() { *w = waiting{} }

func (w *waiting) add(raw *jitdump.Raw) {
	r := *raw
	r.Body = bytes.Clone(raw.Body)
	w.records = append(w.records, r)
	for w.size += r.Size(); w.size > maxWaiting && len(w.records) > 1; w.records = w.records[1:] {
		w.size -= w.records[0].Size()
	}
}

// loaded takes out what describes a function that is loaded at an address: what names the address, and
// what names none and is for the next load.
func (w *waiting) loaded(addr uint64) (list []jitdump.Raw) {
	rest := w.records[:0]
	for _, r := range w.records {
		if about, named := address(&r); named && about != addr {
			rest = append(rest, r)
			continue
		}
		list = append(list, r)
		w.size -= r.Size()
	}
	w.records = rest
	return list
}

// address returns the address of the function that a record names, if it does.
func address(r *jitdump.Raw) (addr uint64, named bool) {
	at := 0
	switch r.ID {
	case jitdump.IDDebugInfo, jitdump.IDTier:
	case jitdump.IDOpenJ9:
		at = 8
	default:
		return 0, false
	}
	if len(r.Body) < at+8 {
		return 0, false
	}
	return r.Order.Uint64(r.Body[at:]), true
}
