package report

import "slices"

// Findings are what a stage has to tell the user. Each is there once.
type Findings struct {
	Problems []Problem // what is missing in the output, or may be
	Notes    []string  // what is worth knowing, and costs nothing
}

// Problem adds a problem.
func (f *Findings) Problem(p Problem) {
	if !slices.Contains(f.Problems, p) {
		f.Problems = append(f.Problems, p)
	}
}

// Note adds a note.
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
