package plan

import (
	"math/rand/v2"

	"github.com/jitinject/jitinject/internal/recording"
)

// An occupancy records the owner of each address of a process: the function that was placed there
// last. A function that moves must lose the name at its old address, but a function that came
// there since must keep it.
//
// It is a treap of tenancies by address. Placing takes O(log n) on average, and a copy takes
// nothing: copies share nodes until one of them changes.
type occupancy struct {
	root  *tenant
	owner *byte // of the nodes that are not shared
}

// A tenancy says that [lo, hi) belongs to a function. Those of an occupancy are disjoint.
type tenancy struct {
	lo, hi   uint64
	function int
}

// A tenant is a node of the treap: its priority is not below those of its children.
type tenant struct {
	tenancy
	priority    uint32 // random, so that the tree is balanced for any order of addresses
	owner       *byte
	left, right *tenant
}

// clone returns a copy. Both can change from then on without the other.
func (o *occupancy) clone() *occupancy {
	o.owner = nil
	return &occupancy{root: o.root}
}

// own returns a node that o may change.
func (o *occupancy) own(n *tenant) *tenant {
	if n.owner == o.owner {
		return n
	}
	c := *n
	c.owner = o.owner
	return &c
}

// split returns the tenancies that begin below an address, and the others.
func (o *occupancy) split(n *tenant, addr uint64) (below, above *tenant) {
	if n == nil {
		return nil, nil
	}
	n = o.own(n)
	if n.lo < addr {
		n.right, above = o.split(n.right, addr)
		return n, above
	}
	below, n.left = o.split(n.left, addr)
	return below, n
}

// join returns all of two trees, of which the first one is below the other.
func (o *occupancy) join(a, b *tenant) *tenant {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	case a.priority >= b.priority:
		a = o.own(a)
		a.right = o.join(a.right, b)
		return a
	}
	b = o.own(b)
	b.left = o.join(a, b.left)
	return b
}

func (o *occupancy) node(t tenancy) *tenant {
	return &tenant{tenancy: t, priority: rand.Uint32(), owner: o.owner}
}

// last returns the last tenancy of a tree, or an empty one.
func (n *tenant) last() (t tenancy) {
	for ; n != nil; n = n.right {
		t = n.tenancy
	}
	return t
}

// cut returns a tree without what reaches beyond an address. Only the last tenancy may.
func (o *occupancy) cut(n *tenant, addr uint64) *tenant {
	if n.last().hi <= addr {
		return n
	}
	n = o.own(n)
	at := n
	for ; at.right != nil; at = at.right {
		at.right = o.own(at.right)
	}
	at.hi = addr
	return n
}

// place makes a function the owner of [lo, hi).
func (o *occupancy) place(lo, hi uint64, function int) {
	if lo >= hi {
		return
	}
	if o.owner == nil {
		o.owner = new(byte)
	}
	below, rest := o.split(o.root, lo)
	covered, above := o.split(rest, hi)
	for _, part := range []*tenant{below, covered} {
		if t := part.last(); t.hi > hi {
			above = o.join(o.node(tenancy{hi, t.hi, t.function}), above)
		}
	}
	o.root = o.join(o.join(o.cut(below, lo), o.node(tenancy{lo, hi, function})), above)
}

// each calls f for the parts of [lo, hi) that have an owner, in order, until f returns false.
func (o *occupancy) each(lo, hi uint64, f func(t tenancy) bool) { o.root.each(lo, hi, f) }

func (n *tenant) each(lo, hi uint64, f func(t tenancy) bool) bool {
	if n == nil || lo >= hi {
		return true
	}
	if n.lo > lo && !n.left.each(lo, hi, f) {
		return false
	}
	if a, b := max(n.lo, lo), min(n.hi, hi); a < b && !f(tenancy{a, b, n.function}) {
		return false
	}
	return n.hi >= hi || n.right.each(lo, hi, f)
}

// last returns the last tenancy that begins up to an address.
func (o *occupancy) last(addr uint64) (t tenancy, ok bool) {
	for n := o.root; n != nil; {
		if n.lo <= addr {
			t, ok, n = n.tenancy, true, n.right
		} else {
			n = n.left
		}
	}
	return t, ok
}

// next returns the first tenancy that ends above an address.
func (o *occupancy) next(addr uint64) (t tenancy, ok bool) {
	for n := o.root; n != nil; {
		if n.hi > addr {
			t, ok, n = n.tenancy, true, n.left
		} else {
			n = n.right
		}
	}
	return t, ok
}

// owned returns the parts of [lo, hi) that a function owns, in order.
func (o *occupancy) owned(lo, hi uint64, function int) (parts []tenancy) {
	o.each(lo, hi, func(t tenancy) bool {
		if t.function == function {
			parts = appendTenancy(parts, t)
		}
		return true
	})
	return parts
}

// within returns the parts of [lo, hi) that have an owner, in order.
func (o *occupancy) within(lo, hi uint64) (parts []tenancy) {
	o.each(lo, hi, func(t tenancy) bool {
		parts = appendTenancy(parts, t)
		return true
	})
	return parts
}

// isEmpty reports whether no part of [lo, hi) has an owner.
func (o *occupancy) isEmpty(lo, hi uint64) (empty bool) {
	empty = true
	o.each(lo, hi, func(tenancy) bool { empty = false; return false })
	return empty
}

// appendTenancy appends a tenancy, or extends the last one if that is of the same function.
func appendTenancy(parts []tenancy, t tenancy) []tenancy {
	if n := len(parts); n > 0 && parts[n-1].hi == t.lo && parts[n-1].function == t.function {
		parts[n-1].hi = t.hi
		return parts
	}
	return append(parts, t)
}

// places are the occupancies of a dump's processes.
type places = inherited[*occupancy]

func newPlaces(g *recording.ProcessTree) *places {
	return &places{tree: g, make: func() *occupancy { return new(occupancy) }, clone: (*occupancy).clone}
}
