package jitdump

import (
	"github.com/jitinject/jitinject/internal/jitcode"
	"github.com/jitinject/jitinject/internal/source"
	"github.com/jitinject/jitinject/jitdump"
)

// A TreeReader makes the lines and inlined calls of functions from records outside of jitdumps. It
// reuses its memory for each function.
type TreeReader struct{ r Reader }

// NewTreeReader returns a TreeReader.
func NewTreeReader() *TreeReader {
	return &TreeReader{Reader{fixes: new(fixes)}}
}

// Begin starts a function of size bytes at addr, and returns it. It is valid until the next call.
func (t *TreeReader) Begin(addr, size uint64) *jitcode.Function {
	fn := &t.r.fn
	*fn = jitcode.Function{
		Addr: addr, Size: size,
		Files: fn.Files[:0], Sources: fn.Sources[:0], Lines: fn.Lines[:0],
		Origins: fn.Origins[:0], Inlines: fn.Inlines[:0], Ranges: fn.Ranges[:0],
	}
	t.r.rows = t.r.rows[:0]
	t.r.names.begin()
	return fn
}

// Read adds the content of info to the function: files, inlined calls and lines. err is the error
// of decoding info. If it is not nil, Read adds the lines only. Problems get the offset off.
func (t *TreeReader) Read(info *jitdump.DebugInfo2, err error, off int64) {
	if info != nil || err != nil {
		t.r.useTree(&t.r.fn, info, err, off)
	}
	t.r.fn.Lines = t.r.inside(t.r.fn.Lines, t.r.fn.Size)
}

// TakeProblems returns the problems with records since the last call.
func (t *TreeReader) TakeProblems() []source.Problem { return t.r.TakeProblems() }
