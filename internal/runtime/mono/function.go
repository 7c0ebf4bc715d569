package mono

import (
	"fmt"

	"github.com/jitinject/jitinject/internal/cfi"
	"github.com/jitinject/jitinject/internal/disasm"
	"github.com/jitinject/jitinject/internal/jitcode"
	"github.com/jitinject/jitinject/internal/source"
)

// A log has the addresses of code, but not its bytes. A core dump of the process may have them.

// CodeFrom sets the sources of the functions' bytes. It must not run while functions are read.
func (m *Log) CodeFrom(sources []source.CodeSource, world source.CodeWorld) (late []int) {
	m.memory, late = source.NewCodeMemory(sources, m.Events, len(m.nameOf), world)
	return late
}

// HasCode reports whether the bytes of the i-th function are known.
func (m *Log) HasCode(i int) bool { return m.memory.Has(i, m.Events[i].Addr, m.Events[i].Size) }

// DeriveFrames derives unwind tables from code for functions with known bytes. It must not run
// while functions are read.
func (m *Log) DeriveFrames(source.Surroundings) { m.derive = true }

// A functionReader reads the functions of a log.
type functionReader struct {
	m      *Log
	fn     jitcode.Function
	code   []byte
	frames cfi.Synthesizer
}

// Functions returns a new reader of the log's functions.
func (m *Log) Functions() source.FunctionReader { return &functionReader{m: m} }

// MayHaveLines returns false: logs have no lines.
func (m *Log) MayHaveLines(int) bool { return false }

// Inspect is Functions.
func (m *Log) Inspect() source.FunctionReader { return m.Functions() }

// Function returns the i-th function, valid until the next call.
func (r *functionReader) Function(i int) (*jitcode.Function, error) {
	e := &r.m.Events[i]
	r.fn = jitcode.Function{Name: r.m.FunctionName(i), Addr: e.Addr, Size: e.Size, Code: r.bytes(i)}
	if fn := &r.fn; r.m.derive && len(fn.Code) > 0 {
		if cie, initial := cfi.CIE(r.m.target); cie != nil {
			fn.Unwind.CIE, fn.Unwind.Initial = *cie, initial
			fn.Unwind.Rows = r.frames.Synthesize(r.m.target, fn.Code, nil).Rows
		}
	}
	return &r.fn, nil
}

// bytes returns the code of the i-th function, or nil if it is unknown.
func (r *functionReader) bytes(i int) []byte {
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
		return fmt.Errorf("the bytes of %s are not known", r.m.nameOf[i])
	}
	disasm.Targets(r.m.target, code, f)
	return nil
}

// TakeProblems returns nil: unreadable parts of a function are dropped.
func (r *functionReader) TakeProblems() []source.Problem { return nil }

// Fixes returns nil: faults of a log are Problems.
func (m *Log) Fixes() []source.Fix { return nil }
