package report

import "slices"

// Findings are what a stage reports to the user. Each is there once.
type Findings struct {
	Problems []Problem // what is, or may be, missing in the output
	Notes    []string  // other information; nothing is missing because of it
}

// Problem adds a problem, unless it is there.
func (f *Findings) Problem(p Problem) { f.Problems = once(f.Problems, p) }

// Note adds a note, unless it is there.
func (f *Findings) Note(text string) { f.Notes = once(f.Notes, text) }

// Add adds the findings of another stage.
func (f *Findings) Add(other Findings) {
	f.Problems, f.Notes = once(f.Problems, other.Problems...), once(f.Notes, other.Notes...)
}

// once appends those of more to list that are not in it.
func once[T comparable](list []T, more ...T) []T {
	for _, x := range more {
		if !slices.Contains(list, x) {
			list = append(list, x)
		}
	}
	return list
}
