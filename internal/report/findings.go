package report

import (
	"fmt"
	"slices"
)

// Findings are what a stage reports to the user. Each is there once.
type Findings struct {
	Problems []Problem // what is, or may be, missing in the output
	Notes    []string  // other information; nothing is missing because of it

	problems index[Problem]
	notes    index[string]
}

// Problem adds a problem, unless it is there. It is called at a hundred places, so inlining it costs 20 kB.
//
//go:noinline
func (f *Findings) Problem(p Problem) { f.Problems = f.problems.once(f.Problems, p) }

// Note adds a note, unless it is there.
func (f *Findings) Note(text string) { f.Notes = f.notes.once(f.Notes, text) }

// Add adds the findings of another stage.
func (f *Findings) Add(other Findings) {
	f.Problems, f.Notes = f.problems.once(f.Problems, other.Problems...), f.notes.once(f.Notes, other.Notes...)
}

// An index finds the elements of a long list without a walk over it.
type index[T comparable] struct{ of map[T]struct{} }

// fewFindings is the length up to which a list needs no index.
const fewFindings = 32

// once appends those of more to list that are not in it.
func (x *index[T]) once(list []T, more ...T) []T {
	for _, one := range more {
		if len(list) <= fewFindings {
			if !slices.Contains(list, one) {
				list = append(list, one)
			}
			continue
		}
		if len(x.of) != len(list) { // a copy of the list got longer without the index
			x.of = make(map[T]struct{}, 2*len(list))
			for _, known := range list {
				x.of[known] = struct{}{}
			}
		}
		if _, known := x.of[one]; !known {
			x.of[one] = struct{}{}
			list = append(list, one)
		}
	}
	return list
}

// Counted returns a number of things, with their noun.
func Counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
