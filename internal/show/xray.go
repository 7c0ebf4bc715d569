package show

import (
	"bytes"
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/jitinject/jitinject/internal/format/xrayfdr"
	"github.com/jitinject/jitinject/internal/runtime/xray"
	"github.com/jitinject/jitinject/internal/xraymap"
)

// An xrayViewer walks a trace of XRay's flight data recorder.
type xrayViewer struct {
	*viewer
	header  *xrayfdr.Header
	trace   *xray.Log    // nil if times cannot be told from counts
	program *xrayProgram // nil without one
	block   xrayfdr.Block
}

// xrayTypes are the types of all records.
var xrayTypes = func() (names []string) {
	for k := xrayfdr.Enter; k <= xrayfdr.PID; k++ {
		names = append(names, k.String())
	}
	return append(names, "repairs")
}()

// showXRay shows a trace, record by record or as a table of its functions.
func showXRay(v *viewer) error {
	if err := v.needsFile(xrayfdr.FormatName); err != nil {
		return err
	}
	r, err := xrayfdr.NewReader(v.file, v.size)
	if err != nil {
		return err
	}
	x := &xrayViewer{viewer: v, header: r.Header()}
	if v.opts.XRayBinary != "" {
		if x.program, err = openXRayProgram(v.opts.XRayBinary); err != nil {
			return err
		}
	}
	var noClock error
	if x.trace, noClock = xray.ReadLog(v.file, v.size); noClock != nil && v.opts.Stats {
		return noClock
	}
	v.begun(xrayfdr.FormatName)
	if x.program != nil {
		v.out.str("program", []byte(v.opts.XRayBinary))
	}
	v.out.end()
	if v.opts.Stats {
		return x.stats()
	}
	if f := &v.opts.Filter; f.typed("header") && !f.picky() {
		x.showHeader()
		if noClock != nil {
			v.problem(-1, fmt.Errorf("times are not shown: %w", noClock))
		}
	}
	return x.records(r)
}

func (x *xrayViewer) showHeader() {
	h, o := x.header, x.out
	o.begin(item{offset: 0, typ: "header", size: xrayfdr.HeaderSize})
	o.num("version", uint64(h.Version))
	o.word("order", orderName(h.Order))
	var flags []string
	if h.ConstantTSC {
		flags = append(flags, "CONSTANT_TSC")
	}
	if h.NonstopTSC {
		flags = append(flags, "NONSTOP_TSC")
	}
	if h.OtherFlags != 0 {
		flags = append(flags, fmt.Sprintf("%#x", h.OtherFlags))
	}
	o.words("flags", flags)
	o.num("cycle_frequency", h.CycleFrequency)
	o.num("buffer_size", h.BufferSize)
	if h.Emulated() {
		o.word("tsc_is", "CLOCK_REALTIME")
	}
	if x.trace != nil && x.trace.Clock.Measured {
		o.word("measured_frequency", fmt.Sprintf("%.0f", x.trace.Clock.Frequency))
	}
	x.rawBytes(0, xrayfdr.HeaderSize)
	o.end()
}

// rawBytes shows bytes of the trace if that is asked for.
func (x *xrayViewer) rawBytes(offset, size int64) {
	if !x.opts.Hex {
		return
	}
	b := make([]byte, size)
	n, _ := x.file.ReadAt(b, offset)
	x.out.data("hex", b[:n], offset)
}

// records walks all buffers, around what is damaged.
func (x *xrayViewer) records(r *xrayfdr.Reader) error {
	flushed := int64(0)
	for !x.lost() {
		b, err := r.NextBlock()
		if err == io.EOF {
			break
		}
		if err != nil {
			x.problem(offsetOf(err, -1), err)
			if offsetOf(err, -1) < 0 {
				return nil // of the disk, not of the trace
			}
			continue
		}
		x.block = *b
		for x.opts.Filter.pid(b.PID) && !x.lost() {
			rec, err := r.Next()
			if err == io.EOF {
				break
			}
			if err != nil {
				x.problem(offsetOf(err, -1), fmt.Errorf("%w; the rest of the buffer is left out", err))
				break
			}
			x.record(rec)
			if rec.Offset-flushed > flushEvery {
				x.out.flush()
				flushed = rec.Offset
			}
		}
	}
	x.repairs(r.Fixes())
	return nil
}

// repairs shows what the codec had to set right, and what it could not.
func (x *xrayViewer) repairs(counts xrayfdr.Fixes) {
	if f := &x.opts.Filter; counts.Any() && f.typed("repairs") && !f.picky() {
		x.out.begin(item{offset: -1, typ: "repairs", size: -1})
		for i, n := range counts {
			if n > 0 {
				x.out.num(strings.ReplaceAll(xrayfdr.Fix(i).String(), " ", "_"), n)
			}
		}
		x.out.end()
	}
	if counts[xrayfdr.CutFile] > 0 {
		x.problem(x.size, errors.New("the file ends inside a buffer"))
	}
}

// record shows a record if the filter lets it through.
func (x *xrayViewer) record(r *xrayfdr.Record) {
	f, o := &x.opts.Filter, x.out
	timed := x.trace != nil && (r.Kind.IsFunction() || r.TSC != 0) && x.block.Base != xrayfdr.NoBase
	it := item{offset: r.Offset, typ: r.Kind.String(), size: recordSize(r), timed: timed}
	if timed {
		it.time = x.trace.Clock.Time(r.TSC)
	} else if r.Kind == xrayfdr.WallTime {
		it.timed, it.time = true, uint64(r.Seconds*1e9+int64(r.Microseconds)*1e3)
	}
	if !f.typed(it.typ) || !f.time(it.time, it.timed) || !x.wanted(r) {
		return
	}
	o.begin(it)
	switch r.Kind {
	case xrayfdr.NewBuffer:
		o.num("tid", uint64(r.TID))
	case xrayfdr.PID:
		o.num("pid", uint64(r.PID))
	case xrayfdr.Extents:
		o.num("buffer_size", r.Extents)
	case xrayfdr.WallTime:
		o.signed("seconds", r.Seconds)
		o.num("microseconds", uint64(r.Microseconds))
	case xrayfdr.CallArgument:
		o.num("argument", r.Argument)
	case xrayfdr.NewCPU:
		o.num("cpu", uint64(r.CPU))
		o.num("tsc", r.TSC)
	case xrayfdr.TSCWrap:
		o.num("tsc", r.TSC)
	case xrayfdr.Enter, xrayfdr.Exit, xrayfdr.TailExit, xrayfdr.EnterArgs:
		o.num("tid", uint64(x.block.TID))
		o.num("cpu", uint64(r.CPU))
		o.num("tsc", r.TSC)
		o.signed("delta", r.Delta)
		o.num("function", uint64(r.Function))
		if name := x.program.name(r.Function); name != "" {
			o.str("name", []byte(name))
		}
	case xrayfdr.CustomEvent, xrayfdr.TypedEvent:
		o.num("tid", uint64(x.block.TID))
		o.num("cpu", uint64(r.CPU))
		o.num("tsc", r.TSC)
		if x.header.Version >= 5 {
			o.signed("delta", r.Delta)
		}
		if r.Kind == xrayfdr.TypedEvent {
			o.num("event_type", uint64(r.Type))
		}
		o.num("payload_size", uint64(r.PayloadSize))
		x.payload(r)
	}
	x.rawBytes(r.Offset, it.size)
	o.end()
}

// payload shows the data of an event: as text where it is one.
func (x *xrayViewer) payload(r *xrayfdr.Record) {
	switch {
	case len(r.Payload) == 0 && r.PayloadSize > 0:
		x.out.word("payload", "overwritten")
	case isPlain(bytes.ReplaceAll(r.Payload, []byte(" "), []byte("_"))):
		x.out.str("text", r.Payload)
	default:
		x.out.id("payload", r.Payload)
	}
}

// Sizes of records in a file, in bytes, without payloads.
const (
	xrayFunctionSize = 8
	xrayMetadataSize = 16
)

func recordSize(r *xrayfdr.Record) int64 {
	if r.Kind.IsFunction() {
		return xrayFunctionSize
	}
	return xrayMetadataSize + int64(len(r.Payload))
}

// wanted reports whether a record is about a function that is looked for.
func (x *xrayViewer) wanted(r *xrayfdr.Record) bool {
	f := &x.opts.Filter
	if len(f.Names) == 0 && !f.Address.Set {
		return true
	}
	return r.Kind.IsFunction() && x.wantedFunction(r.Function)
}

func (x *xrayViewer) wantedFunction(id uint32) bool {
	f := &x.opts.Filter
	if len(f.Names) > 0 && !f.name([]byte(x.program.name(id))) {
		return false
	}
	return !f.Address.Set || x.program.touches(id, f.Address)
}

// An xrayProgram knows the functions of a program. A nil one knows none.
type xrayProgram struct {
	functions *xraymap.Map
	names     []xraymap.Symbol
}

// openXRayProgram reads the program that wrote a trace.
func openXRayProgram(path string) (*xrayProgram, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("the program: %w", err)
	}
	defer f.Close()
	p := new(xrayProgram)
	if p.functions, err = xraymap.Read(f); err == nil {
		p.names, err = p.functions.Names(f)
	}
	var format *elf.FormatError
	switch {
	case errors.As(err, &format):
		return nil, fmt.Errorf("%s is no ELF file: %w", path, err)
	case err != nil:
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return p, nil
}

func (p *xrayProgram) name(id uint32) string {
	if p == nil || uint64(id) >= uint64(len(p.names)) {
		return ""
	}
	return p.names[id].Name
}

func (p *xrayProgram) touches(id uint32, r Range) bool {
	if p == nil {
		return false
	}
	addr, ok := p.functions.Address(id)
	size := uint64(0)
	if uint64(id) < uint64(len(p.names)) {
		size = p.names[id].Size
	}
	return ok && r.touches(addr, size)
}
