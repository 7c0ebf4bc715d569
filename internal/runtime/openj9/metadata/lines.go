package metadata

import (
	"cmp"
	"fmt"
	"math"
	"strings"

	"github.com/jitinject/jitinject/internal/format/j9meta"
	"github.com/jitinject/jitinject/internal/source"
	"github.com/jitinject/jitinject/internal/wire"
	"github.com/jitinject/jitinject/jitdump"
)

// Conversion of OpenJ9's metadata of a compiled body to lines and the tree of inlined calls. Its
// stack maps give the bytecode at each point where the garbage collector may run. Between two such
// points, the bytecode of the first one applies.

// A Code is code with OpenJ9's metadata: all of a body, or its warm or its cold part.
type Code struct {
	Body       *j9meta.Body
	Methods    []jitdump.JavaMethod // known methods that Body refers to
	Addr, Size uint64               // of the code
	Name       []byte               // name of the body's own method, if Methods lacks it
}

// Lines is the result of reading the metadata of code.
type Lines struct {
	Info     *jitdump.DebugInfo2 // offsets count from Code.Addr
	Listings []source.MadeText   // files of Info without a source file, one for each name
}

// Lines returns the lines and inlined calls of the code. With an error, code in calls that do not
// exist is the method's own, or Info is nil. Offsets of a *wire.Error count from the start of the
// metadata.
func (c *Code) Lines() (Lines, error) {
	first, size, err := c.part()
	if err != nil {
		return Lines{}, err
	}
	t := newJ9Tree(c)
	ranges := c.Body.Ranges()
	bad := t.read(ranges)
	info, err := t.build(ranges, first, size)
	return Lines{Info: info, Listings: t.listings()}, cmp.Or(bad, err)
}

// OnlyListings returns the Listings of Lines, at much lower cost.
func (c *Code) OnlyListings() []source.MadeText {
	if _, _, err := c.part(); err != nil {
		return nil
	}
	t := newJ9Tree(c)
	_ = t.read(c.Body.Ranges()) // Lines reports the error
	return t.listings()
}

// part returns the code's offset from startPC, and its size, both in bytes. Code of another size
// than the part belongs to another function, which was loaded there later.
func (c *Code) part() (first, size uint32, err error) {
	h := &c.Body.Header
	switch {
	case h.Flags&j9meta.IsStub != 0:
		return 0, 0, c.fault("flags", fmt.Sprintf("are %s: it is left from freed code, and does not describe it", h.Flags))
	case h.Flags&j9meta.NotInitialized != 0:
		return 0, 0, c.fault("flags", fmt.Sprintf("are %s: it was copied before the compiler had finished it", h.Flags))
	}
	if c.Size > math.MaxUint32 {
		return 0, 0, fmt.Errorf("%s: code of %#x bytes; no method has as much", j9meta.FormatName, c.Size)
	}
	start, end := h.Warm()
	coldStart, coldEnd := h.Cold()
	field, last := "startPC", "endWarmPC"
	if c.Addr != start && coldStart != 0 && c.Addr == coldStart {
		start, end, field, last = coldStart, coldEnd, "startColdPC", "endPC"
	}
	switch {
	case c.Addr != start:
		text := fmt.Sprintf("is %#x; the code is at %#x", h.StartPC, c.Addr)
		if coldStart != 0 {
			text = fmt.Sprintf("is %#x, and startColdPC %#x; the code is at %#x", h.StartPC, coldStart, c.Addr)
		}
		return 0, 0, c.fault("startPC", text)
	case end < start || end-h.StartPC > math.MaxUint32 || start < h.StartPC:
		return 0, 0, c.fault(field, fmt.Sprintf("is %#x, and the code ends at %#x", start, end))
	case end-start != c.Size:
		return 0, 0, c.fault(last, fmt.Sprintf("is %#x, so that there are %d bytes of code; the function has %d: it is another", end, end-start, c.Size))
	}
	return uint32(start - h.StartPC), uint32(c.Size), nil
}

// fault returns an error about a field of the header. The field is one of the first, which are
// pointers, or the flags, which come after 16 more bytes of numbers.
func (c *Code) fault(field, text string) error {
	at := map[string]int{"startPC": 5, "endWarmPC": 6, "startColdPC": 7, "endPC": 8, "flags": 10}[field] * c.Body.Layout.PointerSize
	if field == "flags" {
		at += 16
	}
	return &wire.Error{Format: j9meta.FormatName, Record: j9meta.ExceptionTable.String(), Field: field, Offset: int64(at), Text: text}
}

// A tree is the tree of a body's inlined calls.
type tree struct {
	*Code
	builder jitdump.InlineBuilder
	methods map[uint64]*jitdump.JavaMethod // by address
	made    map[methodKey]*method
	texts   map[string]*listingText // listings, by file
	files   map[string]string       // source files, each string once
	named   int                     // total length of names and files, in bytes
	outer   *method
	sites   []inlineSite
}

// A methodKey identifies a method. All unloaded methods have one key, because nothing distinguishes
// them.
type methodKey struct {
	method   uint64
	unloaded bool
}

// An inlineSite is the state of an inlined call.
type inlineSite struct {
	known  bool
	err    *wire.Error // it is in no existing call
	call   jitdump.CallID
	depth  int
	method *method // method with the code
}

func newJ9Tree(c *Code) *tree {
	t := &tree{
		Code: c, methods: make(map[uint64]*jitdump.JavaMethod, len(c.Methods)), made: make(map[methodKey]*method),
		texts: make(map[string]*listingText), files: make(map[string]string), sites: make([]inlineSite, len(c.Body.Sites)),
	}
	for i := range c.Methods {
		if m := &c.Methods[i]; t.methods[m.Method] == nil {
			t.methods[m.Method] = m
		}
	}
	t.outer = t.method(c.Body.Header.RAMMethod, false, c.Name)
	return t
}

// read finds the calls of the bytecodes of all ranges. The error, a *wire.Error, is about a
// bytecode in no existing call.
func (t *tree) read(ranges []j9meta.Range) error {
	var first *wire.Error
	for i := range ranges {
		r := &ranges[i]
		if t.isGap(r) {
			continue
		}
		at, err := t.place(r.Info)
		switch {
		case err == nil:
			at.method.code(at.index, r.Start, r.End)
		case first == nil:
			first = err
			if err.Field == "" {
				first.Field, first.Offset = "callerIndex", int64(t.Body.Atlas.Maps[r.Map].Offset)
			}
		}
	}
	if first != nil {
		return first
	}
	return nil
}

// isGap reports whether a range has no bytecode.
func (t *tree) isGap(r *j9meta.Range) bool { return t.Body.Atlas.Maps[r.Map].Gap() }

// A place is a bytecode in a call.
type place struct {
	call   jitdump.CallID
	method *method
	index  int
}

// place returns the place of a bytecode.
func (t *tree) place(info j9meta.ByteCodeInfo) (place, *wire.Error) {
	if info.CallerIndex < 0 {
		return place{jitdump.Outer, t.outer, info.ByteCodeIndex}, nil
	}
	s, err := t.site(info.CallerIndex)
	if err != nil {
		return place{}, err
	}
	return place{s.call, s.method, info.ByteCodeIndex}, nil
}

// site returns the state of a site, which it enters once, after its caller. The compiler numbers
// callers before what they call.
func (t *tree) site(i int) (*inlineSite, *wire.Error) {
	if i >= len(t.sites) {
		return nil, &wire.Error{Format: j9meta.FormatName, Record: j9meta.StackAtlasSection.String(), Text: fmt.Sprintf("is %d; there are %d sites", i, len(t.sites))}
	}
	s := &t.sites[i]
	if s.known {
		return s, s.err
	}
	s.known = true
	switch caller := t.Body.Sites[i].Info.CallerIndex; {
	case caller >= i:
		s.err = t.siteFault(i, "site %d is in site %d, which is no earlier one", i, caller)
	case caller >= 0:
		_, s.err = t.site(caller)
	}
	if s.err == nil {
		s.err = t.enter(i)
	}
	return s, s.err
}

// siteFault returns an error about a site.
func (t *tree) siteFault(site int, format string, args ...any) *wire.Error {
	return &wire.Error{Format: j9meta.FormatName, Record: j9meta.InlineInfo.String(), Field: "callerIndex",
		Offset: int64(t.Body.Sites[site].Offset + t.Body.Layout.PointerSize), Text: fmt.Sprintf(format, args...)}
}

// enter makes the call of a site with a known caller.
func (t *tree) enter(i int) *wire.Error {
	s, site := &t.sites[i], &t.Body.Sites[i]
	caller := inlineSite{call: jitdump.Outer, depth: -1, method: t.outer}
	if at := site.Info.CallerIndex; at >= 0 {
		caller = t.sites[at]
	}
	if caller.depth == jitdump.MaxDepth {
		return t.siteFault(i, "site %d is more than %d calls deep", i, jitdump.MaxDepth)
	}
	index := site.Info.ByteCodeIndex
	s.depth = caller.depth + 1
	s.method = t.method(site.Method, t.Body.Layout.Unloaded(site.Method), nil)
	s.call = t.builder.Inline(caller.call, s.method.id, caller.method.line(index), jitdump.NoColumn)
	caller.method.inlines(index, s.method)
	return nil
}

// build returns the record for a part of the body's code, of size bytes from first on. Code without
// a map belongs to the method itself. Usually it precedes the first map.
func (t *tree) build(ranges []j9meta.Range, first, size uint32) (*jitdump.DebugInfo2, error) {
	next := uint32(0) // end of the rows so far
	own := func() { t.builder.At(next, jitdump.Outer, t.outer.line(-1), jitdump.NoColumn) }
	for i := range ranges {
		r := &ranges[i]
		from, to := max(r.Start, first), min(r.End, first+size)
		if from >= to {
			continue
		}
		if from-first > next {
			own()
		}
		call, line := jitdump.Outer, uint32(0) // none
		if !t.isGap(r) {
			if place, err := t.place(r.Info); err == nil {
				call, line = place.call, place.method.line(place.index)
			}
		}
		t.builder.At(from-first, call, line, jitdump.NoColumn)
		next = to - first
	}
	if next < size {
		own()
	}
	info, err := t.builder.Record(size)
	if err == nil {
		return info, nil
	}
	at := int64(0)
	if a := t.Body.Atlas; a != nil && len(a.Maps) > 0 {
		at = int64(a.Maps[0].Offset)
	}
	text := strings.TrimPrefix(err.Error(), fmt.Sprintf("%s: %s: ", jitdump.FormatName, jitdump.IDDebugInfo2))
	return nil, &wire.Error{Format: j9meta.FormatName, Record: j9meta.StackAtlasSection.String(), Field: "maps", Offset: at, Text: "make inlined calls of " + text}
}
