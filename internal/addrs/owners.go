package addrs

import "math/rand/v2"

// Owners record the owner of each address: the one that was placed there last. A function that
// moves must lose the name at its old address, but a function that came there since must keep it.
//
// They are a treap of tenancies by address. Placing takes O(log n) on average, and a copy takes
// nothing: copies share nodes until one of them changes.
type Owners struct {
	root  *tenant
	owner *byte // of the nodes that are not shared
}

// A Tenancy says that [Lo, Hi) belongs to an owner. Those of Owners are disjoint.
type Tenancy struct {
	Lo, Hi uint64
	Owner  int
}

// A tenant is a node of the treap: its priority is not below those of its children.
type tenant struct {
	Tenancy
	priority    uint32 // random, so that the tree is balanced for any order of addresses
	owner       *byte
	left, right *tenant
}

// Clone returns a copy. Both can change from then on without the other.
func (o *Owners) Clone() *Owners {
	o.owner = nil
	return &Owners{root: o.root}
}

// own returns a node that o may change.
func (o *Owners) own(n *tenant) *tenant {
	if n.owner == o.owner {
		return n
	}
	c := *n
	c.owner = o.owner
	return &c
}

// split returns the tenancies that begin below an address, and the others.
func (o *Owners) split(n *tenant, addr uint64) (below, above *tenant) {
	if n == nil {
		return nil, nil
	}
	n = o.own(n)
	if n.Lo < addr {
		n.right, above = o.split(n.right, addr)
		return n, above
	}
	below, n.left = o.split(n.left, addr)
	return below, n
}

// join returns all of two trees; the first one is below the other.
func (o *Owners) join(a, b *tenant) *tenant {
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

func (o *Owners) node(t Tenancy) *tenant {
	return &tenant{Tenancy: t, priority: rand.Uint32(), owner: o.owner}
}

// last returns the last Tenancy of a tree, or an empty one.
func (n *tenant) last() (t Tenancy) {
	for ; n != nil; n = n.right {
		t = n.Tenancy
	}
	return t
}

// cut returns a tree without what reaches beyond an address. Only the last Tenancy may.
func (o *Owners) cut(n *tenant, addr uint64) *tenant {
	if n.last().Hi <= addr {
		return n
	}
	n = o.own(n)
	at := n
	for ; at.right != nil; at = at.right {
		at.right = o.own(at.right)
	}
	at.Hi = addr
	return n
}

// Place makes owner the owner of [lo, hi).
func (o *Owners) Place(lo, hi uint64, owner int) {
	if lo >= hi {
		return
	}
	if o.owner == nil {
		o.owner = new(byte)
	}
	below, rest := o.split(o.root, lo)
	covered, above := o.split(rest, hi)
	for _, part := range []*tenant{below, covered} {
		if t := part.last(); t.Hi > hi {
			above = o.join(o.node(Tenancy{hi, t.Hi, t.Owner}), above)
		}
	}
	o.root = o.join(o.join(o.cut(below, lo), o.node(Tenancy{lo, hi, owner})), above)
}

// Each calls f for the parts of [lo, hi) that have an owner, in order, until f returns false.
func (o *Owners) Each(lo, hi uint64, f func(t Tenancy) bool) { o.root.each(lo, hi, f) }

func (n *tenant) each(lo, hi uint64, f func(t Tenancy) bool) bool {
	if n == nil || lo >= hi {
		return true
	}
	if n.Lo > lo && !n.left.each(lo, hi, f) {
		return false
	}
	if a, b := max(n.Lo, lo), min(n.Hi, hi); a < b && !f(Tenancy{a, b, n.Owner}) {
		return false
	}
	return n.Hi >= hi || n.right.each(lo, hi, f)
}

// Last returns the last Tenancy that begins up to an address.
func (o *Owners) Last(addr uint64) (t Tenancy, ok bool) {
	for n := o.root; n != nil; {
		if n.Lo <= addr {
			t, ok, n = n.Tenancy, true, n.right
		} else {
			n = n.left
		}
	}
	return t, ok
}

// Next returns the first Tenancy that ends above an address.
func (o *Owners) Next(addr uint64) (t Tenancy, ok bool) {
	for n := o.root; n != nil; {
		if n.Hi > addr {
			t, ok, n = n.Tenancy, true, n.left
		} else {
			n = n.right
		}
	}
	return t, ok
}

// Owned returns the parts of [lo, hi) that an owner has, in order.
func (o *Owners) Owned(lo, hi uint64, owner int) (parts []Tenancy) {
	o.Each(lo, hi, func(t Tenancy) bool {
		if t.Owner == owner {
			parts = appendTenancy(parts, t)
		}
		return true
	})
	return parts
}

// Within returns the parts of [lo, hi) that have an owner, in order.
func (o *Owners) Within(lo, hi uint64) (parts []Tenancy) {
	o.Each(lo, hi, func(t Tenancy) bool {
		parts = appendTenancy(parts, t)
		return true
	})
	return parts
}

// appendTenancy appends a tenancy, or extends the last one if that is of the same owner.
func appendTenancy(parts []Tenancy, t Tenancy) []Tenancy {
	if n := len(parts); n > 0 && parts[n-1].Hi == t.Lo && parts[n-1].Owner == t.Owner {
		parts[n-1].Hi = t.Hi
		return parts
	}
	return append(parts, t)
}
