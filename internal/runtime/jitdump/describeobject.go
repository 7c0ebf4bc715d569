package jitdump

import (
	"github.com/jitinject/jitinject/internal/jitcode"
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
func (d *Dump) DescribeByObjects(by ObjectDescription) { d.descriptions.objects = by }

// describedByObject adds the description of the i-th function, and reports whether it has lines. The
// dump's lines count if it has none.
func (r *Reader) describedByObject(i int) bool {
	if !r.descriptions.inObject(i) {
		return false
	}
	if r.objects == nil {
		r.objects = r.descriptions.objects.Objects()
	}
	var described jitcode.Function
	fn := &r.fn
	described.Name, described.Addr, described.Size = fn.Name, fn.Addr, fn.Size
	if err := r.objects.Describe(i, &described); err != nil {
		r.problem(-1, "%v", err)
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
