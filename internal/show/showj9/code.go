package showj9

import (
	"fmt"

	"github.com/jitinject/jitinject/internal/format/j9meta"
	"github.com/jitinject/jitinject/internal/show"
)

// Sections with entries about the code: exceptions, inlined sites, stack maps.

// What catch types are called that are no index into a constant pool.
const (
	catchesAny       = "any"
	catchesSynthetic = "synthetic"
)

// catchType says what a catch type means that is no index into the constant pool: all
// ones are handlers that the compiler made for on-stack replacement.
func (b *Body) catchType(e *j9meta.Exception) string {
	switch {
	case e.CatchType == 0:
		return catchesAny
	case e.Synthetic(b.Decoded.Header.WideExceptions()):
		return catchesSynthetic
	}
	return ""
}

// handlerMethod returns the site that an exception's handler belongs to, -1 for the
// body's own code, or else the pointer to the method. Bodies of AOT compilations and of a
// JITServer have the index of the site where others have that pointer.
func (b *Body) handlerMethod(e *j9meta.Exception) (site int, method uint64, isSite bool) {
	if !b.Decoded.Header.WideExceptions() {
		return -1, b.Decoded.Header.RAMMethod, true
	}
	ones := uint64(1)<<(8*b.Decoded.Layout.PointerSize-1)<<1 - 1
	switch {
	case e.Method == ones:
		return -1, 0, true
	case e.Method < uint64(len(b.Decoded.Sites)):
		return int(e.Method), 0, true
	}
	return 0, e.Method, false
}

// handlerName is the name of that method.
func (b *Body) handlerName(e *j9meta.Exception) string {
	site, method, isSite := b.handlerMethod(e)
	if isSite {
		return b.siteName(site)
	}
	return b.methodName(method, false)
}

// exceptions shows the exception info.
func (b *Body) exceptions() rowList {
	l := rowList{name: "entries"}
	for i := range b.Decoded.Exceptions {
		e := &b.Decoded.Exceptions[i]
		about := func(f *show.Filter) bool { return f.MatchesName([]byte(b.handlerName(e))) }
		if b.chosen(uint64(e.Start), uint64(e.End), about) || b.Filter != nil && b.chosen(uint64(e.Handler), uint64(e.Handler), about) {
			l.rows = append(l.rows, func() { b.exception(e) })
		}
	}
	return l
}

func (b *Body) exception(e *j9meta.Exception) {
	o, h := b.Out, &b.Decoded.Header
	o.Offset(uint64(e.Offset))
	o.Hex("startPC", uint64(e.Start))
	o.Hex("endPC", uint64(e.End))
	o.Hex("handlerPC", uint64(e.Handler))
	o.Named("catchType", uint64(e.CatchType), b.catchType(e))
	if site, method, isSite := b.handlerMethod(e); h.WideExceptions() && isSite {
		o.Signed("callerIndex", int64(site))
	} else if h.WideExceptions() {
		o.Hex("ramMethod", method)
	}
	if h.ExceptionBytecodes() {
		o.Num("byteCodeIndex", uint64(e.ByteCodeIndex))
	}
	b.method(b.handlerName(e))
}

// sites shows the inline info.
func (b *Body) sites() rowList {
	l := rowList{name: "entries"}
	for i := range b.Decoded.Sites {
		s := &b.Decoded.Sites[i]
		name := b.siteName(i)
		if b.Filter != nil && b.Filter.Address.Set || !b.chosen(0, 0, func(f *show.Filter) bool { return f.MatchesName([]byte(name)) }) {
			continue
		}
		l.rows = append(l.rows, func() {
			o := b.Out
			o.Offset(uint64(s.Offset))
			o.Num("index", uint64(i))
			o.Hex("methodInfo", s.Method)
			b.info(s.Info)
			b.spare("padding", s.Pad[:])
			o.ID("monitor_autos_map", s.Monitors)
			b.method(name)
		})
	}
	return l
}

// atlas shows the head of the stack atlas.
func (b *Body) atlas() {
	a, o := b.Decoded.Atlas, b.Out
	if a == nil {
		return
	}
	o.Hex("stackAllocMap", a.StackAllocMap)
	o.Hex("internalPointerMap", a.InternalPointerMap)
	o.Num("numberOfMaps", uint64(a.NumberOfMaps))
	o.Num("numberOfMapBytes", uint64(a.NumberOfMapBytes))
	o.Signed("parmBaseOffset", int64(a.ParmBaseOffset))
	o.Num("numberOfParmSlots", uint64(a.NumberOfParmSlots))
	o.Signed("localBaseOffset", int64(a.LocalBaseOffset))
	o.Num("paddingTo32", uint64(a.SyncObjectTempOffset))
	b.spare("padding", a.Pad[:])
	o.ID("monitor_autos_map", a.Monitors)
}

// stackMaps shows the maps of the stack atlas.
func (b *Body) stackMaps() rowList {
	l := rowList{name: "stack_maps"}
	if b.Decoded.Atlas == nil {
		return l
	}
	wanted := b.wantedMaps()
	for i := range b.Decoded.Atlas.Maps {
		if wanted == nil || wanted[i] {
			m := &b.Decoded.Atlas.Maps[i]
			l.rows = append(l.rows, func() { b.stackMap(i, m) })
		}
	}
	return l
}

// wantedMaps are the maps of code that is wanted; nil for all.
func (b *Body) wantedMaps() map[int]bool {
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

func (b *Body) stackMap(i int, m *j9meta.StackMap) {
	o := b.Out
	o.Offset(uint64(m.Offset))
	o.Num("index", uint64(i))
	o.Hex("lowest_code_offset", uint64(m.Low))
	b.spare("alignment", m.LowPad[:])
	if info := m.Info; !m.Gap() {
		info.DoNotProfile = false // map says it
		b.info(info)
	}
	if m.Shared {
		o.Word("map", "shared")
		return
	}
	o.Word("map", "own")
	if b.Decoded.Layout.HighWords {
		o.Hex("high_word_register_map", uint64(m.HighWord))
	}
	o.Hex("register_save_description", uint64(m.RegisterSave))
	o.Hex("register_map", uint64(m.RegisterMap))
	if m.Gap() {
		o.Word("kind", "gap")
	}
	if p := m.Pointers; p != nil {
		o.Num("internal_pointer_map_size", uint64(p.Size))
		b.pinningArrays(p.Arrays)
		if len(p.Extra) > 0 {
			o.ID("extra", p.Extra)
		}
	}
	o.ID("map_bits", m.Bits)
	if m.LiveMonitors != nil {
		o.ID("live_monitor_bits", m.LiveMonitors)
	}
}

// pinningArrays shows pinning arrays with what is derived from each.
func (b *Body) pinningArrays(arrays []j9meta.PinningArray) {
	o := b.Out
	if _, text := o.(*show.TextForm); text {
		o.Array("pinning_arrays")
		for _, a := range arrays {
			o.ElemWord(fmt.Sprintf("%d:%d", a.Index, a.Pointers))
		}
		o.EndArray()
		return
	}
	o.List("pinning_arrays")
	for _, a := range arrays {
		o.Row()
		o.Num("index", uint64(a.Index))
		o.Array("pointers")
		for _, p := range a.Pointers {
			o.ElemNum(uint64(p))
		}
		o.EndArray()
	}
	o.EndList()
}
