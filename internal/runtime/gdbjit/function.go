package gdbjit

import (
	"errors"
	"fmt"
	"slices"

	"github.com/jitinject/jitinject/internal/format/jitelf"
	"github.com/jitinject/jitinject/internal/jitcode"
	"github.com/jitinject/jitinject/internal/source"
	"github.com/jitinject/jitinject/internal/source/memcode"
)

// A functionReader reads the functions of a dump.
type functionReader struct {
	d        *Objects
	object   int            // index of the object of reader; -1 before the first
	reader   *jitelf.Reader // of that object
	fn       jitcode.Function
	code     []byte
	frames   memcode.Frames
	problems []source.Problem
}

// Functions returns a new reader of the functions.
func (d *Objects) Functions() source.FunctionReader {
	return &functionReader{d: d, object: -1}
}

// describe sets the lines, inlined calls and unwind tables of fn to those of the i-th function. It
// returns the damage that cost a part of them, with the same text for all functions of an object.
func (r *functionReader) describe(i int, fn *jitcode.Function) error {
	f := &r.d.functions[i]
	if r.object != f.object {
		opened, err := r.d.opened.get(&r.d.objects[f.object])
		if err != nil {
			return fmt.Errorf("%s: %w", r.d.place(f), err)
		}
		r.object, r.reader = f.object, opened.NewReader()
	}
	err := r.reader.Describe(f.symbol, fn)
	dropPlaceholders(fn)
	if errors.Is(err, jitelf.ErrOverlap) {
		err = jitelf.ErrOverlap
	}
	if err != nil {
		err = fmt.Errorf("%s: %w", r.d.place(f), err)
	}
	return err
}

// placeholder is the file that PHP names for all of its code: zend_jit_gdb.h registers each function
// with the line unknown:1, since gdb wants a line.
const placeholder = "unknown"

// dropPlaceholders drops the lines of fn that name no source file.
func dropPlaceholders(fn *jitcode.Function) {
	unnamed := slices.Index(fn.Files, placeholder)
	if unnamed < 0 {
		return
	}
	has := false
	for i := range fn.Lines {
		if l := &fn.Lines[i]; l.Line != 0 && l.File == unnamed {
			*l = jitcode.Line{Offset: l.Offset}
		}
		has = has || fn.Lines[i].Line != 0
	}
	if !has {
		fn.Lines = nil
	}
}

// Function returns the i-th function, valid until the next call.
func (r *functionReader) Function(i int) (*jitcode.Function, error) {
	fn, at := &r.fn, r.d.functions[i].at
	fn.Name, fn.Addr, fn.Size, fn.Thumb = at.Name, at.Addr, at.Size, at.Thumb
	if err := r.describe(i, fn); err != nil {
		r.problems = append(r.problems, source.Problem{Offset: -1, Text: err.Error()})
	}
	fn.Code = r.bytes(i)
	if r.d.derive {
		r.frames.Derive(r.d.target, fn)
	}
	return fn, nil
}

// bytes returns the code of the i-th function, or nil if the memory lacks it.
func (r *functionReader) bytes(i int) []byte {
	f := &r.d.functions[i]
	if !r.d.HasCode(i) {
		return nil
	}
	r.code = slices.Grow(r.code[:0], int(f.at.Size))[:f.at.Size]
	if r.d.objects[f.object].ReadCode(r.d.process, f.at.Addr, r.code) != nil {
		return nil
	}
	return r.code
}

// Targets calls f for every direct branch that leaves the i-th function.
func (r *functionReader) Targets(i int, f func(offset int64)) error {
	return memcode.Targets(r.d.target, r.bytes(i), f)
}

// TakeProblems returns the problems with functions since the last call.
func (r *functionReader) TakeProblems() []source.Problem {
	taken := r.problems
	r.problems = nil
	return taken
}
