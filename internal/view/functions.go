package view

import (
	"path/filepath"
	"strings"

	"github.com/jitinject/jitinject/internal/profile"
	"github.com/jitinject/jitinject/internal/tier"
)

// mergedFunctions are the functions of a profile as people know them. A runtime compiles a function
// again and again, into a new object each time; these are one function for each tier.
type mergedFunctions struct {
	of    []int // for each function of the profile, its index here
	first []int // of each function here, one of the profile; -1 for samples without a stack, -2 for frames that are left out
}

// identity is what functions have in common that are one for the reader.
type identity struct {
	name, object, file string
	kind               profile.Kind
	tier               tier.Tier
	line               int
}

func mergeFunctions(p *profile.Profile) *mergedFunctions {
	m := &mergedFunctions{of: make([]int, len(p.Functions))}
	index := make(map[identity]int)
	for i, f := range p.Functions {
		id := identity{nameOf(f), f.Object, f.File, f.Kind, f.Tier, f.Line}
		if f.Kind == profile.JIT {
			id.object = ""
		}
		at, ok := index[id]
		if !ok {
			at = len(m.first)
			index[id] = at
			m.first = append(m.first, i)
		}
		m.of[i] = at
	}
	m.first = append(m.first, -1)
	return m
}

// nameOf returns the name of f for people, never "".
func nameOf(f profile.Function) string {
	switch {
	case strings.TrimSpace(f.Name) != "" && (f.Kind != profile.Unknown || f.Name != "[unknown]"):
		return f.Name
	case strings.TrimSpace(f.Symbol) != "" && f.Symbol != "[unknown]":
		return f.Symbol
	case f.Object != "" && f.Object != "[unknown]":
		return "[unknown] in " + filepath.Base(f.Object)
	}
	return "[unknown]"
}

func (m *mergedFunctions) columns(p *profile.Profile, texts *textTable) functions {
	c := functions{Name: []int{}, Object: []int{}, File: []int{}, Line: []int{}, Kind: []category{}}
	for _, i := range m.first {
		f := profile.Function{Name: "[no stack]"}
		if i >= 0 {
			f = p.Functions[i]
		} else if i == -2 {
			f.Name = leftOutName
		}
		c.Name = append(c.Name, texts.add(nameOf(f)))
		c.Object = append(c.Object, texts.add(f.Object))
		c.File = append(c.File, texts.add(f.File))
		c.Line = append(c.Line, f.Line)
		c.Kind = append(c.Kind, categoryOf(f))
	}
	return c
}
