package checkgdbjit

import (
	"context"
	"io"

	"github.com/jitinject/jitinject/internal/elfcore"
	"github.com/jitinject/jitinject/internal/runtime/gdbjit/registered"
	"github.com/jitinject/jitinject/internal/verify"
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

// checkFile checks a core dump.
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
		c.Violation("core/overlap", -1, "of the list, %s with an object that another entry has", verify.Counted(list.Repeated, "entry"))
	}
	for i := range list.Objects {
		if err := c.ctx.Err(); err != nil {
			return err
		}
		c.object(&list.Objects[i])
	}
	c.overlaps()
	c.Result.Holds = verify.Counted(len(core.Threads()), "thread") + ", " + verify.Counted(len(core.Files()), "mapped file")
	if len(places) > 0 {
		c.Result.Holds += ", " + verify.Counted(len(list.Objects), "object") + " registered for debuggers with " + verify.Counted(len(c.functions), "function")
	}
	return nil
}
