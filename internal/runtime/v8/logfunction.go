package v8

import (
	"fmt"
	"hash/maphash"

	"github.com/jitinject/jitinject/internal/format/v8log"
	"github.com/jitinject/jitinject/internal/jitcode"
	"github.com/jitinject/jitinject/internal/runtime/jitdump"
	"github.com/jitinject/jitinject/internal/source"
	"github.com/jitinject/jitinject/internal/source/memcode"
)

// MayHaveLines reports whether the i-th function is optimized code with a script.
func (l *Log) MayHaveLines(i int) bool { return l.codes[i].object != unknown }

// Inspect is Functions.
func (l *Log) Inspect() source.FunctionReader { return l.Functions() }

// A logReader reads the functions of a log.
type logReader struct {
	memcode.Reader
	l     *Log
	tree  *jitdump.TreeReader
	trees Trees
	name  []byte
	text  []byte // the name in the log
}

// Functions returns a new reader of the functions.
func (l *Log) Functions() source.FunctionReader {
	r := &logReader{Reader: memcode.Reader{Dump: &l.Dump}, l: l, tree: jitdump.NewTreeReader()}
	r.trees.alone = true
	return r
}

// Function returns the i-th function, valid until the next call. It fails if the log has changed since it was
// scanned.
func (r *logReader) Function(i int) (*jitcode.Function, error) {
	e := r.l.loadOf(i)
	c := &r.l.codes[i]
	if err := r.readName(c); err != nil {
		return nil, err
	}
	fn := r.tree.Begin(e.Addr, e.Size)
	fn.Name, fn.Code = r.name, r.Bytes(i)
	if c.object != unknown {
		info, problem, err := r.trees.of(described{index: r.l.index, object: c.object}, e.Size)
		for _, err := range []error{problem, err} {
			if err != nil {
				r.tree.Problems = append(r.tree.Problems, source.Problem{Offset: -1, Text: err.Error()})
			}
		}
		r.tree.Read(info, nil, -1)
		for k, name := range fn.Files {
			if n, ok := r.l.sources.Of(name, i); ok && r.l.sources.All[n].Place != "" {
				fn.Files[k] = r.l.sources.All[n].Place
			}
		}
	}
	r.Derive(fn)
	return fn, nil
}

// readName reads the name of a function as a dump has it: tag, colon, tier, and the name without escapes. It
// ends before a zero byte.
func (r *logReader) readName(c *code) (err error) {
	if r.text, err = v8log.ReadSpan(r.l.src, c.name, v8log.MaxName, r.text); err != nil {
		return err
	}
	if maphash.Bytes(seed, r.text) != c.sum {
		return fmt.Errorf("offset %#x: %w", c.name.Off, errChanged)
	}
	r.name = append(append(r.name[:0], c.prefix...), r.text[:c.escaped]...)
	r.name = v8log.AppendText(r.name, r.text[c.escaped:])
	for i, b := range r.name {
		if b == 0 {
			r.name = r.name[:i]
			break
		}
	}
	return nil
}

// IsNamed reports whether a function has a name of a dump.
func (l *Log) IsNamed(i int, name []byte) bool { return l.codes[i].key == dumpKey(name) }

// TakeProblems returns the problems with lines since the last call.
func (r *logReader) TakeProblems() []source.Problem { return r.tree.TakeProblems() }

// loadOf returns the load of a function.
func (l *Log) loadOf(i int) *jitcode.Event { return &l.Events[l.codes[i].load] }
