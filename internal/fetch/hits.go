package fetch

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/jitinject/jitinject/internal/samplerefs"
)

// perf looks an address up among the mappings of a process, its own or inherited from an ancestor, at
// a time. An object is hit if any sample refers to an address in one of its mappings, at any time, in
// the process or a descendant. So every object that perf may look into is hit. These are more than
// perf buildid-list --with-hits lists: that counts only the sampled addresses, or in newer versions
// callchains, too, and no copies of stacks.

// findHits marks the objects that samples refer to. The error is ctx's or one of reading; or it is a
// [samplerefs.Unknowable].
func (r *result) findHits(ctx context.Context) error {
	h := newHits(r)
	if err := samplerefs.Each(ctx, r.rec, h.bounds, h.reference); err != nil {
		return err
	}
	for _, of := range h.code {
		of.mark(r.objects)
	}
	return nil
}

// hits records which mappings are referred to.
type hits struct {
	result *result
	ignore uint64           // bits of an address that are no part of the location
	code   map[uint32]*code // by process, of its own mappings
	spaces map[uint32]*space
	// seen caches recent addresses: most recur often.
	seen [1 << 12]seenAddress
}

type seenAddress struct {
	addr uint64
	pid  uint32
}

// code has the addresses of a process's mappings, cut wherever one begins or ends.
type code struct {
	mappings []mapping
	starts   []uint64 // in ascending order, without duplicates
	hit      []bool   // from the start with the same index to the next one
}

// A space is what a process may have at its addresses: its own code, and that of ancestors.
type space struct {
	of     []*code
	lo, hi uint64 // all addresses are between these
}

func newHits(r *result) *hits {
	h := &hits{result: r, code: make(map[uint32]*code), spaces: make(map[uint32]*space)}
	switch r.rec.Machine {
	case "aarch64":
		h.ignore = 0xffff << 48 // the upper bits of a return address may sign it
	case "arm":
		h.ignore = 1 // bit 0 selects the instruction set
	}
	for _, m := range r.mappings {
		of := h.code[m.pid]
		if of == nil {
			of = new(code)
			h.code[m.pid] = of
		}
		m.lo &^= h.ignore
		m.hi &^= h.ignore
		if m.hi < math.MaxUint64 {
			m.hi++ // the last instruction may be a call that never returns
		}
		of.mappings = append(of.mappings, m)
		of.starts = append(of.starts, m.lo, m.hi)
	}
	for _, of := range h.code {
		slices.Sort(of.starts)
		of.starts = slices.Compact(of.starts)
		of.hit = make([]bool, len(of.starts))
	}
	return h
}

// space returns what a process may have at its addresses, or nil.
func (h *hits) space(pid uint32) *space {
	s, ok := h.spaces[pid]
	if ok {
		return s
	}
	for _, from := range h.result.rec.ProcessTree.Line(pid) {
		of := h.code[from]
		if of == nil {
			continue
		}
		lo, hi := of.starts[0], of.starts[len(of.starts)-1]
		if s == nil {
			s = &space{lo: lo, hi: hi}
		}
		s.of = append(s.of, of)
		s.lo, s.hi = min(s.lo, lo), max(s.hi, hi)
	}
	h.spaces[pid] = s
	return s
}

// bounds returns the addresses of interest of a process.
func (h *hits) bounds(pid uint32) (lo, hi uint64, ok bool) {
	s := h.space(pid)
	if s == nil {
		return 0, 0, false
	}
	if h.ignore > 1 {
		return 0, math.MaxUint64, true
	}
	return s.lo, s.hi, true
}

// reference records that a process refers to an address.
func (h *hits) reference(pid uint32, _, addr uint64) {
	addr &^= h.ignore
	seen := &h.seen[(addr^addr>>12^uint64(pid))%uint64(len(h.seen))]
	if seen.addr == addr && seen.pid == pid {
		return
	}
	*seen = seenAddress{addr, pid}
	s := h.space(pid)
	if s == nil {
		return
	}
	for _, of := range s.of {
		i, found := slices.BinarySearch(of.starts, addr)
		if !found {
			i--
		}
		if i >= 0 {
			of.hit[i] = true
		}
	}
}

// mark marks the objects with a hit in their mappings.
func (c *code) mark(objects []object) {
	var next []int // by index of starts: the first index from there on with a hit
	n := len(c.starts)
	next = make([]int, n+1)
	next[n] = n
	for i := n - 1; i >= 0; i-- {
		if next[i] = next[i+1]; c.hit[i] {
			next[i] = i
		}
	}
	for _, m := range c.mappings {
		i, _ := slices.BinarySearchFunc(c.starts, m.lo, cmp.Compare[uint64])
		if first := next[i]; first < n && c.starts[first] < m.hi {
			objects[m.object].hit = true
		}
	}
}
