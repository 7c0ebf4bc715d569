package checkmono

import (
	"context"

	"github.com/jitinject/jitinject/internal/verify"
	"github.com/jitinject/jitinject/internal/verify/recorded"
)

// besideRecordings holds the log against the recording it belongs to, or against those
// of some recordings that know its process.
func (c *checker) besideRecordings(ctx context.Context, opts *verify.Options) error {
	recordings := opts.Recordings
	if opts.Recording != "" {
		recordings = []string{opts.Recording}
	}
	known := 0
	for _, recording := range recordings {
		w, err := recorded.ReadProcesses(ctx, recording)
		if err != nil {
			return err
		}
		pid, found := w.Owner(c.header.PID, c.functions)
		if !found && opts.Recording == "" && (c.header.PID == 0 || !w.Known[c.header.PID]) {
			continue
		}
		known++
		if err := c.beside(ctx, recording, w, pid, found); err != nil {
			return err
		}
	}
	if known == 0 && len(recordings) > 0 && len(c.functions) > 0 {
		c.Violation("mono/other-process", -1, "none of the recordings has its process")
	}
	return nil
}

func (c *checker) beside(ctx context.Context, recording string, w *recorded.Processes, pid uint32, found bool) error {
	if len(c.functions) == 0 {
		return nil // said already: mono/no-code, mono/size-zero
	}
	if !w.Monotonic {
		c.Violation("mono/recording-clock", -1, "the recording was not made with -k mono")
	} else if w.Samples > 0 {
		within := 0
		for i := range c.functions {
			if t := c.functions[i].Time; t >= w.First-min(w.First, 60e9) && t <= w.Last+60e9 {
				within++
			}
		}
		if 2*within < len(c.functions) {
			c.Violation("mono/recording-time", c.functions[0].Offset, "%d of %d methods were compiled outside of the recording, %d.%09d s to %d.%09d s; the first at %d.%09d s",
				len(c.functions)-within, len(c.functions), w.First/1e9, w.First%1e9, w.Last/1e9, w.Last%1e9, c.functions[0].Time/1e9, c.functions[0].Time%1e9)
			return nil
		}
	}
	if !found {
		c.Violation("mono/recording-process", -1, "no process of the recording has executable memory where the log's code is")
		return nil
	}
	if len(w.Objects[pid]) > 0 {
		return c.injected(ctx, recording, w, pid)
	}
	for i := range c.functions {
		if f := &c.functions[i]; !w.Holds(pid, f) {
			c.Violation("mono/not-executable", f.Offset, "%d bytes of code at %#x are not in memory that process %d could execute", f.Size, f.Addr, pid)
		}
	}
	if !w.Monotonic {
		return nil
	}
	late, _, _, err := recorded.LateLoads(ctx, c.functions, recording, pid, 0)
	if err != nil {
		return err
	}
	for _, l := range late {
		f := &c.functions[l.Function]
		c.Violation("mono/load-late", f.Offset, "%s in the code at %#x before the log describes it, the first %s before", verify.Are(l.Samples, "sample"), f.Addr, verify.Span(f.Time-l.First))
	}
	return nil
}

// injected checks that a recording that was injected has the log's code where samples are
// in it.
func (c *checker) injected(ctx context.Context, recording string, w *recorded.Processes, pid uint32) error {
	shown, err := recorded.ObjectMappings(ctx, recording, pid)
	if err != nil {
		return err
	}
	missing, err := recorded.NotMapped(ctx, c.functions, c.first, recording, pid, shown, w.Monotonic)
	if err != nil {
		return err
	}
	for _, m := range missing {
		f := &c.functions[m.Function]
		c.Violation("mono/not-mapped", f.Offset, "%s in the code at %#x, which is not mapped then", verify.Are(m.Samples, "sample"), f.Addr)
	}
	return nil
}
