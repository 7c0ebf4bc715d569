package jitelf

import "github.com/jitinject/jitinject/internal/jitcode"

// A Reader describes the functions of an object. Each goroutine needs its own.
type Reader struct {
	o *Object
}

// NewReader returns a reader of the object's functions.
func (o *Object) NewReader() *Reader { return &Reader{o: o} }

// Describe sets the lines, inlined calls and unwind tables of fn to those of function i, an index
// in [Object.Functions]. fn has no others; its name, address, size and code are the caller's. The
// slices are valid until the next call. A problem is damage that cost a part of the description.
func (r *Reader) Describe(i int, fn *jitcode.Function) (problem error) {
	r.o.once.Do(r.o.load)
	fn.Files, fn.Sources, fn.Lines = nil, nil, nil
	fn.Origins, fn.Inlines, fn.Ranges = nil, nil, nil
	fn.Unwind = jitcode.Unwind{}
	return nil
}
