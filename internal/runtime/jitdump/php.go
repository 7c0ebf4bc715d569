package jitdump

import (
	"bytes"

	"github.com/jitinject/jitinject/internal/cfi"
	"github.com/jitinject/jitinject/internal/jitcode"
)

// phpStub begins the names of the first functions of PHP's JIT, helpers of its traces.
var phpStub = []byte("JIT$$")

// isTraced reports whether a function is one of PHP's JIT.
func isTraced(name []byte) bool { return bytes.HasPrefix(name, phpStub) }

// Interpreter returns the function that has the frame of the dump's code, or "". PHP's interpreter,
// execute_ex, jumps to the functions of the JIT. They have no prologue, end in jumps, and expect the
// interpreter's registers.
func (l *listing) Interpreter() string {
	if !l.traces {
		return ""
	}
	return "execute_ex"
}

// InterpreterFrame returns the frame of the interpreter that runs the dump's traces. ehFrame is the
// .eh_frame section of its program, loaded at addr. The interpreter begins at pc.
func (l *listing) InterpreterFrame(ehFrame []byte, addr, pc uint64) (*jitcode.FrameRow, error) {
	row, err := cfi.InterpreterFrame(l.Target(), ehFrame, addr, pc)
	if err != nil {
		return nil, err
	}
	return &row, nil
}
