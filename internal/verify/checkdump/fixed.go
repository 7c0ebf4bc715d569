package checkdump

import (
	"context"
	"slices"

	"github.com/jitinject/jitinject/internal/runtime/jitdump"
	"github.com/jitinject/jitinject/internal/source"
	"github.com/jitinject/jitinject/internal/verify"
	jitdumps "github.com/jitinject/jitinject/jitdump"
)

// An engineReader reads the functions of a dump as an injection does. Some faults show only over all functions,
// or if code is disassembled: the engine proves them, and fixes what it can.
type engineReader struct {
	dump   *jitdump.Dump
	reader *jitdump.Reader
	counts map[string]int64 // of fixes so far, by name
}

// fixRules are the rules that a function breaks if the engine fixes it, by the name of the fix, and the texts
// of their diagnostics.
var fixRules = map[string]struct{ rule, text string }{
	"misplaced-lines":            {"dump/lines-misplaced", "the lines of %s are not where its instructions start, and those of other functions are"},
	"bytecode-offsets":           {"dump/lines-bytecode", "the lines of %s are at offsets in its bytecode"},
	"freed-file-names":           {"dump/file-freed", "the file names in the lines of %s were overwritten"},
	"lines-outside":              {"dump/lines-outside", "some lines of %s are outside of its code"},
	"contradicted-unwind-tables": {"dump/unwind-false", "the unwind tables of %s contradict its code"},
}

// openEngine reads all records as the engine does. The error is ctx's.
func (c *checker) openEngine(ctx context.Context) error {
	d, err := jitdump.OpenFile(c.src)
	if err != nil {
		return nil // its header was reported
	}
	if err := d.Scan(ctx); err != nil {
		return err
	}
	d.DeriveFrames(source.Surroundings{})
	c.engine = &engineReader{dump: d, reader: d.Reader(), counts: make(map[string]int64)}
	if a, ok := d.LineAddresses(); ok && a.Decision == source.LinesMovedBack {
		c.skew = a.Skew
	} else if ok && a.Decision == source.LinesContradictory {
		c.Violation("dump/lines-contradict", -1, "of %d tables, %d are right as they are, %d if %#x is taken off, %d neither way", a.Tables, a.AsWritten.Tables, a.MovedBack.Tables, a.Skew, a.Neither)
	}
	return nil
}

// fixed reports what the engine fixes of a function. It returns the names of these fixes.
func (c *checker) fixed(raw *jitdumps.Raw, l *jitdumps.Load) (names map[string]bool) {
	names = make(map[string]bool)
	if c.engine == nil {
		return names
	}
	i, ok := c.engine.dump.FunctionAt(raw.Offset)
	if !ok {
		return names
	}
	if _, err := c.engine.reader.Function(i); err != nil {
		return names
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
			c.Violation("dump/lines-skewed", raw.Offset, "the lines of %s are %#x too high", nameOf(l), c.skew)
		case fix.Name == "salted-code":
			c.Violation("dump/code-salted", raw.Offset, "the last 8 bytes of the code of all %s are a number", verify.Counted(int(fix.Count), "function"))
		case known.rule != "":
			c.Violation(known.rule, raw.Offset, known.text, nameOf(l))
		}
	}
	return names
}
