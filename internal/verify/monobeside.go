package verify

import (
	"context"
)

// A log beside the recording of its process.

// process returns the process that has the log's code: the one that the log names, or, if
// it names none or one of another pid namespace, the one that has most of it.
func (w *logWitness) process(pid uint32, functions []function) (uint32, bool) {
	if pid != 0 && w.count(pid, functions) > 0 {
		return pid, true
	}
	best, most := uint32(0), 0
	for other := range w.known {
		if n := w.count(other, functions); n > most || n == most && n > 0 && other < best {
			best, most = other, n
		}
	}
	return best, 2*most > len(functions)
}

// besideRecordings holds the log against the recording it belongs to, or against those
// of some recordings that know its process.
func (c *monoCheck) besideRecordings(ctx context.Context, opts *Options) error {
	recordings := opts.Recordings
	if opts.Recording != "" {
		recordings = []string{opts.Recording}
	}
	known := 0
	for _, recording := range recordings {
		w, err := witnessOf(ctx, recording)
		if err != nil {
			return err
		}
		pid, found := w.process(c.header.PID, c.functions)
		if !found && opts.Recording == "" && (c.header.PID == 0 || !w.known[c.header.PID]) {
			continue
		}
		known++
		if err := c.beside(ctx, recording, w, pid, found); err != nil {
			return err
		}
	}
	if known == 0 && len(recordings) > 0 && len(c.functions) > 0 {
		c.broken("mono/other-process", -1, "none of the recordings has its process")
	}
	return nil
}

func (c *monoCheck) beside(ctx context.Context, recording string, w *logWitness, pid uint32, found bool) error {
	if len(c.functions) == 0 {
		return nil // said already: mono/no-code, mono/size-zero
	}
	if !w.monotonic {
		c.broken("mono/recording-clock", -1, "the recording was not made with -k mono")
	} else if w.samples > 0 {
		within := 0
		for i := range c.functions {
			if t := c.functions[i].time; t >= w.first-min(w.first, 60e9) && t <= w.last+60e9 {
				within++
			}
		}
		if 2*within < len(c.functions) {
			c.broken("mono/recording-time", c.functions[0].offset, "%d of %d methods were compiled outside of the recording, %d.%09d s to %d.%09d s; the first at %d.%09d s",
				len(c.functions)-within, len(c.functions), w.first/1e9, w.first%1e9, w.last/1e9, w.last%1e9, c.functions[0].time/1e9, c.functions[0].time%1e9)
			return nil
		}
	}
	if !found {
		c.broken("mono/recording-process", -1, "no process of the recording has executable memory where the log's code is")
		return nil
	}
	if len(w.objects[pid]) > 0 {
		return c.injected(ctx, recording, w, pid)
	}
	for i := range c.functions {
		if f := &c.functions[i]; !w.holds(pid, f) {
			c.broken("mono/not-executable", f.offset, "%d bytes of code at %#x are not in memory that process %d could execute", f.size, f.addr, pid)
		}
	}
	if !w.monotonic {
		return nil
	}
	late, _, _, err := lateLoads(ctx, c.functions, recording, pid, 0)
	if err != nil {
		return err
	}
	for _, l := range late {
		f := &c.functions[l.function]
		c.broken("mono/load-late", f.offset, "%s in the code at %#x before the log tells of it, the first %s before", are(l.samples, "sample"), f.addr, span(f.time-l.first))
	}
	return nil
}

// injected checks that a recording that was injected has the log's code where samples are
// in it.
func (c *monoCheck) injected(ctx context.Context, recording string, w *logWitness, pid uint32) error {
	shown, err := shownCodeOf(ctx, recording, pid)
	if err != nil {
		return err
	}
	missing, err := notMapped(ctx, c.functions, c.first, recording, pid, shown, w.monotonic)
	if err != nil {
		return err
	}
	for _, m := range missing {
		f := &c.functions[m.function]
		c.broken("mono/not-mapped", f.offset, "%s in the code at %#x, which is not mapped then", are(m.samples, "sample"), f.addr)
	}
	return nil
}
