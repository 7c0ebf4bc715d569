package checkdump

import (
	"context"
	"fmt"
	"slices"

	"github.com/jitinject/jitinject/internal/jitcode"
	"github.com/jitinject/jitinject/internal/runtime/jitdump"
	"github.com/jitinject/jitinject/internal/source"
	"github.com/jitinject/jitinject/internal/words"
	jitdumps "github.com/jitinject/jitinject/jitdump"
)

// An engineReader reads the functions of a dump as an injection does. Some faults show only over all functions,
// or if code is disassembled: the engine proves them, and fixes what it can.
type engineReader struct {
	dump   *jitdump.Dump
	reader *jitdump.Reader
	counts map[string]int64 // of fixes so far, by name
}

// fixRules are the rules that the lines of a function break if the engine fixes them, by the name of the fix, and
// the texts of their diagnostics.
var fixRules = map[string]struct{ rule, text string }{
	"misplaced-lines":  {"dump/lines-misplaced", "the lines of %s are not where its instructions start, and those of other functions are"},
	"bytecode-offsets": {"dump/lines-bytecode", "the lines of %s are at offsets in its bytecode"},
	"freed-file-names": {"dump/file-freed", "the file names in the lines of %s were overwritten"},
	"lines-outside":    {"dump/lines-outside", "some lines of %s are outside of its code"},
}

// openEngine reads all records as the engine does. plain says that functions with inlined calls have the lines of
// their debug record. The result is nil for a dump with a header that was reported. The error is ctx's.
func (c *checker) openEngine(ctx context.Context, plain bool) (*engineReader, error) {
	d, err := jitdump.OpenFile(c.src)
	if err != nil {
		return nil, nil
	}
	if plain {
		d.PreferPlain()
	}
	if err := d.Scan(ctx); err != nil {
		return nil, err
	}
	d.DeriveFrames(source.Surroundings{})
	return &engineReader{dump: d, reader: d.Reader(), counts: make(map[string]int64)}, nil
}

// lineAddresses reports line tables that contradict each other, and keeps what the addresses of all are too high.
func (c *checker) lineAddresses() {
	if c.engine == nil {
		return
	}
	if a, ok := c.engine.dump.LineAddresses(); ok && a.Decision == source.LinesMovedBack {
		c.skew = a.Skew
	} else if ok && a.Decision == source.LinesContradictory {
		c.Violation("dump/lines-contradict", -1, "of %d tables, %d are right as they are, %d if %#x is taken off, %d neither way", a.Tables, a.AsWritten.Tables, a.MovedBack.Tables, a.Skew, a.Neither)
	}
}

// function returns the function of a load. If the engine refuses it, ok is false.
func (e *engineReader) function(raw *jitdumps.Raw) (fn *jitcode.Function, ok bool) {
	if e == nil {
		return nil, false
	}
	i, ok := e.dump.FunctionAt(raw.Offset)
	if !ok {
		return nil, false
	}
	fn, err := e.reader.Function(i)
	return fn, err == nil
}

// fixes reports what the engine fixes of a function, and returns the names of the fixes.
func (c *checker) fixes(raw *jitdumps.Raw, l *jitdumps.Load) map[string]bool {
	names := make(map[string]bool)
	if _, ok := c.engine.function(raw); !ok {
		return names
	}
	lines, places, tables := raw.Offset, "", raw.Offset
	if r := c.lines.byAddr[l.CodeAddr]; r != nil {
		if lines = r.offset; r.whole {
			places = fmt.Sprintf("; they are at %#x to %#x, the code at %#x to %#x", r.low, r.high, l.CodeAddr, l.CodeAddr+l.CodeSize)
		}
	} else if c.tree.waits {
		lines = c.tree.offset
	}
	if c.unwind.record != nil {
		tables = c.unwind.record.offset
	}
	for _, p := range c.engine.reader.TakeProblems() { // those of other records are found one by one
		if slices.ContainsFunc(c.j9, func(j *pendingJ9) bool { return j.offset == p.Offset }) {
			c.Violation("dump/j9-metadata", p.Offset, "%s", p.Text)
		}
	}
	for _, fix := range c.engine.dump.Fixes() {
		if fix.Count == c.engine.counts[fix.Name] {
			continue
		}
		c.engine.counts[fix.Name] = fix.Count
		names[fix.Name] = true
		switch known := fixRules[fix.Name]; {
		case fix.Name == "skewed-lines":
			c.Violation("dump/lines-skewed", lines, "the lines of %s are %#x too high%s", nameOf(l), c.skew, places)
		case fix.Name == "salted-code":
			c.Violation("dump/code-salted", raw.Offset, "the last 8 bytes of the code of all %s are a number", words.Count(int64(int(fix.Count)), "function"))
		case fix.Name == "contradicted-unwind-tables":
			c.Violation("dump/unwind-false", tables, "the unwind tables of %s contradict its code", nameOf(l))
		case known.rule != "":
			c.Violation(known.rule, lines, known.text+"%s", nameOf(l), places)
		}
	}
	return names
}
