package checkxray

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/jitinject/jitinject/internal/format/xrayfdr"
	"github.com/jitinject/jitinject/internal/verify"
	"github.com/jitinject/jitinject/internal/verify/jitted"
	"github.com/jitinject/jitinject/internal/verify/recorded"
	"github.com/jitinject/jitinject/internal/wire"
)

// A checker is a trace of XRay's flight data recorder that is being checked.
type checker struct {
	*verify.Reporter
	src      io.ReaderAt
	size     int64
	header   *xrayfdr.Header
	reported xrayfdr.Fixes // fixes with a diagnostic

	blocks  []xrayfdr.Block
	records int
}

// checkFile checks a trace, by itself and beside its recordings.
func checkFile(ctx context.Context, r *verify.Reporter, path string, opts *verify.Options) error {
	f, size, err := verify.OpenSized(path)
	if err != nil {
		return err
	}
	defer f.Close()
	c := &checker{Reporter: r, src: f, size: size}
	if err := c.check(ctx); err != nil || c.header == nil {
		return err
	}
	return c.besideRecordings(ctx, opts)
}

// check walks each trace of the file twice: in the order of the file, and thread by thread. The error
// is of reading, or ctx's.
func (c *checker) check(ctx context.Context) error {
	c.Result.Holds = "nothing"
	r, err := xrayfdr.NewReader(c.src, c.size)
	if err != nil {
		return c.badHeader(err)
	}
	indexes, err := xrayfdr.ReadIndexes(c.src, c.size)
	if err != nil {
		return verify.PlainError(err)
	}
	for i, index := range indexes {
		if i > 0 {
			if r, err = r.NextTrace(); err != nil {
				return verify.PlainError(err)
			}
		}
		c.header, c.reported = r.Header(), xrayfdr.Fixes{}
		c.checkHeader()
		before := len(c.blocks)
		if err := c.walk(ctx, r); err != nil {
			return err
		}
		if len(c.blocks) == before {
			c.Violation("xray/no-buffers", c.header.Offset()+xrayfdr.HeaderSize, "no buffer follows the header")
		}
		if err := c.threads(ctx, index); err != nil {
			return err
		}
	}
	var at *wire.Error
	if errors.As(indexes[len(indexes)-1].TooMany, &at) {
		c.Violation("xray/buffer", at.Offset, "%s", at.Text)
	}
	c.Result.Holds = verify.Counted(len(c.blocks), "buffer") + ", " + verify.Counted(c.records, "record")
	return nil
}

// badHeader says what is wrong with the file header, as far as the trace is to blame.
func (c *checker) badHeader(err error) error {
	var at *wire.Error
	switch {
	case errors.As(err, &at) && at.Field == "type":
		c.Violation("xray/type", at.Offset, "the type %s", at.Text)
	case errors.As(err, &at) && at.Field == "version":
		c.Violation("xray/version", at.Offset, "the version %s", at.Text)
	case errors.As(err, &at):
		c.Violation("xray/header", at.Offset, "%s %s", at.Field, at.Text)
	case errors.Is(err, xrayfdr.ErrNotXRay):
		c.Violation("xray/header", 0, "%v", err)
	default:
		return verify.PlainError(err)
	}
	return nil
}

func (c *checker) checkHeader() {
	h, at := c.header, c.header.Offset()
	if !h.ConstantTSC || !h.NonstopTSC || h.OtherFlags != 0 {
		c.Violation("xray/flags", at+4, "constant TSC %t, nonstop TSC %t, other flags %#x", h.ConstantTSC, h.NonstopTSC, h.OtherFlags)
	}
	switch {
	case h.CycleFrequency == 0:
		c.Violation("xray/frequency", at+8, "the frequency is 0")
	case h.Emulated():
		c.Violation("xray/clock", at+8, "the frequency is %d: times are of CLOCK_REALTIME", h.CycleFrequency)
	}
}

// walk goes through the trace in the order of the file.
func (c *checker) walk(ctx context.Context, r *xrayfdr.Reader) error {
	for {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		b, err := r.NextBlock()
		if err == io.EOF {
			return nil
		}
		var at *wire.Error
		if errors.As(err, &at) {
			c.fixed(at.Offset, r.Fixes())
			c.Violation("xray/buffer", at.Offset, "%s", at.Text)
			continue
		} else if err != nil {
			return verify.PlainError(err)
		}
		c.blocks = append(c.blocks, *b)
		if err := c.block(ctx, r, b); err != nil {
			return err
		}
		c.fixed(b.Offset, r.Fixes())
	}
}

// extentsSize is the length of BufferExtents, which a buffer's size does not count.
const extentsSize = 16

// block goes through the records of a block.
func (c *checker) block(ctx context.Context, r *xrayfdr.Reader, b *xrayfdr.Block) error {
	offset, size := b.Offset, b.Size
	if c.header.Version > 1 && c.header.BufferSize > 0 && uint64(size-extentsSize) > c.header.BufferSize && size > extentsSize {
		c.Violation("xray/buffer-size", offset, "the buffer has %d bytes, the header says %d at most", size-extentsSize, c.header.BufferSize)
	}
	latest := uint64(0)
	for {
		rec, err := r.Next()
		if err == io.EOF {
			return nil
		}
		var at *wire.Error
		if errors.As(err, &at) {
			c.Violation("xray/grammar", at.Offset, "%s: %s", strings.TrimSpace(at.Record+" "+at.Field), at.Text)
			return nil
		} else if err != nil {
			return verify.PlainError(err)
		}
		if c.records++; c.records%(1<<20) == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		switch {
		case rec.Kind == xrayfdr.WallTime:
			if rec.Microseconds >= 1e6 || rec.Seconds < 0 || rec.Seconds >= verify.RealTime/1e9 {
				c.Violation("xray/wall-time", rec.Offset, "the time is %d s and %d µs", rec.Seconds, rec.Microseconds)
			}
		case rec.Kind.IsFunction() && rec.Function == 0:
			c.Violation("xray/function", rec.Offset, "%s of function 0", rec.Kind)
		}
		if rec.Kind.IsFunction() || rec.TSC != 0 {
			if rec.TSC < latest {
				c.Violation("xray/time-goes-back", rec.Offset, "%s is %d counts older than the record before it", rec.Kind, latest-rec.TSC)
			}
			latest = max(latest, rec.TSC)
		}
	}
}

// fixed says what the reader has set right since it was asked last.
func (c *checker) fixed(offset int64, now xrayfdr.Fixes) {
	for i := range now {
		n := int(now[i] - c.reported[i])
		if n == 0 {
			continue
		}
		switch repair := xrayfdr.Fix(i); repair {
		case xrayfdr.OverwrittenPayload:
			c.Violation("xray/payload", offset, "the data of %s in the buffer are overwritten", verify.Counted(n, "event"))
		case xrayfdr.CarriedTSC:
			c.Violation("xray/cpu", offset, "the buffer has no NewCPUId")
		case xrayfdr.LostTSC:
			c.Violation("xray/cpu-lost", offset, "the buffer has no NewCPUId, and there is none before it")
		case xrayfdr.PlainArguments:
			c.Violation("xray/arguments", offset, "%s after plain entries in the buffer", verify.Counted(n, "argument"))
		case xrayfdr.ReservedBytes:
			c.Violation("xray/reserved", offset, "in %s of the buffer, bytes that mean nothing are not 0", verify.Counted(n, "record"))
		case xrayfdr.NoEndOfBuffer, xrayfdr.LateEndOfBuffer:
			c.Violation("xray/end-of-buffer", offset, "%s", repair)
		case xrayfdr.NoPID:
			c.Violation("xray/process", offset, "the buffer has no PidEntry")
		case xrayfdr.CutRecord:
			c.Violation("xray/record-cut", offset, "the buffer ends inside a record")
		case xrayfdr.UnclearPayload:
			c.Violation("xray/payload-unclear", offset, "the data of events in the buffer may be there, or overwritten")
		case xrayfdr.TypedExtents:
			c.Violation("xray/extents", offset, "%s", repair)
		case xrayfdr.WrongExtents:
			c.Violation("xray/buffer-short", offset, "%s", repair)
		case xrayfdr.CutFile:
			c.Violation("xray/cut", offset, "the file ends inside the buffer")
		case xrayfdr.WideThreadID, xrayfdr.Searched: // harmless; said already: xray/buffer
		}
	}
	c.reported = now
}

// threads goes through the trace thread by thread.
func (c *checker) threads(ctx context.Context, index *xrayfdr.Index) error {
	for _, blocks := range index.Threads() {
		if err := c.thread(ctx, blocks); err != nil {
			return err
		}
	}
	return nil
}

func (c *checker) thread(ctx context.Context, blocks []xrayfdr.Block) error {
	r := xrayfdr.ReadBlocks(c.src, c.header, slices.Clone(blocks))
	var stack jitted.CallStack
	latest, unfinished := uint64(0), 0
	for {
		b, err := r.NextBlock()
		if err == io.EOF {
			break
		} else if err != nil {
			return verify.PlainError(err)
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if b.Base == xrayfdr.OwnBase && b.TSC < latest {
			c.Violation("xray/buffer-order", b.Offset, "the buffer begins %d counts before the end of the thread's buffer before", latest-b.TSC)
		}
		for {
			rec, err := r.Next()
			if err == io.EOF {
				break
			}
			var at *wire.Error
			if errors.As(err, &at) { // said already: xray/grammar
				unfinished += len(stack.Functions)
				stack = jitted.CallStack{}
				break
			} else if err != nil {
				return verify.PlainError(err)
			}
			latest = max(latest, rec.TSC)
			switch rec.Kind {
			case xrayfdr.Enter, xrayfdr.EnterArgs:
				stack.Enter(uint64(rec.Function))
			case xrayfdr.Exit, xrayfdr.TailExit:
				open, found := stack.Leave(uint64(rec.Function))
				if !found {
					c.Violation("xray/exit-unknown", rec.Offset, "thread %d leaves function %d, which it has not entered", b.TID, rec.Function)
				}
				unfinished += open
			}
		}
	}
	if unfinished += len(stack.Functions); unfinished > 0 {
		c.Violation("xray/unfinished", blocks[0].Offset, "thread %d: %s without an end of their own", blocks[0].TID, verify.Counted(unfinished, "call"))
	}
	return nil
}

// besideRecordings holds the trace against the recording it belongs to, or against those
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
		if opts.Recording == "" && !knowsBlock(w, c.blocks) {
			continue
		}
		known++
		c.beside(w)
	}
	if known == 0 && len(recordings) > 0 && len(c.blocks) > 0 {
		c.Violation("xray/other-process", -1, "none of the recordings has its process")
	}
	return nil
}

func (c *checker) beside(w *recorded.Processes) {
	switch {
	case len(c.blocks) == 0:
		return
	case !w.Monotonic:
		c.Violation("xray/recording-clock", -1, "the recording was not made with -k mono")
		return
	case w.Samples == 0:
		return
	}
	within := 0
	for i := range c.blocks {
		if t := uint64(max(c.blocks[i].WallTime(), 0)); t >= w.First-min(w.First, 60e9) && t <= w.Last+60e9 {
			within++
		}
	}
	if 2*within < len(c.blocks) {
		b := &c.blocks[0]
		c.Violation("xray/recording-time", b.Offset, "%d of %d buffers begin outside of the recording, %d.%09d s to %d.%09d s; the first at %d.%06d s",
			len(c.blocks)-within, len(c.blocks), w.First/1e9, w.First%1e9, w.Last/1e9, w.Last%1e9, b.Seconds, b.Microseconds)
	}
}
