package checkgdbjit

import (
	"context"
	"io"

	"github.com/jitinject/jitinject/internal/elfcore"
	"github.com/jitinject/jitinject/internal/verify"
)

// Format is how core dumps are checked.
var Format = verify.Format{Kind: elfcore.FormatName, Name: "a core dump", Rules: rules, Check: checkFile}

// checkFile checks a core dump.
func checkFile(ctx context.Context, r *verify.Reporter, path string, _ *verify.Options) error {
	f, _, err := verify.OpenSized(path)
	if err != nil {
		return err
	}
	defer f.Close()
	c := &checker{Reporter: r, ctx: ctx}
	return c.check(f)
}

// check checks a core dump.
func (c *checker) check(src io.ReaderAt) (err error) {
	c.Result.Holds = "nothing that can be read"
	if c.core, err = elfcore.Open(src); err != nil {
		c.Violation("core/headers", 0, "%v", err)
		return nil
	}
	for _, err := range c.core.Problems {
		c.Violation("core/headers", -1, "%v", err)
	}
	descriptors, err := c.descriptors()
	if err != nil {
		return err
	}
	c.named = make(map[[2]uint64]uint64)
	for _, addr := range descriptors {
		c.list(addr)
		if err := c.ctx.Err(); err != nil {
			return err
		}
	}
	c.overlaps()
	c.Result.Holds = verify.Counted(len(c.core.Threads()), "thread") + ", " + verify.Counted(len(c.core.Files()), "mapped file")
	if len(descriptors) > 0 {
		c.Result.Holds += ", " + verify.Counted(c.objects, "object") + " registered for debuggers with " + verify.Counted(len(c.functions), "function")
	}
	return nil
}
