package jitdump

import (
	"slices"

	"github.com/jitinject/jitinject/internal/source"
	"github.com/jitinject/jitinject/jitdump"
)

// Descriptions of functions in another file than the dump, such as V8's log. They take precedence
// over the dump's records of lines and inlined calls.

// A TreeSource describes functions. Each goroutine needs its own.
type TreeSource interface {
	// Tree returns the lines and inlined calls of a function of size bytes, valid until the next
	// call. info is nil if it is not described. problem is damage that cost a part of the
	// description. err is the reason for having none.
	Tree(function int, size uint64) (info *jitdump.DebugInfo2, problem, err error)

	// Texts returns the number of the text of each file of that tree in the Description, or -1. It
	// is valid until the next call.
	Texts() []int
}

// A Description describes functions, and has their source texts. The zero value describes none.
type Description struct {
	Has   func(function int) bool
	Trees func() TreeSource
	Texts []source.Source // several may have one name; several goroutines may call their Text at once
	Embed bool            // functions have the texts of their files

	Originals OriginalSource // nil if texts are not mapped

	numbers []int // of Texts in the dump's sources
}

// has reports whether a function is described.
func (d *Description) has(function int) bool { return d.Has != nil && d.Has(function) }

// Describe sets the description of functions. It must follow the last Scan, must not run while
// functions are read, and be called once. Texts become sources of the dump.
func (d *Dump) Describe(by Description) {
	d.description = by
	d.description.numbers = d.sources.AddTexts(by.Texts)
}

// describedTree adds the description of the i-th function, and reports whether it has lines.
func (r *Reader) describedTree(i int) bool {
	if !r.description.has(i) {
		return false
	}
	if r.trees == nil {
		r.trees = r.description.Trees()
	}
	info, problem, err := r.trees.Tree(i, r.fn.Size)
	for _, err := range []error{problem, err} {
		if err != nil {
			r.problem(-1, "%v", err)
		}
	}
	return info != nil && r.useFiles(info, r.describedFiles(info, r.trees.Texts()), nil, -1)
}

// describedFiles is recordFiles for files with texts. Files of one name with different texts are
// different files.
func (r *Reader) describedFiles(info *jitdump.DebugInfo2, texts []int) []int {
	r.files = r.files[:0]
	for i, name := range info.Files {
		number := -1
		if texts[i] >= 0 {
			number = r.description.numbers[texts[i]]
		}
		at := -1
		switch {
		case len(name) == 0:
		case number < 0 || isGarbled(name, false):
			at = r.file(name, false)
		default:
			if at = slices.Index(r.texts, number); at < 0 {
				at = len(r.fn.Files)
				r.fn.Files = append(r.fn.Files, r.names.of(name).path.path)
			}
		}
		if len(r.texts) < len(r.fn.Files) {
			r.texts = append(r.texts, number)
		}
		r.files = append(r.files, at)
	}
	return r.files
}
