package showmono

import (
	"math"

	"github.com/jitinject/jitinject/internal/format/monolog"
	"github.com/jitinject/jitinject/internal/show"
)

// event shows an event if the filter lets it through.
func (m *logViewer) event(e *monolog.Event) {
	m.known.learn(e)
	f := &m.Opts.Filter
	name := typeName(e.Kind)
	if !f.MatchesType(name) || !f.MatchesTime(e.Time, true) || len(f.Names) > 0 && !m.wantedName(e) || f.Address.Set && !meets(e, f.Address) {
		return
	}
	o := m.Out
	o.Begin(show.Item{Offset: e.Offset, Type: name, Size: e.Length, Time: e.Time, Timed: true})
	switch e.Kind {
	case monolog.KindEnter, monolog.KindLeave, monolog.KindExcLeave:
		m.method(e)
	case monolog.KindJIT:
		o.Hex("method", e.Method)
		o.Hex("code_addr", e.Code)
		o.Num("code_size", e.Size)
		o.Str("name", e.Name)
	case monolog.KindJITHelper:
		o.Named("helper", e.Sub, show.NameOf(helpers, e.Sub))
		o.Hex("code_addr", e.Code)
		o.Num("code_size", e.Size)
		if len(e.Name) > 0 {
			o.Str("name", e.Name)
		}
	case monolog.KindAlloc:
		m.object(e)
		o.Num("object_size", e.Size)
	case monolog.KindClass, monolog.KindImage, monolog.KindAssembly, monolog.KindDomain, monolog.KindThread, monolog.KindContext, monolog.KindVTable:
		m.metadata(e)
	case monolog.KindThrow:
		o.Hex("object", e.Object)
	case monolog.KindClause:
		o.Named("clause", e.Sub, show.NameOf(clauses, e.Sub))
		o.Num("index", e.Index)
		m.method(e)
		if e.Object != 0 {
			o.Hex("object", e.Object)
		}
	case monolog.KindMonitor:
		o.Named("event", e.Sub, show.NameOf(monitors, e.Sub))
		o.Hex("object", e.Object)
	case monolog.KindCoverageAssembly, monolog.KindCoverageMethod, monolog.KindCoverageStatement, monolog.KindCoverageClass:
		o.Array("texts")
		for _, text := range e.Texts {
			o.ElemStr(text)
		}
		o.EndArray()
		o.Array("numbers")
		for _, n := range e.Numbers {
			o.Elem(n)
		}
		o.EndArray()
	case monolog.KindSyncPoint:
		o.Named("kind", e.Sub, show.NameOf(syncPoints, e.Sub))
	case monolog.KindAOTID:
		o.Str("name", e.Name)
	default:
		m.heapEvent(e)
	}
	if e.Dropped > 0 {
		o.Num("left_out", e.Dropped)
	}
	m.frames(e)
	m.rawBytes(e.Offset, e.Length)
	o.End()
}

func (m *logViewer) method(e *monolog.Event) {
	m.Out.Hex("method", e.Method)
	if name := m.known.methods.names[e.Method]; name != "" {
		m.Out.Str("name", []byte(name))
	}
}

// object shows an object and its class.
func (m *logViewer) object(e *monolog.Event) {
	m.Out.Hex("object", e.Object)
	if m.header.Version >= 15 {
		m.Out.Hex("vtable", e.VTable)
	} else {
		m.Out.Hex("class", e.Class)
	}
	if name := m.known.class(e); name != "" {
		m.Out.Str("class_name", []byte(name))
	}
}

func (m *logViewer) metadata(e *monolog.Event) {
	o := m.Out
	o.Named("load", uint64(e.Load), show.NameOf(loads, uint64(e.Load)))
	if e.Info&monolog.LoadError != 0 && m.header.Version < 11 {
		o.Word("error", "yes")
	}
	o.Hex(e.Kind.String(), e.Pointer)
	switch e.Kind {
	case monolog.KindClass:
		o.Hex("image", e.Image)
	case monolog.KindAssembly:
		if m.header.Version >= 14 {
			o.Hex("image", e.Image)
		}
	case monolog.KindContext:
		o.Hex("domain", e.Domain)
	case monolog.KindVTable:
		o.Hex("domain", e.Domain)
		o.Hex("class", e.Class)
		if name := m.known.classes.names[e.Class]; name != "" {
			o.Str("class_name", []byte(name))
		}
		return
	}
	if len(e.Name) > 0 || e.Load == monolog.LoadName {
		o.Str("name", e.Name)
	}
	if len(e.MVID) > 0 {
		o.Str("mvid", e.MVID)
	}
}

// heapEvent shows what is about memory, and what Mono counts.
func (m *logViewer) heapEvent(e *monolog.Event) {
	o := m.Out
	switch e.Kind {
	case monolog.KindGCEvent:
		o.Named("event", e.Sub, show.NameOf(gcEvents, e.Sub))
		o.Num("generation", e.Generation)
	case monolog.KindGCResize:
		o.Num("heap_size", e.Size)
	case monolog.KindGCMove:
		o.List("moves")
		for _, move := range e.Moves {
			o.Row()
			o.Hex("from", move.From)
			o.Hex("to", move.To)
		}
		o.EndList()
	case monolog.KindHandleCreated, monolog.KindHandleDestroyed:
		o.Named("handle_type", e.Sub, show.NameOf(handles, e.Sub))
		o.Num("handle", e.Handle)
		if e.Kind == monolog.KindHandleCreated {
			o.Hex("object", e.Object)
		}
	case monolog.KindFinalizeObjectStart, monolog.KindFinalizeObjectEnd:
		o.Hex("object", e.Object)
	case monolog.KindHeapObject:
		m.object(e)
		o.Num("object_size", e.Size)
		if m.header.Version >= 16 {
			o.Num("generation", e.Generation)
		}
		o.List("references")
		for _, ref := range e.Refs {
			o.Row()
			if m.header.Version >= 2 {
				o.Num("field", ref.Offset)
			}
			o.Hex("object", ref.Object)
		}
		o.EndList()
	case monolog.KindHeapRoots:
		if m.header.Version < 15 {
			o.Num("collection", e.Collection)
		}
		o.List("roots")
		for _, root := range e.Roots {
			o.Row()
			if m.header.Version >= 15 {
				o.Hex("addr", root.Address)
			}
			o.Hex("object", root.Object)
			if m.header.Version < 15 {
				o.Hex("root_type", root.Type)
				o.Hex("extra", root.Extra)
			}
		}
		o.EndList()
	case monolog.KindRootRegister:
		o.Hex("addr", e.Pointer)
		o.Num("root_size", e.Size)
		o.Named("source", e.Sub, show.NameOf(rootSources, e.Sub))
		o.Hex("key", e.Key)
		o.Str("name", e.Name)
	case monolog.KindRootUnregister:
		o.Hex("addr", e.Pointer)
	case monolog.KindSampleHit:
		o.Named("sample_type", e.Sub, show.NameOf(samples, e.Sub))
		o.Hex("thread", e.Thread)
		o.Array("ips")
		for _, ip := range e.IPs {
			o.Elem(ip)
		}
		o.EndArray()
	case monolog.KindSymbol, monolog.KindBinary:
		o.Hex("addr", e.Pointer)
		o.Num("symbol_size", e.Size)
		if e.Kind == monolog.KindBinary {
			o.Hex("file_offset", e.FileOffset)
		}
		o.Str("name", e.Name)
	case monolog.KindCounterDescs, monolog.KindCounters:
		m.counters(e)
	}
}

func (m *logViewer) counters(e *monolog.Event) {
	o := m.Out
	if e.Elapsed != 0 {
		o.Num("elapsed_ms", e.Elapsed)
	}
	o.List("counters")
	for i := range e.CounterDescs {
		d := &e.CounterDescs[i]
		o.Row()
		o.Num("index", d.Index)
		o.Str("name", d.Name)
		o.Hex("section", d.Section)
		if len(d.SectionName) > 0 {
			o.Str("section_name", d.SectionName)
		}
		o.Named("counter_type", d.Type, show.NameOf(counterTypes, d.Type))
		o.Hex("unit", d.Unit)
		o.Hex("variance", d.Variance)
	}
	for i := range e.Counters {
		c := &e.Counters[i]
		o.Row()
		o.Num("index", c.Index)
		if name := m.known.counters.names[c.Index]; name != "" {
			o.Str("name", []byte(name))
		}
		o.Named("counter_type", c.Type, show.NameOf(counterTypes, c.Type))
		switch c.Type {
		case monolog.CounterUint, monolog.CounterUlong:
			o.Num("added", c.Value)
		case monolog.CounterDouble:
			o.Word("value", show.FloatText(math.Float64frombits(c.Value)))
		case monolog.CounterString:
			if c.Text != nil {
				o.Str("text", c.Text)
			}
		default:
			o.Signed("added", int64(c.Value))
		}
	}
	o.EndList()
}

// frames shows the methods that were running, in the order of the file.
func (m *logViewer) frames(e *monolog.Event) {
	if len(e.Frames) == 0 {
		return
	}
	o := m.Out
	o.List("frames")
	for i, method := range e.Frames {
		o.Row()
		o.At("method", method)
		if name := m.known.methods.names[method]; name != "" {
			o.Label("name", []byte(name))
		}
		if i < len(e.FrameOffsets) {
			o.Signed("il_offset", e.FrameOffsets[i].IL)
			o.Signed("native_offset", e.FrameOffsets[i].Native)
		}
	}
	o.EndList()
}

// wantedName reports whether a name in an event, or that of what it is about, is one that
// is looked for.
func (m *logViewer) wantedName(e *monolog.Event) bool {
	f := &m.Opts.Filter
	if name := m.known.of(e); len(name) > 0 && f.MatchesName(name) {
		return true
	}
	for i := range e.CounterDescs {
		if f.MatchesName(e.CounterDescs[i].Name) {
			return true
		}
	}
	for i := range e.Counters {
		if name := m.known.counters.names[e.Counters[i].Index]; name != "" && f.MatchesName([]byte(name)) {
			return true
		}
	}
	for _, text := range e.Texts {
		if f.MatchesName(text) {
			return true
		}
	}
	return false
}

// meets reports whether an event is about addresses of a range: of code, objects,
// or what Mono keeps about them.
func meets(e *monolog.Event, r show.Range) bool {
	switch e.Kind {
	case monolog.KindJIT, monolog.KindJITHelper:
		return e.Code != 0 && r.Meets(e.Code, e.Size) || e.Kind == monolog.KindJIT && r.Meets(e.Method, 1)
	case monolog.KindAlloc, monolog.KindHeapObject:
		if r.Meets(e.Object, e.Size) {
			return true
		}
	case monolog.KindRootRegister, monolog.KindSymbol, monolog.KindBinary:
		return r.Meets(e.Pointer, e.Size)
	}
	for _, v := range [...]uint64{e.Method, e.Pointer, e.Class, e.VTable, e.Object, e.Thread} {
		if v != 0 && r.Meets(v, 1) {
			return true
		}
	}
	for _, ip := range e.IPs {
		if r.Meets(ip, 1) {
			return true
		}
	}
	for _, method := range e.Frames {
		if r.Meets(method, 1) {
			return true
		}
	}
	for _, move := range e.Moves {
		if r.Meets(move.From, 1) || r.Meets(move.To, 1) {
			return true
		}
	}
	for _, ref := range e.Refs {
		if r.Meets(ref.Object, 1) {
			return true
		}
	}
	for _, root := range e.Roots {
		if r.Meets(root.Object, 1) || root.Address != 0 && r.Meets(root.Address, 1) {
			return true
		}
	}
	return false
}
