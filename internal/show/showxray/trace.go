package showxray

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/jitinject/jitinject/internal/format/elffile"
	"github.com/jitinject/jitinject/internal/format/xrayfdr"
	"github.com/jitinject/jitinject/internal/runtime/xray"
	"github.com/jitinject/jitinject/internal/safefile/sys"
	"github.com/jitinject/jitinject/internal/show"
	"github.com/jitinject/jitinject/internal/xraymap"
)

// A traceViewer walks a trace of XRay's flight data recorder.
type traceViewer struct {
	*show.Viewer
	header  *xrayfdr.Header
	trace   *xray.Log // nil if times cannot be told from counts, or there are none
	program *program  // nil without one
	block   xrayfdr.Block
}

// recordTypes are the types of all records.
var recordTypes = func() (names []string) {
	for k, fields := range xrayfdr.Shown {
		if fields != nil {
			names = append(names, xrayfdr.Kind(k).String())
		}
	}
	return append(names, "repairs")
}()

// tables say how records are printed, by their kind.
var tables = func() (list [len(xrayfdr.Shown)]*show.Fields) {
	for kind, specs := range xrayfdr.Shown {
		list[kind] = show.Table(xrayfdr.Record{}, specs)
	}
	return list
}()

// Format is the format of XRay's traces.
var Format = show.Format{Show: showTrace, Types: append([]string{"header"}, recordTypes...)}

// showTrace shows the trace in a file, record by record.
func showTrace(v *show.Viewer) error {
	if err := v.NoCode(xrayfdr.FormatName); err != nil {
		return err
	}
	r, err := xrayfdr.NewReader(v.File, v.Size)
	if err != nil {
		return err
	}
	index, err := xrayfdr.ReadIndex(v.File, v.Size)
	if err != nil {
		return err
	}
	x := &traceViewer{Viewer: v, header: index.Header}
	v.Version = int(index.Header.Version)
	v.Known = func(_ string, id uint64) (string, string) { return "name", x.program.name(uint32(id)) }
	v.Add = x.add
	if v.Opts.Program != "" {
		if x.program, err = openProgram(v.Opts.Program); err != nil {
			return err
		}
	}
	x.trace, err = xray.NewLog(index, v.File)
	v.Begun(xrayfdr.FormatName)
	if x.program != nil {
		v.Out.Str("program", []byte(v.Opts.Program))
	}
	v.Out.End()
	if f := &x.Opts.Filter; f.MatchesType("header") && !f.IsPicky() {
		x.showHeader(len(index.Blocks) == 0)
		if err != nil && !errors.Is(err, xray.ErrNoBuffers) {
			x.Problem(-1, fmt.Errorf("times are not shown: %w", err))
		}
	}
	x.records(r)
	return nil
}

func (x *traceViewer) showHeader(empty bool) {
	h := x.header
	rec := struct {
		Version   uint16   `show:"version"`
		Order     string   `show:"order"`
		Flags     []string `show:"flags"`
		Frequency uint64   `show:"cycle_frequency"`
		Buffer    uint64   `show:"buffer_size"`
		TSC       string   `show:"tsc_is,opt"`
		Measured  string   `show:"measured_frequency,opt"`
		Records   string   `show:"records,opt"`
	}{Version: h.Version, Order: show.OrderName(h.Order), Frequency: h.CycleFrequency, Buffer: h.BufferSize}
	if h.ConstantTSC {
		rec.Flags = append(rec.Flags, "CONSTANT_TSC")
	}
	if h.NonstopTSC {
		rec.Flags = append(rec.Flags, "NONSTOP_TSC")
	}
	rec.Flags = append(rec.Flags, show.BitNames(uint64(h.OtherFlags), nil)...)
	if h.Emulated() {
		rec.TSC = "CLOCK_REALTIME"
	}
	if x.trace != nil && x.trace.Clock.Measured {
		rec.Measured = fmt.Sprintf("%.0f", x.trace.Clock.Frequency)
	}
	if empty {
		rec.Records = "none"
	}
	x.Summary(show.Item{Type: "header", Size: xrayfdr.HeaderSize}, &rec)
}

// records walks all buffers, around what is damaged.
func (x *traceViewer) records(r *xrayfdr.Reader) {
	for !x.Lost() {
		b, err := r.NextBlock()
		if err == io.EOF {
			break
		}
		if err != nil {
			x.Problem(show.OffsetOf(err, -1), err)
			if show.OffsetOf(err, -1) < 0 {
				return // of the disk, not of the trace
			}
			continue
		}
		x.block = *b
		for x.OfProcess(b.PID) && !x.Lost() {
			rec, err := r.Next()
			if err == io.EOF {
				break
			}
			if err != nil {
				x.Problem(show.OffsetOf(err, -1), fmt.Errorf("%w; the rest of the buffer is left out", err))
				break
			}
			x.record(rec)
		}
	}
	x.fixes(r.Fixes())
}

// fixes shows what the codec had to set right, and what it could not.
func (x *traceViewer) fixes(counts xrayfdr.Fixes) {
	if f := &x.Opts.Filter; counts != (xrayfdr.Fixes{}) && f.MatchesType("repairs") && !f.IsPicky() {
		x.Out.Begin(show.Item{Offset: -1, Type: "repairs", Size: -1})
		for i, n := range counts {
			if n > 0 {
				x.Out.Num(strings.ReplaceAll(xrayfdr.Fix(i).String(), " ", "_"), n)
			}
		}
		x.Out.End()
	}
	if counts[xrayfdr.CutFile] > 0 {
		x.Problem(x.Size, errors.New("the file ends inside a buffer"))
	}
}

// record shows a record if the filter lets it through.
func (x *traceViewer) record(r *xrayfdr.Record) {
	timed := x.trace != nil && (r.Kind.IsFunction() || r.TSC != 0)
	it := show.Item{Offset: r.Offset, Type: r.Kind.String(), Size: r.Size(), Timed: timed}
	if timed {
		it.Time = x.trace.Clock.Time(r.TSC)
	} else if r.Kind == xrayfdr.WallTime {
		it.Timed, it.Time = true, uint64(r.Seconds*1e9+int64(r.Microseconds)*1e3)
	}
	rec := *r
	if r.Kind != xrayfdr.NewBuffer {
		rec.TID = x.block.TID
	}
	x.Record(it, &rec, tables[r.Kind])
}

// add writes the data of an event, and says which code a function has.
func (x *traceViewer) add(o *show.Form, rec any) {
	r, ok := rec.(*xrayfdr.Record)
	switch {
	case !ok:
	case r.Kind.IsFunction():
		addr, size := x.program.place(r.Function)
		show.Mention(o, addr, size)
	case r.Kind == xrayfdr.CustomEvent || r.Kind == xrayfdr.TypedEvent:
		payload(o, r)
	}
}

// payload shows the data of an event: as text where it is one.
func payload(o *show.Form, r *xrayfdr.Record) {
	if show.IsPlain(bytes.ReplaceAll(r.Payload, []byte(" "), []byte("_"))) {
		o.Str("text", r.Payload)
	} else {
		o.ID("payload", r.Payload)
	}
}

// A program knows the functions of a program. A nil one knows none.
type program struct {
	functions *xraymap.Map
	names     []xraymap.Symbol
}

func openProgram(path string) (*program, error) {
	file, err := sys.Open(path)
	if err != nil {
		return nil, fmt.Errorf("the program: %w", err)
	}
	defer file.Close()
	f, err := elffile.Open(file)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	p := new(program)
	if p.functions, err = xraymap.Read(f); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	p.names = p.functions.Names(f)
	return p, nil
}

func (p *program) name(id uint32) string {
	if p == nil || uint64(id) >= uint64(len(p.names)) {
		return ""
	}
	return p.names[id].Name
}

// place returns where a function is in the program, and its size in bytes; 0 for one that is not known.
func (p *program) place(id uint32) (addr, size uint64) {
	if p == nil {
		return 0, 0
	}
	if uint64(id) < uint64(len(p.names)) {
		size = p.names[id].Size
	}
	addr, _ = p.functions.Address(id)
	return addr, size
}
