package openj9

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/jitinject/jitinject/internal/format/j9meta"
	"github.com/jitinject/jitinject/internal/jitcode"
	"github.com/jitinject/jitinject/internal/report"
	"github.com/jitinject/jitinject/internal/source"
	"github.com/jitinject/jitinject/internal/source/memcode"
)

// Captures are all captures of a process, as one dump. Each part of a body is a function; both
// parts have the body's name. Only their addresses are kept. Lines and inlined calls are read with
// each function.
type Captures struct {
	memcode.Dump

	machine  string
	pid      uint32 // see PID
	captures []*Capture
	parts    []bodyPart
	sources  source.Sources
	listings source.ListingsOf // cache for reading listings
}

// A bodyPart is a function of the dump.
type bodyPart struct{ capture, part int }

var (
	_ source.Dump        = (*Captures)(nil)
	_ source.WithoutCode = (*Captures)(nil)
	_ source.Group       = (*Captures)(nil)
	_ source.PartlyTimed = (*Captures)(nil)
)

// NewCaptures makes a dump of captures. It needs at least one. They were opened for a recording of
// the given machine, and do not overlap without times.
func NewCaptures(captures []*Capture, machine string) *Captures {
	d := &Captures{Dump: memcode.Dump{Listing: source.Listing{Cut: -1}}, machine: machine, captures: captures, pid: captures[0].PID}
	l := captures[0].layout
	d.Code = jitcode.Target{Machine: uint32(l.Machine), Order: l.Order}
	for at, c := range captures {
		for i, p := range c.parts {
			n := len(d.parts)
			for _, l := range c.listings {
				d.sources.AddListing(l.Name, l.Size, n)
			}
			d.parts = append(d.parts, bodyPart{at, i})
			d.Code.HighAddress = max(d.Code.HighAddress, p.addr+p.size)
			d.Events = append(d.Events, jitcode.Event{Kind: jitcode.Load, Function: int32(n), Time: c.Time, Index: uint64(n), Addr: p.addr, Size: p.size})
		}
		if d.pid != c.PID {
			d.pid = 0
		}
	}
	return d
}

// HasTimes reports whether any of the captures has a load time.
func (d *Captures) HasTimes() bool {
	return slices.ContainsFunc(d.captures, func(c *Capture) bool { return c.HasTime })
}

// StartAt sets the load times of captures, by address, if they have none, or an impossible one
// before earliest.
func (d *Captures) StartAt(earliest uint64, time func(addr uint64) uint64) {
	for i := range d.Events {
		if c := d.captures[d.parts[i].capture]; !c.HasTime || c.Time < earliest {
			d.Events[i].Time = time(d.Events[i].Addr)
		}
	}
}

// Paths returns the paths of the metadata and the descriptions of all captures.
func (d *Captures) Paths() (paths []string) {
	for _, c := range d.captures {
		paths = append(paths, c.Path, strings.TrimSuffix(c.Path, ".bin")+".json")
	}
	return paths
}

// Report adds the numbers of captures to the summary.
func (d *Captures) Report(_ string, s *report.DumpSummary) (none report.Findings) {
	s.Captures = len(d.captures)
	return none
}

// Traits returns the traits of captures.
func (d *Captures) Traits() source.Traits {
	return source.Traits{Kind: Kind, Trust: source.TrustLog, Unchecked: true, MachineAdvice: `say "machine" in its JSON, as uname -m does`}
}

// SetMachine does nothing: captures were opened for the recording's machine.
func (d *Captures) SetMachine(source.Machine) {}

// Bytes returns the total size of the captures' files, in bytes.
func (d *Captures) Bytes() (n int64) {
	for _, c := range d.captures {
		n += c.Size
	}
	return n
}

// Mode returns the permissions that all captures have.
func (d *Captures) Mode() uint32 {
	mode := uint32(0o777)
	for _, c := range d.captures {
		mode &= c.Mode
	}
	return mode
}

// Scan does nothing: captures are complete.
func (d *Captures) Scan(ctx context.Context) error { return ctx.Err() }

// PID returns the process that all captures name, or 0.
func (d *Captures) PID() uint32 {
	return d.pid
}

// NumFunctions returns the number of functions.
func (d *Captures) NumFunctions() int { return len(d.parts) }

// HasCode reports whether the bytes of the i-th function are known.
func (d *Captures) HasCode(i int) bool {
	return d.part(i).known || d.Dump.HasCode(i)
}

func (d *Captures) part(i int) *part {
	f := d.parts[i]
	return &d.captures[f.capture].parts[f.part]
}

// A functionReader reads the functions of captures.
type functionReader struct {
	memcode.Reader
	d      *Captures
	reader *bodyReader
	at     int             // number of the last capture read
	raw    *j9meta.Capture // that capture
}

// Functions returns a new reader of the functions.
func (d *Captures) Functions() source.FunctionReader {
	return &functionReader{Reader: memcode.Reader{Dump: &d.Dump}, d: d, reader: newBodyReader()}
}

// capture reads the capture of the i-th function again.
func (r *functionReader) capture(i int) (*j9meta.Capture, error) {
	n := r.d.parts[i].capture
	c := r.d.captures[n]
	if r.raw != nil && r.at == n {
		return r.raw, nil
	}
	raw, err := ReadCapture(c.Path, r.d.machine, c.refused)
	if err != nil {
		return nil, err
	}
	if parts, err := raw.Parts(); err != nil || parts[0].Start != c.Addr() || len(parts) != len(c.parts) {
		return nil, fmt.Errorf("%q was another capture when it was read first", c.Path)
	}
	if c.refused("") == nil && len(raw.CodeErrors) > len(c.CodeErrors) {
		return nil, fmt.Errorf("%q: %w", c.Path, raw.CodeErrors[0])
	}
	r.raw, r.at = raw, n
	return raw, nil
}

// Function returns the i-th function, valid until the next call.
func (r *functionReader) Function(i int) (*jitcode.Function, error) {
	raw, err := r.capture(i)
	if err != nil {
		return nil, err
	}
	r.reader.read(raw, r.d.part(i))
	r.addListings(i)
	r.reader.problems = r.reader.problems[:0] // reported when the capture was opened
	fn := r.reader.fn
	fn.Code = r.bytes(i, raw)
	r.Derive(fn)
	return fn, nil
}

// bytes returns the code of the i-th function, or nil if it is unknown.
func (r *functionReader) bytes(i int, raw *j9meta.Capture) []byte {
	p := r.d.part(i)
	code := codeOf(raw, p.cold)
	if p.known && uint64(len(code)) == p.size {
		return code
	}
	return r.Bytes(i)
}

// Targets calls f for every direct branch that leaves the i-th function.
func (r *functionReader) Targets(i int, f func(offset int64)) error {
	raw, err := r.capture(i)
	if err != nil {
		return err
	}
	return memcode.Targets(r.d.Code, r.bytes(i, raw), f)
}
