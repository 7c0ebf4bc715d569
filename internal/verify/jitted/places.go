package jitted

import "math/rand/v2"

// Places are the functions that are there. Those of one process never overlap: what is
// put over others takes their place. They are a treap, by process and address, so
// whatever a dump holds, finding what lies under a function costs what it finds and the
// logarithm of how many there are.
type Places struct {
	root *placed
}

// A placed is a function that is there.
type placed struct {
	function    int32
	pid         uint32
	addr        uint64
	weight      uint32
	left, right *placed
}

// before reports whether p is in front of an address of a process.
func (p *placed) before(pid uint32, addr uint64) bool {
	return p.pid < pid || p.pid == pid && p.addr < addr
}

// splitPlaces returns what is in front of an address, and the rest.
func splitPlaces(p *placed, pid uint32, addr uint64) (front, rest *placed) {
	if p == nil {
		return nil, nil
	}
	if p.before(pid, addr) {
		p.right, rest = splitPlaces(p.right, pid, addr)
		return p, rest
	}
	front, p.left = splitPlaces(p.left, pid, addr)
	return front, p
}

// joinPlaces puts two together, the first of which is in front of the second.
func joinPlaces(a, b *placed) *placed {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	case a.weight > b.weight:
		a.right = joinPlaces(a.right, b)
		return a
	}
	b.left = joinPlaces(a, b.left)
	return b
}

// Put puts function i where it says it is, and calls yield for those that lay there, in
// the order of their addresses. They are gone from the places then.
func (p *Places) Put(functions []Function, i int32, yield func(int32)) {
	f := &functions[i]
	if f.Size == 0 {
		return
	}
	front, rest := splitPlaces(p.root, f.PID, f.Addr)
	under, rest := splitPlaces(rest, f.PID, f.Addr+f.Size)
	if last := front; last != nil { // it may reach into f
		for last.right != nil {
			last = last.right
		}
		if o := &functions[last.function]; o.PID == f.PID && o.Addr+o.Size > f.Addr {
			front, _ = splitPlaces(front, last.pid, last.addr)
			yield(last.function)
		}
	}
	under.each(yield)
	p.root = joinPlaces(joinPlaces(front, &placed{function: i, pid: f.PID, addr: f.Addr, weight: rand.Uint32()}), rest)
}

// each calls yield for all functions, in the order of their addresses.
func (p *placed) each(yield func(int32)) {
	if p == nil {
		return
	}
	p.left.each(yield)
	yield(p.function)
	p.right.each(yield)
}

// Remove takes a function out that is there.
func (p *Places) Remove(f *Function) {
	if f.Size == 0 {
		return
	}
	front, rest := splitPlaces(p.root, f.PID, f.Addr)
	_, rest = splitPlaces(rest, f.PID, f.Addr+1)
	p.root = joinPlaces(front, rest)
}
