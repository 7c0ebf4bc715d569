package perfmap

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"github.com/jitinject/jitinject/internal/format/perfmap"
	"github.com/jitinject/jitinject/internal/jitcode"
	"github.com/jitinject/jitinject/internal/source"
	"github.com/jitinject/jitinject/internal/source/memcode"
)

// A functionReader reads the functions of a map.
type functionReader struct {
	memcode.Reader
	m    *Map
	fn   jitcode.Function
	line []byte
}

// Functions returns a new reader of the functions.
func (m *Map) Functions() source.FunctionReader {
	return &functionReader{Reader: memcode.Reader{Dump: &m.Dump}, m: m}
}

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
	r.fn = jitcode.Function{Name: name, Addr: e.Addr, Size: e.Size, Code: r.Bytes(i)}
	r.Derive(&r.fn)
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
