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

// A Description describes functions, and has their source texts.
type Description struct {
	Has   func(function int) bool
	Trees func() TreeSource
	Texts []DescribedText
	Embed bool // functions have the texts of their files

	Originals OriginalSource // nil if texts are not mapped
}

// A DescribedText is the text of a source file.
type DescribedText struct {
	Name string      // of the file, as in lines; several texts may have one
	Path string      // for a file with the text, if Name is no path; may be ""
	Size int         // in bytes, or a lower bound of that
	Text source.Text // several goroutines may call it at once
}

// descriptions has what logs say of functions. The zero value has none.
type descriptions struct {
	described func(function int) bool // in a log; nil without
	trees     func() TreeSource       // with described
	texts     []int                   // numbers of the Description's texts in sources
	embed     bool                    // functions have these texts
	originals OriginalSource          // nil without
}

// inLog reports whether a log describes a function.
func (d *descriptions) inLog(function int) bool { return d.described != nil && d.described(function) }

// Describe sets the descriptions of functions. It must follow the last Scan, must not run while
// functions are read, and be called once. Texts become sources of the dump.
func (d *Dump) Describe(by Description) {
	all := &d.descriptions
	all.described, all.trees, all.embed, all.originals = by.Has, by.Trees, by.Embed, by.Originals
	count := make(map[string]int)
	for i := range by.Texts {
		count[fileName([]byte(by.Texts[i].Name))]++
	}
	for i := range by.Texts {
		t := &by.Texts[i]
		name := fileName([]byte(t.Name))
		n := d.sources.AddText(source.Source{Name: name, Path: t.Path, Size: t.Size, Text: t.Text}, count[name] == 1)
		all.texts = append(all.texts, n)
	}
}

// describedTree adds the description of the i-th function, and reports whether it has lines.
func (r *Reader) describedTree(i int) bool {
	if !r.descriptions.inLog(i) {
		return false
	}
	if r.trees == nil {
		r.trees = r.descriptions.trees()
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
			number = r.descriptions.texts[texts[i]]
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
