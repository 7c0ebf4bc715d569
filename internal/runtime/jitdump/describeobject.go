package jitdump

import (
	"github.com/jitinject/jitinject/internal/jitcode"
	"github.com/jitinject/jitinject/internal/source"
)

// Descriptions of functions in ELF objects that the process registered for debuggers. Unlike records
// of the dump, they have unwind tables of the compiler.

// An ObjectSource describes functions. Each goroutine needs its own.
type ObjectSource interface {
	// Describe sets the lines, inlined calls and unwind tables of fn, valid until the next call. It
	// also sets the code, of the same size, if the dump has it without relocations. problem is damage
	// that cost a part of them.
	Describe(function int, fn *jitcode.Function) (problem error)
}

// An ObjectDescription describes functions. Its fields are nil without.
type ObjectDescription struct {
	Has     func(function int) bool
	Objects func() ObjectSource
}

// DescribeByObjects sets the objects that describe functions. It must follow the last Scan, and must
// not run while functions are read. A log that describes a function takes precedence.
func (d *Dump) DescribeByObjects(by ObjectDescription) { d.objects = by }

// describedByObject adds the description of function i to fn, and reports whether it has lines. The
// dump's lines count if it has none.
func (r *Reader) describedByObject(fn *jitcode.Function, i int) bool {
	if r.d == nil || r.d.objects.Has == nil || !r.d.objects.Has(i) {
		return false
	}
	if r.objects == nil {
		r.objects = r.d.objects.Objects()
	}
	var described jitcode.Function
	described.Name, described.Addr, described.Size = fn.Name, fn.Addr, fn.Size
	if err := r.objects.Describe(i, &described); err != nil {
		r.Problems = append(r.Problems, source.Problem{Offset: -1, Text: err.Error()})
	}
	fn.Unwind = described.Unwind
	if described.HasCode() {
		fn.Code = described.Code
	}
	if len(described.Lines) == 0 {
		return false
	}
	fn.Files, fn.Sources = append(fn.Files, described.Files...), append(fn.Sources, described.Sources...)
	fn.Lines = append(fn.Lines, described.Lines...)
	fn.Origins, fn.Inlines = append(fn.Origins, described.Origins...), append(fn.Inlines, described.Inlines...)
	fn.Ranges = append(fn.Ranges, described.Ranges...)
	return true
}

// A CodeReader reads the names and code of functions, and nothing else of them.
type CodeReader struct {
	d *Dump
	w window
}

// NewCodeReader returns a new reader of the functions' code.
func (d *Dump) NewCodeReader() *CodeReader { return &CodeReader{d: d} }

// Code returns the name and the code of a function, valid until the next call. It fails if the record
// cannot be read again.
func (r *CodeReader) Code(function int) (name, code []byte, err error) {
	l, err := r.w.load(r.d, r.d.parts[function].load.span())
	return l.Name, l.Code, err
}
