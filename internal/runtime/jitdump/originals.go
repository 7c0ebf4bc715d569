package jitdump

import "github.com/jitinject/jitinject/internal/jitcode"

// An OriginalSource finds the original places of places in generated code, as in the output of a
// transpiler. Several goroutines may call it at once.
type OriginalSource interface {
	// Original returns the original of a place in a text of the Description. Line and column count
	// from 1. ok is false if it has none.
	Original(text int, line, column uint32) (o Original, ok bool)

	// OriginalName returns the original name of the function that begins at a place of a text, or
	// "" if the name is unknown or the same.
	OriginalName(text int, line, column uint32) string
}

// An Original is a place in an original file.
type Original struct {
	File         string // name
	Text         int    // its number in the Description, or -1
	Line, Column uint32 // from 1
}

// textOf returns the number of the text of fn's i-th file in the Description, or -1.
func (r *Reader) textOf(fn *jitcode.Function, i int) int {
	n, ok := r.sourceOf(fn, i)
	if !ok || r.listing.sources.All[n].Text == nil || len(r.description.numbers) == 0 {
		return -1
	}
	text := n - r.description.numbers[0]
	if text < 0 || text >= len(r.description.numbers) {
		return -1
	}
	return text
}

// useOriginals replaces places by their originals: in rows, inlined calls and declarations. Places
// without an original stay.
func (r *Reader) useOriginals(fn *jitcode.Function) {
	if r.description.Originals == nil {
		return
	}
	r.texts = r.texts[:min(len(r.texts), len(fn.Files))]
	texts := make([]int, len(fn.Files))
	for i := range texts {
		texts[i] = r.textOf(fn, i)
	}
	original := func(file int, line, column uint32) (int, uint32, uint32) {
		if file < 0 || file >= len(texts) || texts[file] < 0 || line == 0 || column == 0 {
			return file, line, column
		}
		o, ok := r.description.Originals.Original(texts[file], line, column)
		if !ok || o.Line > maxLine {
			return file, line, column
		}
		if at := r.originalFile(fn, &o); at >= 0 {
			return at, o.Line, o.Column
		}
		return file, line, column
	}
	for i := range r.rows {
		w := &r.rows[i]
		w.file, w.line, w.column = original(w.file, w.line, w.column)
	}
	for i := range fn.Inlines {
		c, caller := &fn.Inlines[i], 0
		if c.Parent >= 0 {
			caller = fn.Inlines[c.Parent].Origin
		}
		if file := fn.Origins[caller].File; file >= 0 {
			c.Elsewhere = true
			c.File, c.Line, c.Column = original(file, c.Line, c.Column)
		}
	}
	for i := range fn.Origins {
		o := &fn.Origins[i]
		if o.File >= 0 && texts[o.File] >= 0 {
			if name := r.description.Originals.OriginalName(texts[o.File], o.Line, o.Column); name != "" && len(name) <= jitcode.MaxOriginName {
				o.Name = []byte(name)
			}
		}
		o.File, o.Line, o.Column = original(o.File, o.Line, o.Column)
	}
}

// originalFile returns the index in fn.Files of the file of o, or -1 if its name cannot be one.
func (r *Reader) originalFile(fn *jitcode.Function, o *Original) int {
	number := -1
	if o.Text >= 0 {
		number = r.description.numbers[o.Text]
	}
	for i, name := range fn.Files {
		known := -1
		if i < len(r.texts) {
			known = r.texts[i]
		}
		if known == number && name == o.File {
			return i
		}
	}
	if o.File == "" || isGarbled([]byte(o.File), true) {
		return -1
	}
	for len(r.texts) < len(fn.Files) {
		r.texts = append(r.texts, -1)
	}
	fn.Files, r.texts = append(fn.Files, o.File), append(r.texts, number)
	return len(fn.Files) - 1
}
