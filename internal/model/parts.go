package model

import (
	"slices"

	"github.com/jitinject/jitinject/internal/jitcode"
	"github.com/jitinject/jitinject/internal/source"
)

// A Part is a function of another source that describes the same code as a function of a dump. It has what
// the dump lacks.
type Part struct {
	Source   source.Dump
	Function int  // number of the function in Source
	Code     bool // its code counts: the dump has the code as it was before relocation
	Name     bool // its name counts: the dump's is made up
}

// Functions returns a new reader of the dump's functions, with the parts from other sources.
func (d *Dump) Functions() source.FunctionReader { return d.filled(source.Dump.Functions) }

// Inspector returns a new reader for what is decided about functions, or shown of them, as opposed to one that
// makes their objects.
func (d *Dump) Inspector() source.FunctionReader {
	return d.filled(func(s source.Dump) source.FunctionReader {
		if lined, ok := s.(source.Lined); ok {
			return lined.Inspect()
		}
		return s.Functions()
	})
}

// filled returns a reader of functions. open opens one of a source.
func (d *Dump) filled(open func(source.Dump) source.FunctionReader) source.FunctionReader {
	own := open(d.Source)
	if len(d.Parts) == 0 {
		return own
	}
	return &filler{FunctionReader: own, open: open, parts: d.Parts}
}

// MayHaveLines reports whether a function may have lines or inlined calls.
func (d *Dump) MayHaveLines(function int) bool {
	lined, ok := d.Source.(source.Lined)
	return !ok || lined.MayHaveLines(function) || len(d.Parts[function]) > 0
}

// HasCode reports whether the bytes of a function are known.
func (d *Dump) HasCode(function int) bool {
	has := d.Source.HasCode(function)
	for _, p := range d.Parts[function] {
		has = has || p.Source.HasCode(p.Function)
	}
	return has
}

// DeriveFrames makes the dump, and the sources of its parts, derive unwind tables from code.
func (d *Dump) DeriveFrames(s source.Surroundings) {
	d.Source.DeriveFrames(s)
	for _, other := range d.Others {
		other.DeriveFrames(s)
	}
}

// AddPart adds a part of a function.
func (d *Dump) AddPart(function int, p Part) {
	if d.Parts == nil {
		d.Parts = make(map[int][]Part)
	}
	d.Parts[function] = append(d.Parts[function], p)
	if !slices.Contains(d.Others, p.Source) {
		d.Others = append(d.Others, p.Source)
	}
}

// A filler reads the functions of a dump, and fills their gaps from other sources.
type filler struct {
	source.FunctionReader // of the dump alone
	open                  func(source.Dump) source.FunctionReader
	parts                 map[int][]Part
	others                []otherReader
	fn                    jitcode.Function
	problems              []source.Problem
}

// An otherReader reads the functions of another source.
type otherReader struct {
	of source.Dump
	source.FunctionReader
}

// reader returns the reader of another source.
func (f *filler) reader(p Part) source.FunctionReader {
	i := slices.IndexFunc(f.others, func(o otherReader) bool { return o.of == p.Source })
	if i < 0 {
		i = len(f.others)
		f.others = append(f.others, otherReader{p.Source, f.open(p.Source)})
	}
	return f.others[i]
}

// Function returns the i-th function, valid until the next call. A part that cannot be read becomes a Problem.
func (f *filler) Function(i int) (*jitcode.Function, error) {
	fn, err := f.FunctionReader.Function(i)
	if err != nil || len(f.parts[i]) == 0 {
		return fn, err
	}
	f.fn = *fn // the slices of the reader stay its own
	for _, p := range f.parts[i] {
		from, err := f.reader(p).Function(p.Function)
		if err != nil {
			f.problems = append(f.problems, source.Problem{Offset: -1, Text: err.Error()})
			continue
		}
		fill(&f.fn, from, p)
	}
	return &f.fn, nil
}

// fill adds what fn lacks and a part of it has. Lines and inlined calls stay together.
func fill(fn, from *jitcode.Function, p Part) {
	if p.Name {
		fn.Name = from.Name
	}
	if len(from.Lines) > 0 && (len(fn.Lines) == 0 || len(fn.Inlines) == 0 && len(from.Inlines) > 0) {
		fn.Files, fn.Sources, fn.Lines = from.Files, from.Sources, from.Lines
		fn.Origins, fn.Inlines, fn.Ranges = from.Origins, from.Inlines, from.Ranges
	}
	if from.HasCode() && from.Size == fn.Size && (p.Code || !fn.HasCode()) {
		fn.Code = from.Code
	}
	if len(fn.Unwind.Sent.FDEs) == 0 && len(from.Unwind.Sent.FDEs) > 0 || fn.Unwind.Empty() {
		fn.Unwind = from.Unwind
	}
}

// TakeProblems returns the problems with functions since the last call. Those of parts have no offset: they
// are of another file.
func (f *filler) TakeProblems() []source.Problem {
	taken := append(f.FunctionReader.TakeProblems(), f.problems...)
	f.problems = nil
	for _, r := range f.others {
		for _, p := range r.TakeProblems() {
			taken = append(taken, source.Problem{Offset: -1, Text: p.Text})
		}
	}
	return taken
}
