package show

import (
	"math"

	"github.com/jitinject/jitinject/internal/format/monolog"
)

// event shows an event if the filter lets it through.
func (m *monoViewer) event(e *monolog.Event) {
	m.known.learn(e)
	f := &m.opts.Filter
	name := monoType(e.Kind)
	if !f.typed(name) || !f.time(e.Time, true) || len(f.Names) > 0 && !m.wantedName(e) || f.Address.Set && !touchesMono(e, f.Address) {
		return
	}
	o := m.out
	o.begin(item{offset: e.Offset, typ: name, size: e.Length, time: e.Time, timed: true})
	switch e.Kind {
	case monolog.KindEnter, monolog.KindLeave, monolog.KindExcLeave:
		m.method(e)
	case monolog.KindJIT:
		o.hex("method", e.Method)
		o.hex("code_addr", e.Code)
		o.num("code_size", e.Size)
		o.str("name", e.Name)
	case monolog.KindJITHelper:
		o.named("helper", e.Sub, nameOf(monoHelpers, e.Sub))
		o.hex("code_addr", e.Code)
		o.num("code_size", e.Size)
		if len(e.Name) > 0 {
			o.str("name", e.Name)
		}
	case monolog.KindAlloc:
		m.object(e)
		o.num("object_size", e.Size)
	case monolog.KindClass, monolog.KindImage, monolog.KindAssembly, monolog.KindDomain, monolog.KindThread, monolog.KindContext, monolog.KindVTable:
		m.metadata(e)
	case monolog.KindThrow:
		o.hex("object", e.Object)
	case monolog.KindClause:
		o.named("clause", e.Sub, nameOf(monoClauses, e.Sub))
		o.num("index", e.Index)
		m.method(e)
		if e.Object != 0 {
			o.hex("object", e.Object)
		}
	case monolog.KindMonitor:
		o.named("event", e.Sub, nameOf(monoMonitors, e.Sub))
		o.hex("object", e.Object)
	case monolog.KindCoverageAssembly, monolog.KindCoverageMethod, monolog.KindCoverageStatement, monolog.KindCoverageClass:
		o.array("texts")
		for _, text := range e.Texts {
			o.elemStr(text)
		}
		o.endArray()
		o.array("numbers")
		for _, n := range e.Numbers {
			o.elem(n)
		}
		o.endArray()
	case monolog.KindSyncPoint:
		o.named("kind", e.Sub, nameOf(monoSyncPoints, e.Sub))
	case monolog.KindAOTID:
		o.str("name", e.Name)
	default:
		m.heapEvent(e)
	}
	if e.Dropped > 0 {
		o.num("left_out", e.Dropped)
	}
	m.frames(e)
	m.rawBytes(e.Offset, e.Length)
	o.end()
}

func (m *monoViewer) method(e *monolog.Event) {
	m.out.hex("method", e.Method)
	if name := m.known.methods.names[e.Method]; name != "" {
		m.out.str("name", []byte(name))
	}
}

// object shows an object and its class.
func (m *monoViewer) object(e *monolog.Event) {
	m.out.hex("object", e.Object)
	if m.header.Version >= 15 {
		m.out.hex("vtable", e.VTable)
	} else {
		m.out.hex("class", e.Class)
	}
	if name := m.known.class(e); name != "" {
		m.out.str("class_name", []byte(name))
	}
}

func (m *monoViewer) metadata(e *monolog.Event) {
	o := m.out
	o.named("load", uint64(e.Load), nameOf(monoLoads, uint64(e.Load)))
	if e.Info&monolog.LoadError != 0 && m.header.Version < 11 {
		o.word("error", "yes")
	}
	o.hex(e.Kind.String(), e.Pointer)
	switch e.Kind {
	case monolog.KindClass:
		o.hex("image", e.Image)
	case monolog.KindAssembly:
		if m.header.Version >= 14 {
			o.hex("image", e.Image)
		}
	case monolog.KindContext:
		o.hex("domain", e.Domain)
	case monolog.KindVTable:
		o.hex("domain", e.Domain)
		o.hex("class", e.Class)
		if name := m.known.classes.names[e.Class]; name != "" {
			o.str("class_name", []byte(name))
		}
		return
	}
	if len(e.Name) > 0 || e.Load == monolog.LoadName {
		o.str("name", e.Name)
	}
	if len(e.MVID) > 0 {
		o.str("mvid", e.MVID)
	}
	if e.Flags != 0 {
		o.hex("flags", e.Flags)
	}
}

// heapEvent shows what is about memory, and what Mono counts.
func (m *monoViewer) heapEvent(e *monolog.Event) {
	o := m.out
	switch e.Kind {
	case monolog.KindGCEvent:
		o.named("event", e.Sub, nameOf(monoGCEvents, e.Sub))
		o.num("generation", e.Generation)
	case monolog.KindGCResize:
		o.num("heap_size", e.Size)
	case monolog.KindGCMove:
		o.list("moves")
		for _, move := range e.Moves {
			o.row()
			o.hex("from", move.From)
			o.hex("to", move.To)
		}
		o.endList()
	case monolog.KindHandleCreated, monolog.KindHandleDestroyed:
		o.named("handle_type", e.Sub, nameOf(monoHandles, e.Sub))
		o.num("handle", e.Handle)
		if e.Kind == monolog.KindHandleCreated {
			o.hex("object", e.Object)
		}
	case monolog.KindFinalizeObjectStart, monolog.KindFinalizeObjectEnd:
		o.hex("object", e.Object)
	case monolog.KindHeapObject:
		m.object(e)
		o.num("object_size", e.Size)
		if m.header.Version >= 16 {
			o.num("generation", e.Generation)
		}
		o.list("references")
		for _, ref := range e.Refs {
			o.row()
			if m.header.Version >= 2 {
				o.num("field", ref.Offset)
			}
			o.hex("object", ref.Object)
		}
		o.endList()
	case monolog.KindHeapRoots:
		if m.header.Version < 15 {
			o.num("collection", e.Collection)
		}
		o.list("roots")
		for _, root := range e.Roots {
			o.row()
			if m.header.Version >= 15 {
				o.hex("addr", root.Address)
			}
			o.hex("object", root.Object)
			if m.header.Version < 15 {
				o.hex("root_type", root.Type)
				o.hex("extra", root.Extra)
			}
		}
		o.endList()
	case monolog.KindRootRegister:
		o.hex("addr", e.Pointer)
		o.num("root_size", e.Size)
		o.named("source", e.Sub, nameOf(monoRootSources, e.Sub))
		o.hex("key", e.Key)
		o.str("name", e.Name)
	case monolog.KindRootUnregister:
		o.hex("addr", e.Pointer)
	case monolog.KindSampleHit:
		o.named("sample_type", e.Sub, nameOf(monoSamples, e.Sub))
		o.hex("thread", e.Thread)
		o.array("ips")
		for _, ip := range e.IPs {
			o.elem(ip)
		}
		o.endArray()
	case monolog.KindSymbol, monolog.KindBinary:
		o.hex("addr", e.Pointer)
		o.num("symbol_size", e.Size)
		if e.Kind == monolog.KindBinary {
			o.hex("file_offset", e.FileOffset)
		}
		o.str("name", e.Name)
	case monolog.KindCounterDescs, monolog.KindCounters:
		m.counters(e)
	}
}

func (m *monoViewer) counters(e *monolog.Event) {
	o := m.out
	if e.Elapsed != 0 {
		o.num("elapsed_ms", e.Elapsed)
	}
	o.list("counters")
	for i := range e.CounterDescs {
		d := &e.CounterDescs[i]
		o.row()
		o.num("index", d.Index)
		o.str("name", d.Name)
		o.hex("section", d.Section)
		if len(d.SectionName) > 0 {
			o.str("section_name", d.SectionName)
		}
		o.named("counter_type", d.Type, nameOf(monoCounterTypes, d.Type))
		o.hex("unit", d.Unit)
		o.hex("variance", d.Variance)
	}
	for i := range e.Counters {
		c := &e.Counters[i]
		o.row()
		o.num("index", c.Index)
		if name := m.known.counters.names[c.Index]; name != "" {
			o.str("name", []byte(name))
		}
		o.named("counter_type", c.Type, nameOf(monoCounterTypes, c.Type))
		switch c.Type {
		case monolog.CounterUint, monolog.CounterUlong:
			o.num("added", c.Value)
		case monolog.CounterDouble:
			o.word("value", floatText(math.Float64frombits(c.Value)))
		case monolog.CounterString:
			if c.Text != nil {
				o.str("text", c.Text)
			}
		default:
			o.signed("added", int64(c.Value))
		}
	}
	o.endList()
}

// frames shows the methods that were running, in the order of the file.
func (m *monoViewer) frames(e *monolog.Event) {
	if len(e.Frames) == 0 {
		return
	}
	o := m.out
	o.list("frames")
	for i, method := range e.Frames {
		o.row()
		o.at("method", method)
		if name := m.known.methods.names[method]; name != "" {
			o.label("name", []byte(name))
		}
		if i < len(e.FrameOffsets) {
			o.signed("il_offset", e.FrameOffsets[i].IL)
			o.signed("native_offset", e.FrameOffsets[i].Native)
		}
	}
	o.endList()
}

// wantedName reports whether a name in an event, or that of what it is about, is one that
// is looked for.
func (m *monoViewer) wantedName(e *monolog.Event) bool {
	f := &m.opts.Filter
	if name := m.known.of(e); len(name) > 0 && f.name(name) {
		return true
	}
	for i := range e.CounterDescs {
		if f.name(e.CounterDescs[i].Name) {
			return true
		}
	}
	for i := range e.Counters {
		if name := m.known.counters.names[e.Counters[i].Index]; name != "" && f.name([]byte(name)) {
			return true
		}
	}
	for _, text := range e.Texts {
		if f.name(text) {
			return true
		}
	}
	return false
}

// touchesMono reports whether an event is about addresses of a range: of code, objects,
// or what Mono keeps about them.
func touchesMono(e *monolog.Event, r Range) bool {
	switch e.Kind {
	case monolog.KindJIT, monolog.KindJITHelper:
		return e.Code != 0 && r.touches(e.Code, e.Size) || e.Kind == monolog.KindJIT && r.touches(e.Method, 1)
	case monolog.KindAlloc, monolog.KindHeapObject:
		if r.touches(e.Object, e.Size) {
			return true
		}
	case monolog.KindRootRegister, monolog.KindSymbol, monolog.KindBinary:
		return r.touches(e.Pointer, e.Size)
	}
	for _, v := range [...]uint64{e.Method, e.Pointer, e.Class, e.VTable, e.Object, e.Thread} {
		if v != 0 && r.touches(v, 1) {
			return true
		}
	}
	for _, ip := range e.IPs {
		if r.touches(ip, 1) {
			return true
		}
	}
	for _, method := range e.Frames {
		if r.touches(method, 1) {
			return true
		}
	}
	for _, move := range e.Moves {
		if r.touches(move.From, 1) || r.touches(move.To, 1) {
			return true
		}
	}
	for _, ref := range e.Refs {
		if r.touches(ref.Object, 1) {
			return true
		}
	}
	for _, root := range e.Roots {
		if r.touches(root.Object, 1) || root.Address != 0 && r.touches(root.Address, 1) {
			return true
		}
	}
	return false
}
