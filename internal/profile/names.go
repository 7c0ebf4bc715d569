package profile

import (
	"path"
	"strconv"
	"strings"

	"github.com/jitinject/jitinject/internal/tier"
)

// describe sets what the symbol says about a function.
func (f *Function) describe() {
	f.Name = f.Symbol
	switch f.Kind {
	case Unknown:
		if f.Object != "" && f.Object != unknownSymbol {
			f.Name = "[" + strings.Trim(f.Object[strings.LastIndexByte(f.Object, '/')+1:], "[]") + "]"
		}
	case JIT:
		n := tier.Read(f.Symbol)
		f.Name, f.Tier, f.File, f.Line = n.Text, n.Tier, n.File, n.Line
		if f.Name == tier.Anonymous { // and not "(anonymous namespace)::f" of C++
			f.nameAnonymous()
		}
	}
}

// setSource sets where a function is declared. It overrides what the symbol says: a source map may
// have led to the original.
func (f *Function) setSource(file string, line int) {
	if file == "" {
		return
	}
	if f.File != file || line > 0 {
		f.File, f.Line = file, line
	}
	f.nameAnonymous()
}

// nameAnonymous names a function without a name by its place: "(anonymous app.js:3)". All others of the
// program would have the same name.
func (f *Function) nameAnonymous() {
	if f.Name == "" || strings.HasPrefix(f.Name, "(anonymous ") {
		f.Name = tier.Anonymous
	}
	if f.Name == tier.Anonymous && f.File != "" && f.Line > 0 {
		f.Name = "(anonymous " + path.Base(f.File) + ":" + strconv.Itoa(f.Line) + ")"
	}
}

// Label returns what viewers show for a function: its name, or its object's in brackets if it has
// none. It is never "".
func (f *Function) Label() string {
	if strings.TrimSpace(f.Name) != "" && f.Name != unknownSymbol {
		return f.Name
	}
	if object := f.KnownObject(); object != "" {
		return "[" + strings.Trim(path.Base(object), "[]") + "]"
	}
	return unknownSymbol
}

// KnownObject returns the path of a function's object, or "" if it is unknown: perf prints [unknown].
func (f *Function) KnownObject() string {
	if f.Object == unknownSymbol {
		return ""
	}
	return f.Object
}

// Merged are the functions that a reader takes for one: those of the same name, source, kind and object.
// Objects of JIT code do not count, because each version of a function has its own.
type Merged struct {
	Of    []int // for each function of the profile, its index in First
	First []int // for each merged function, the index of one in the profile
}

// Merge merges the functions. With tiers, the code that two compilers made of a function stays two.
func (p *Profile) Merge(tiers bool) (m Merged) {
	type identity struct {
		label, object, file string
		kind                Kind
		tier                tier.Tier
		line                int
	}
	m.Of = make([]int, len(p.Functions))
	known := make(map[identity]int)
	for i := range p.Functions {
		f := &p.Functions[i]
		id := identity{label: f.Label(), file: f.File, kind: f.Kind, line: f.Line}
		if f.Kind != JIT {
			id.object = f.KnownObject()
		}
		if tiers {
			id.tier = f.Tier
		}
		at, ok := known[id]
		if !ok {
			at = len(m.First)
			known[id] = at
			m.First = append(m.First, i)
		}
		m.Of[i] = at
	}
	return m
}
