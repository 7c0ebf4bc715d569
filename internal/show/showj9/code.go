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

func (b *Body) exception(o show.Form, e *j9meta.Exception) {
	if show.Matching(o) {
		about := func(f *show.Filter) bool { return f.MatchesName([]byte(b.handlerName(e))) }
		match(o, b.chosen(uint64(e.Start), uint64(e.End), about) || b.chosen(uint64(e.Handler), uint64(e.Handler), about))
		return
	}
	h := &b.Decoded.Header
	o.Named("catchType", uint64(e.CatchType), b.catchType(e))
	if site, method, isSite := b.handlerMethod(e); h.WideExceptions() && isSite {
		o.Signed("callerIndex", int64(site))
	} else if h.WideExceptions() {
		o.Hex("ramMethod", method)
	}
	if h.ExceptionBytecodes() {
		o.Num("byteCodeIndex", uint64(e.ByteCodeIndex))
	}
	writeMethod(o, b.handlerName(e))
}

// picky reports whether not everything is shown.
func (b *Body) picky() bool { return len(b.filter.Names) > 0 || b.filter.Address.Set }

// wantedMap reports whether the filter is about code of a map.
func (b *Body) wantedMap(i int) bool {
	if b.wanted == nil {
		b.wanted = make(map[int]bool)
		b.codeRanges(func(r j9meta.Range) {
			if b.rangeChosen(&r) {
				b.wanted[r.Map] = true
			}
		})
	}
	return b.wanted[i]
}

func (b *Body) stackMap(o show.Form, m *j9meta.StackMap) {
	if i := m.Info; !m.Gap() {
		i.DoNotProfile = false // map says it
		b.view.Fields(o, &i, nil)
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
		pinningArrays(o, p.Arrays)
		spare(o, "extra", p.Extra)
	}
	o.ID("map_bits", m.Bits)
	if m.LiveMonitors != nil {
		o.ID("live_monitor_bits", m.LiveMonitors)
	}
}

// pinningArrays shows pinning arrays with what is derived from each.
func pinningArrays(o show.Form, arrays []j9meta.PinningArray) {
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
