package perfmap

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"github.com/jitinject/jitinject/internal/cfi"
	"github.com/jitinject/jitinject/internal/disasm"
	"github.com/jitinject/jitinject/internal/format/perfmap"
	"github.com/jitinject/jitinject/internal/jitcode"
	"github.com/jitinject/jitinject/internal/source"
)

// CodeFrom sets the sources of the functions' bytes. It must not run while functions are read.
func (m *Map) CodeFrom(sources []source.CodeSource, world source.CodeWorld) (late []int) {
	m.memory, late = source.NewCodeMemory(sources, m.Events, len(m.parts), world)
	return late
}

// HasCode reports whether the bytes of the i-th function are known. A part of a function has none:
// the rest of it was replaced, so the memory there may be anything.
func (m *Map) HasCode(i int) bool {
	return m.parts[i].whole && m.memory.Has(i, m.Events[i].Addr, m.Events[i].Size)
}

// DeriveFrames derives unwind tables from code for functions with known bytes. It must not run
// while functions are read.
func (m *Map) DeriveFrames(source.Surroundings) { m.derive = true }

// A functionReader reads the functions of a map.
type functionReader struct {
	m      *Map
	fn     jitcode.Function
	line   []byte
	code   []byte
	frames cfi.Synthesizer
}

// Functions returns a new reader of the functions.
func (m *Map) Functions() source.FunctionReader { return &functionReader{m: m} }

// MayHaveLines returns false: maps have no lines.
func (m *Map) MayHaveLines(int) bool { return false }

// Inspect is Functions.
func (m *Map) Inspect() source.FunctionReader { return m.Functions() }

// Function returns the i-th function, valid until the next call. It fails if the map has changed
// since it was scanned.
func (r *functionReader) Function(i int) (*jitcode.Function, error) {
	e := &r.m.Events[i]
	name, err := r.name(i)
	if err != nil {
		return nil, err
	}
	r.fn = jitcode.Function{Name: name, Addr: e.Addr, Size: e.Size, Code: r.bytes(i)}
	if fn := &r.fn; r.m.derive && len(fn.Code) > 0 {
		if cie, initial := cfi.CIE(r.m.target); cie != nil {
			fn.Unwind.CIE, fn.Unwind.Initial = *cie, initial
			fn.Unwind.Rows = r.frames.Synthesize(r.m.target, fn.Code, nil).Rows
		}
	}
	return &r.fn, nil
}

// errChanged says that a map is not the one that was scanned.
var errChanged = errors.New("it has changed since it was read first")

// name reads the name of the i-th function. It ends before a zero byte, as in perf.
func (r *functionReader) name(i int) ([]byte, error) {
	l := &r.m.lines[r.m.parts[i].line]
	n := int(l.length)
	r.line = slices.Grow(r.line[:0], n)[:n]
	if got, err := r.m.src.ReadAt(r.line, l.offset); got < n {
		return nil, fmt.Errorf("offset %#x: %w", l.offset, err)
	}
	now, err := perfmap.Parse(bytes.TrimSuffix(r.line, []byte("\n")), l.offset)
	if err != nil || hashOf(&now) != l.fields {
		return nil, fmt.Errorf("offset %#x: %w", l.offset, errChanged)
	}
	name, _, _ := bytes.Cut(now.Name, []byte{0})
	if whole := function(name); whole != nil {
		name = whole
	}
	return name, nil
}

// bytes returns the code of the i-th function, or nil if it is unknown.
func (r *functionReader) bytes(i int) []byte {
	if !r.m.parts[i].whole {
		return nil
	}
	code := r.m.memory.Read(i, r.m.Events[i].Addr, r.m.Events[i].Size, r.code)
	if code != nil {
		r.code = code
	}
	return code
}

// Targets calls f for every direct branch that leaves the i-th function.
func (r *functionReader) Targets(i int, f func(offset int64)) error {
	code := r.bytes(i)
	if code == nil {
		return errors.New("the bytes of that function are not known")
	}
	disasm.Targets(r.m.target, code, f)
	return nil
}

// TakeProblems returns nil: problems of a map are found by Scan.
func (r *functionReader) TakeProblems() []source.Problem { return nil }
