package report

import "slices"

// Findings are what a stage reports to the user. Each is there once.
type Findings struct {
	Problems []Problem // what is, or may be, missing in the output
	Notes    []string  // other information; nothing is missing because of it
}

// Problem adds a problem, unless it is there.
func (f *Findings) Problem(p Problem) {
	if !slices.Contains(f.Problems, p) {
		f.Problems = append(f.Problems, p)
	}
}

// Note adds a note, unless it is there.
func (f *Findings) Note(text string) {
	if !slices.Contains(f.Notes, text) {
		f.Notes = append(f.Notes, text)
	}
}

// Add adds the findings of another stage.
func (f *Findings) Add(other Findings) {
	for _, p := range other.Problems {
		f.Problem(p)
	}
	for _, text := range other.Notes {
		f.Note(text)
	}
}
