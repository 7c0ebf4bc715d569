package show

import (
	"fmt"

	"github.com/jitinject/jitinject/internal/format/j9meta"
)

// Sections whose entries are about the code: exceptions, inlined sites, stack maps.

// What catch types are called that are no index into a constant pool.
const (
	j9Any       = "any"
	j9Synthetic = "synthetic"
)

// catchType says what a catch type means that is no index into the constant pool: all
// ones are handlers that the compiler made for on-stack replacement.
func (b *j9Body) catchType(e *j9meta.Exception) string {
	switch {
	case e.CatchType == 0:
		return j9Any
	case e.Synthetic(b.body.Header.WideExceptions()):
		return j9Synthetic
	}
	return ""
}

// handlerMethod returns the site whose code an exception's handler is of, -1 for the
// body's own, or else the pointer to the method. Bodies of AOT compilations and of a
// JITServer have the index of the site where others have that pointer.
func (b *j9Body) handlerMethod(e *j9meta.Exception) (site int, method uint64, isSite bool) {
	if !b.body.Header.WideExceptions() {
		return -1, b.body.Header.RAMMethod, true
	}
	ones := uint64(1)<<(8*b.body.Layout.PointerSize-1)<<1 - 1
	switch {
	case e.Method == ones:
		return -1, 0, true
	case e.Method < uint64(len(b.body.Sites)):
		return int(e.Method), 0, true
	}
	return 0, e.Method, false
}

// handlerName is the name of that method.
func (b *j9Body) handlerName(e *j9meta.Exception) string {
	site, method, isSite := b.handlerMethod(e)
	if isSite {
		return b.siteName(site)
	}
	return b.methodName(method, false)
}

// exceptions shows the exception info.
func (b *j9Body) exceptions() j9List {
	l := j9List{name: "entries"}
	for i := range b.body.Exceptions {
		e := &b.body.Exceptions[i]
		about := func(f *Filter) bool { return f.name([]byte(b.handlerName(e))) }
		if b.chosen(uint64(e.Start), uint64(e.End), about) || b.filter != nil && b.chosen(uint64(e.Handler), uint64(e.Handler), about) {
			l.rows = append(l.rows, func() { b.exception(e) })
		}
	}
	return l
}

func (b *j9Body) exception(e *j9meta.Exception) {
	o, h := b.out, &b.body.Header
	o.offset(uint64(e.Offset))
	o.hex("startPC", uint64(e.Start))
	o.hex("endPC", uint64(e.End))
	o.hex("handlerPC", uint64(e.Handler))
	o.named("catchType", uint64(e.CatchType), b.catchType(e))
	if site, method, isSite := b.handlerMethod(e); h.WideExceptions() && isSite {
		o.signed("callerIndex", int64(site))
	} else if h.WideExceptions() {
		o.hex("ramMethod", method)
	}
	if h.ExceptionBytecodes() {
		o.num("byteCodeIndex", uint64(e.ByteCodeIndex))
	}
	b.method(b.handlerName(e))
}

// sites shows the inline info.
func (b *j9Body) sites() j9List {
	l := j9List{name: "entries"}
	for i := range b.body.Sites {
		s := &b.body.Sites[i]
		name := b.siteName(i)
		if b.filter != nil && b.filter.Address.Set || !b.chosen(0, 0, func(f *Filter) bool { return f.name([]byte(name)) }) {
			continue
		}
		l.rows = append(l.rows, func() {
			o := b.out
			o.offset(uint64(s.Offset))
			o.num("index", uint64(i))
			o.hex("methodInfo", s.Method)
			b.info(s.Info)
			b.spare("padding", s.Pad[:])
			o.id("monitor_autos_map", s.Monitors)
			b.method(name)
		})
	}
	return l
}

// atlas shows the head of the stack atlas.
func (b *j9Body) atlas() {
	a, o := b.body.Atlas, b.out
	if a == nil {
		return
	}
	o.hex("stackAllocMap", a.StackAllocMap)
	o.hex("internalPointerMap", a.InternalPointerMap)
	o.num("numberOfMaps", uint64(a.NumberOfMaps))
	o.num("numberOfMapBytes", uint64(a.NumberOfMapBytes))
	o.signed("parmBaseOffset", int64(a.ParmBaseOffset))
	o.num("numberOfParmSlots", uint64(a.NumberOfParmSlots))
	o.signed("localBaseOffset", int64(a.LocalBaseOffset))
	o.num("paddingTo32", uint64(a.SyncObjectTempOffset))
	b.spare("padding", a.Pad[:])
	o.id("monitor_autos_map", a.Monitors)
}

// stackMaps shows the maps of the stack atlas.
func (b *j9Body) stackMaps() j9List {
	l := j9List{name: "stack_maps"}
	if b.body.Atlas == nil {
		return l
	}
	wanted := b.wantedMaps()
	for i := range b.body.Atlas.Maps {
		if wanted == nil || wanted[i] {
			m := &b.body.Atlas.Maps[i]
			l.rows = append(l.rows, func() { b.stackMap(i, m) })
		}
	}
	return l
}

// wantedMaps are the maps of code that is wanted; nil for all.
func (b *j9Body) wantedMaps() map[int]bool {
	if !b.picky() {
		return nil
	}
	wanted := make(map[int]bool)
	b.codeRanges(func(r j9meta.Range) {
		if b.rangeChosen(&r) {
			wanted[r.Map] = true
		}
	})
	return wanted
}

func (b *j9Body) stackMap(i int, m *j9meta.StackMap) {
	o := b.out
	o.offset(uint64(m.Offset))
	o.num("index", uint64(i))
	o.hex("lowest_code_offset", uint64(m.Low))
	b.spare("alignment", m.LowPad[:])
	if info := m.Info; !m.Gap() {
		info.DoNotProfile = false // map says it
		b.info(info)
	}
	if m.Shared {
		o.word("map", "shared")
		return
	}
	o.word("map", "own")
	if b.body.Layout.HighWords {
		o.hex("high_word_register_map", uint64(m.HighWord))
	}
	o.hex("register_save_description", uint64(m.RegisterSave))
	o.hex("register_map", uint64(m.RegisterMap))
	if m.Gap() {
		o.word("kind", "gap")
	}
	if p := m.Pointers; p != nil {
		o.num("internal_pointer_map_size", uint64(p.Size))
		b.pinningArrays(p.Arrays)
		if len(p.Extra) > 0 {
			o.id("extra", p.Extra)
		}
	}
	o.id("map_bits", m.Bits)
	if m.LiveMonitors != nil {
		o.id("live_monitor_bits", m.LiveMonitors)
	}
}

// pinningArrays shows pinning arrays with what is derived from each.
func (b *j9Body) pinningArrays(arrays []j9meta.PinningArray) {
	o := b.out
	if _, text := o.(*textForm); text {
		o.array("pinning_arrays")
		for _, a := range arrays {
			o.elemWord(fmt.Sprintf("%d:%d", a.Index, a.Pointers))
		}
		o.endArray()
		return
	}
	o.list("pinning_arrays")
	for _, a := range arrays {
		o.row()
		o.num("index", uint64(a.Index))
		o.array("pointers")
		for _, p := range a.Pointers {
			o.elemNum(uint64(p))
		}
		o.endArray()
	}
	o.endList()
}
