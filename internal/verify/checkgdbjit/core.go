package checkgdbjit

import (
	"cmp"
	"context"
	"debug/elf"
	_ "embed"
	"errors"
	"io"
	"slices"

	"github.com/jitinject/jitinject/internal/elfcore"
	"github.com/jitinject/jitinject/internal/format/gdbjit"
	"github.com/jitinject/jitinject/internal/runtime/gdbjit/registered"
	"github.com/jitinject/jitinject/internal/sorting"
	"github.com/jitinject/jitinject/internal/verify"
	"github.com/jitinject/jitinject/internal/wire"
	"github.com/jitinject/jitinject/internal/words"
)

// Format is how core dumps are checked.
var Format = verify.Format{Kind: elfcore.FormatName, Name: "a core dump", Rules: rules, Check: checkFile}

// A checker checks a core dump.
type checker struct {
	*verify.Reporter
	ctx       context.Context
	process   *registered.Process
	functions []function
}

func checkFile(ctx context.Context, r *verify.Reporter, path string, _ *verify.Options) error {
	f, err := verify.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	c := &checker{Reporter: r, ctx: ctx}
	return c.check(f)
}

// check checks a core dump. The error is ctx's.
func (c *checker) check(src io.ReaderAt) error {
	c.Result.Holds = "nothing that can be read"
	core, err := elfcore.Open(src)
	if err != nil {
		c.Violation("core/headers", 0, "%v", err)
		return nil
	}
	for _, err := range core.Problems {
		c.Violation("core/headers", -1, "%v", err)
	}
	c.process = registered.OfCore(core)
	places := registered.Find(c.process)
	list, err := registered.Read(c.process, places)
	if err != nil {
		return err
	}
	for _, err := range list.Problems {
		c.listProblem(err)
	}
	if list.Repeated > 0 {
		c.Violation("core/overlap", -1, "of the list, %s with an object that another entry has", words.Count(int64(list.Repeated), "entry"))
	}
	for i := range list.Objects {
		if err := c.ctx.Err(); err != nil {
			return err
		}
		c.object(&list.Objects[i])
	}
	c.overlaps()
	c.Result.Holds = words.Count(int64(len(core.Threads())), "thread") + ", " + words.Count(int64(len(core.Files())), "mapped file")
	if len(places) > 0 {
		c.Result.Holds += ", " + words.Count(int64(len(list.Objects)), "object") + " registered for debuggers with " + words.Count(int64(len(c.functions)), "function")
	}
	return nil
}

// A function is a function of a registered object.
type function struct {
	lo, hi  uint64
	name    []byte
	symfile uint64 // address of its object
}

// listProblem reports a fault of a list, or of an object that cannot be read.
func (c *checker) listProblem(err error) {
	rule := "core/object"
	var fault *gdbjit.Error
	switch {
	case !errors.As(err, &fault):
	case errors.Is(err, gdbjit.ErrCycle):
		rule = "core/circle"
	case fault.Record == "descriptor":
		rule = "core/descriptor"
	case fault.Field == "prev_entry":
		rule = "core/links"
	case fault.Field == "":
		rule = "core/entry"
	default:
		rule = "core/symfile"
	}
	c.Violation(rule, -1, "%v", err)
}

func (c *checker) object(x *registered.Object) {
	o, err := x.Open()
	if err != nil {
		c.listProblem(err) // it could be opened before
		return
	}
	if t := o.Target(); elf.Machine(t.Machine) != c.process.Machine || t.Order != c.process.Order {
		c.Violation("core/machine", -1, "the object at %#x is of %v, %v, and the process of %v, %v", x.Symfile, elf.Machine(t.Machine), t.Order, c.process.Machine, c.process.Order)
		return
	}
	faults := o.Problems()
	isDamage := func(err error) bool { return errors.As(err, new(*wire.Error)) }
	if len(x.Functions) == 0 && !slices.ContainsFunc(faults, isDamage) {
		c.Violation("core/no-functions", -1, "the object at %#x has no function with an address", x.Symfile)
		return
	}
	for _, err := range faults {
		c.Violation("core/object", -1, "the object at %#x: %v", x.Symfile, err)
	}
	for _, f := range x.Functions {
		c.functions = append(c.functions, function{f.Addr, f.Addr + f.Size, f.Name, x.Symfile})
		var b [1]byte
		switch {
		case !c.process.IsExecutable(f.Addr, f.Size):
			c.Violation("core/executable", -1, "function %q at %#x, with %d bytes, is not in executable memory", f.Name, f.Addr, f.Size)
		case c.process.ReadCode(f.Addr, b[:]) != nil || c.process.ReadCode(f.Addr+f.Size-1, b[:]) != nil:
			c.Violation("core/code", -1, "the code of function %q, at %#x, is not in the core", f.Name, f.Addr)
		}
	}
}

// overlaps checks that functions of different objects share no addresses.
func (c *checker) overlaps() {
	sorting.Stable(c.functions, func(a, b function) int { return cmp.Compare(a.lo, b.lo) })
	last := -1 // the function that reaches farthest so far
	for i, f := range c.functions {
		if last >= 0 {
			if o := &c.functions[last]; o.hi > f.lo && o.symfile != f.symfile {
				c.Violation("core/overlap", -1, "function %q of the object at %#x is at %#x, where function %q of the object at %#x is", f.name, f.symfile, f.lo, o.name, o.symfile)
			}
		}
		if last < 0 || f.hi > c.functions[last].hi {
			last = i
		}
	}
}

//go:embed rules.txt
var texts string

// rules are the rules for core dumps: those of "JIT Compilation Interface" in GDB's manual, and what
// naming the functions takes.
var rules = verify.ReadRules(texts)
