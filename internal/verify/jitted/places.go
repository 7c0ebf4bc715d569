package jitted

import "github.com/jitinject/jitinject/internal/addrs"

// Places are the functions that are there. Those of one process never overlap: what is
// put over others takes their place.
type Places struct {
	of map[uint32]*addrs.Owners // by process; the owner is the function, or gone
}

// gone owns the addresses of functions that are there no more.
const gone = -1

// Put puts function i where it says it is, and calls yield for those that lay there, in
// the order of their addresses. They are gone from the places then.
func (p *Places) Put(functions []Function, i int32, yield func(int32)) {
	f := &functions[i]
	if f.Size == 0 {
		return
	}
	if p.of == nil {
		p.of = make(map[uint32]*addrs.Owners)
	}
	here := p.of[f.PID]
	if here == nil {
		here = new(addrs.Owners)
		p.of[f.PID] = here
	}
	for _, t := range here.Within(f.Addr, f.Addr+f.Size) {
		if t.Owner != gone {
			p.Remove(&functions[t.Owner])
			yield(int32(t.Owner))
		}
	}
	here.Place(f.Addr, f.Addr+f.Size, int(i))
}

// Remove takes a function out that is there.
func (p *Places) Remove(f *Function) {
	if f.Size > 0 {
		p.of[f.PID].Place(f.Addr, f.Addr+f.Size, gone)
	}
}
