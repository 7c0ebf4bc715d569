package verify

import (
	"context"
	"io"
	"slices"

	"github.com/jitinject/jitinject/internal/format/j9meta"
	"github.com/jitinject/jitinject/internal/format/xrayfdr"
	"github.com/jitinject/jitinject/perfdata"
)

// A recording without dumps may belong to a log of Mono or a trace of XRay, of which it says
// nothing, or have calls of one put in.

// hasCalls reports whether calls were put into the recording: it has an event for them.
func (c *recordingCheck) hasCalls() bool {
	desc := c.events
	if c.rec.file != nil {
		if f := c.rec.file.Feature(perfdata.FeatureEventDesc); f != nil {
			if b, err := f.Bytes(); err == nil {
				desc = b
			}
		}
	}
	events, _ := perfdata.EventDesc(c.rec.order, desc) // those before a fault
	return slices.ContainsFunc(events, func(e perfdata.NamedEvent) bool { return e.Name == "mono" || e.Name == "xray" })
}

// hasLog reports whether one of some logs and traces is of a process in the recording. Those
// that cannot be read are of none: they are complained about elsewhere.
func hasLog(ctx context.Context, recording string, logs []string) (bool, error) {
	if len(logs) == 0 {
		return false, nil
	}
	w, err := witnessOf(ctx, recording)
	if err != nil {
		return false, ctx.Err()
	}
	for _, path := range logs {
		if w.knowsLog(ctx, path) {
			return true, nil
		}
	}
	return false, ctx.Err()
}

// knowsLog reports whether a log or trace is of a process in the recording.
func (w *logWitness) knowsLog(ctx context.Context, path string) bool {
	kind, err := KindOf(path)
	if err != nil {
		return false
	}
	f, err := openChecked(path)
	if err != nil {
		return false
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return false
	}
	switch kind {
	case KindJ9:
		capture, err := j9meta.ReadCapture(path)
		if err != nil {
			return false
		}
		_, found := w.process(capture.PID, []function{{addr: capture.StartPC, size: 1}})
		return found
	case KindMono:
		c := newMonoCheck(newReporter(path, &Options{}))
		if err := c.check(ctx, io.NewSectionReader(f, 0, st.Size())); err != nil || c.header == nil {
			return false
		}
		if c.header.PID != 0 && w.known[c.header.PID] {
			return true
		}
		_, found := w.process(c.header.PID, c.functions)
		return found
	case KindXRay:
		index, err := xrayfdr.ReadIndex(f, st.Size())
		if err != nil {
			return false
		}
		for _, blocks := range index.Threads() {
			if slices.ContainsFunc(blocks, func(b xrayfdr.Block) bool { return w.knows(&b) }) {
				return true
			}
		}
	}
	return false
}
