package checkmap

import (
	"context"
	"slices"

	"github.com/jitinject/jitinject/internal/verify"
	"github.com/jitinject/jitinject/internal/verify/jitted"
	"github.com/jitinject/jitinject/internal/verify/recorded"
)

// owner returns the process that a map is of: the one in its name, if that has any of the code, or
// else the one with most of it.
func (c *checker) owner(p *recorded.Processes) (pid uint32, found bool) {
	holds := func(pid uint32) bool {
		return slices.ContainsFunc(c.functions, func(f jitted.Function) bool { return p.Holds(pid, &f) })
	}
	if c.pid != 0 && p.Known[c.pid] {
		return c.pid, holds(c.pid)
	}
	return p.Owner(0, c.functions)
}

// besideRecordings holds the map against the recording it belongs to, or against those of some
// recordings that know its process.
func (c *checker) besideRecordings(ctx context.Context, opts *verify.Options) error {
	recordings := opts.Recordings
	if opts.Recording != "" {
		recordings = []string{opts.Recording}
	}
	if len(c.functions) == 0 {
		return nil // already reported as perfmap/no-functions
	}
	known := 0
	for _, recording := range recordings {
		p, err := recorded.ReadProcesses(ctx, recording)
		if err != nil {
			return err
		}
		pid, found := c.owner(p)
		if !found && opts.Recording == "" && pid == 0 {
			continue
		}
		known++
		if !found {
			c.Violation("perfmap/recording-process", -1, "no process of the recording has executable memory where the functions are")
			continue
		}
		if err := c.beside(ctx, recording, p, pid); err != nil {
			return err
		}
	}
	if known == 0 && len(recordings) > 0 {
		c.Violation("perfmap/other-process", -1, "none of the recordings has its process")
	}
	return nil
}

// beside holds the map against the recording of its process.
func (c *checker) beside(ctx context.Context, recording string, p *recorded.Processes, pid uint32) error {
	if len(p.Objects[pid]) > 0 {
		return c.injected(ctx, recording, p, pid)
	}
	var outside []*jitted.Function
	for i := range c.functions {
		if f := &c.functions[i]; f.Size > 0 && !p.Holds(pid, f) {
			outside = append(outside, f)
		}
	}
	if len(outside) > 0 {
		c.Violation("perfmap/not-executable", outside[0].Offset, "%d of %s are not in memory that process %d could execute; the first is at %#x",
			len(outside), verify.Counted(len(c.functions), "function"), pid, outside[0].Addr)
	}
	return nil
}

// injected checks that a recording that was injected has the map's functions where samples are in
// them.
func (c *checker) injected(ctx context.Context, recording string, p *recorded.Processes, pid uint32) error {
	shown, err := recorded.ObjectMappings(ctx, recording, pid)
	if err != nil {
		return err
	}
	missing, err := recorded.NotMapped(ctx, c.functions, 0, recording, pid, shown, false)
	if err != nil {
		return err
	}
	for _, m := range missing {
		f := &c.functions[m.Function]
		c.Violation("perfmap/not-mapped", f.Offset, "%s in the code at %#x, which is not mapped", verify.Are(m.Samples, "sample"), f.Addr)
	}
	return nil
}
