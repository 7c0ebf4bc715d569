package mono

import (
	"github.com/jitinject/jitinject/internal/jitcode"
	"github.com/jitinject/jitinject/internal/source"
	"github.com/jitinject/jitinject/internal/source/memcode"
)

// A functionReader reads the functions of a log.
type functionReader struct {
	memcode.Reader
	m  *Log
	fn jitcode.Function
}

// Functions returns a new reader of the log's functions.
func (m *Log) Functions() source.FunctionReader {
	return &functionReader{Reader: memcode.Reader{Dump: &m.Dump}, m: m}
}

// MayHaveLines returns false: logs have no lines.
func (m *Log) MayHaveLines(int) bool { return false }

// Inspect is Functions.
func (m *Log) Inspect() source.FunctionReader { return m.Functions() }

// Function returns the i-th function, valid until the next call.
func (r *functionReader) Function(i int) (*jitcode.Function, error) {
	e := &r.m.Events[i]
	r.fn = jitcode.Function{Name: r.m.FunctionName(i), Addr: e.Addr, Size: e.Size, Code: r.Bytes(i)}
	r.Derive(&r.fn)
	return &r.fn, nil
}
