package showj9

import (
	"bytes"
	"fmt"
	"math"
	"path/filepath"

	"github.com/jitinject/jitinject/internal/format/j9meta"
	"github.com/jitinject/jitinject/internal/runtime/openj9"
	"github.com/jitinject/jitinject/internal/runtime/openj9/metadata"
	"github.com/jitinject/jitinject/internal/show"
	"github.com/jitinject/jitinject/jitdump"
)

// A Body shows OpenJ9's metadata of one compiled body, section by section as it lies
// in memory. Fields are called as OpenJ9's structures call them; what no structure
// describes, as its document on the J9JITExceptionTable does.
type Body struct {
	*j9meta.Body
	Methods []jitdump.JavaMethod // of which names and lines are known

	view   *show.Viewer
	known  map[uint64]method
	pieces []codeRange
	byMap  map[int][]*codeRange // the pieces of each stack map
	frames []j9meta.Frame       // of the piece at hand
}

// inlineStacks is what the inlined calls at each part of the code are shown as. They are
// no section, but what inline info and stack maps mean together.
const inlineStacks = "Inline Stacks"

// Types are the types of items that bodies are shown as.
var Types = func() (names []string) {
	for k := j9meta.ExceptionTable; k <= j9meta.Other; k++ {
		names = append(names, k.String())
	}
	return append(names, inlineStacks)
}()

// Show shows all sections, by the filter of v for types, names and addresses: whoever calls it has
// found the process and the time to be wanted. first has the offset of the metadata in the file, and
// the time of the sections.
func (b *Body) Show(v *show.Viewer, first show.Item) {
	w, opts := *v, *v.Opts
	opts.Filter.PIDs, opts.Filter.Time = nil, show.Range{}
	w.Opts, w.Known, w.Add = &opts, b.nameOf, b.add
	b.view, b.known = &w, methodsOf(b.Methods)
	b.findPieces()
	for i := range b.Sections {
		s := &b.Sections[i]
		it := first
		it.Type, it.Offset, it.Size = s.Kind.String(), first.Offset+int64(s.Offset), int64(s.Size)
		w.Record(it, b.record(s.Kind), nil)
	}
	if len(b.pieces) > 0 {
		first.Type, first.Offset, first.Size = inlineStacks, -1, -1
		w.Record(first, &struct {
			Ranges []codeRange `show:"ranges,picked"`
		}{b.pieces}, nil)
	}
}

// record returns what is in a section: a pointer to a struct.
func (b *Body) record(kind j9meta.SectionKind) any {
	switch {
	case kind == j9meta.ExceptionTable:
		return &struct {
			Fields []j9meta.Header `show:"fields"`
		}{[]j9meta.Header{b.Header}}
	case kind == j9meta.InlineInfo:
		return &struct {
			Entries []j9meta.InlinedSite `show:"entries,picked"`
		}{b.Sites}
	case kind == j9meta.StackAtlasSection && b.Atlas != nil:
		return b.Atlas
	}
	return &struct{}{}
}

// A codeRange is code with one stack map.
type codeRange struct {
	Addr  uint64 `show:"addr,at"`
	Start uint32 `show:"start,hex"` // offsets from startPC
	End   uint32 `show:"end,hex"`
	Map   int    `show:"stack_map"`
	Own   bool   `show:"own"` // the map says where objects are
	info  j9meta.ByteCodeInfo
	gap   bool
}

// findPieces finds the ranges of stack maps. One that goes across from the warm to the cold part has
// two pieces: what lies between is other code.
func (b *Body) findPieces() {
	h := &b.Header
	parts := [][2]uint64{{0, math.MaxUint32}}
	if start, end := h.Cold(); start > h.EndWarmPC && h.EndWarmPC > h.StartPC && end > start {
		parts = [][2]uint64{{0, h.EndWarmPC - h.StartPC}, {start - h.StartPC, end - h.StartPC}}
	}
	ranges := b.Ranges()
	b.pieces, b.byMap = make([]codeRange, 0, len(ranges)+1), make(map[int][]*codeRange)
	for _, r := range ranges {
		for _, p := range parts {
			start, end := max(uint64(r.Start), p[0]), min(uint64(r.End), p[1])
			if start < end && len(b.pieces) < cap(b.pieces) {
				b.pieces = append(b.pieces, codeRange{h.StartPC + start, uint32(start), uint32(end), r.Map, !r.Shared, r.Info, b.Atlas.Maps[r.Map].Gap()})
				b.byMap[r.Map] = append(b.byMap[r.Map], &b.pieces[len(b.pieces)-1])
			}
		}
	}
}

// nameOf returns the name of a pointer to a method.
func (b *Body) nameOf(key string, method uint64) (string, string) {
	if key == "methodInfo" && b.Layout.Unloaded(method) {
		return "method", "[unloaded]"
	}
	return "method", b.known[method].name
}

// add writes what is no field of a part of the metadata, and says what entries are about.
func (b *Body) add(o *show.Form, rec any) {
	switch r := rec.(type) {
	case *j9meta.StackMap:
		if r.Gap() {
			o.Word("kind", "gap")
		}
		if show.Matching(o) {
			for _, piece := range b.byMap[b.view.Row] {
				b.stack(o, piece)
			}
		}
	case *codeRange:
		b.stack(o, r)
	}
}

// A frame is a method that was running: the compiled one, or one that is inlined.
type frame struct {
	Site   int    `show:"site"`
	Method uint64 `show:"method,hex"`
	Name   string `show:"name,opt"`
	Index  int    `show:"byteCodeIndex"`
	file   string
	line   uint32
}

// maxFrames bounds the frames of a stack that are shown. Compilers inline some levels deep.
const maxFrames = 256

// stack writes which methods are inlined at a part of the code, the innermost one first.
func (b *Body) stack(o *show.Form, r *codeRange) {
	show.Mention(o, r.Addr, uint64(r.End-r.Start))
	if r.gap {
		o.Word("kind", "gap")
		return
	}
	b.frames = b.Stack(b.frames[:0], r.info)
	o.List("stack")
	for _, f := range b.frames[:min(len(b.frames), maxFrames)] {
		shown := frame{Site: f.Site, Method: f.Method, Name: "[unloaded]", Index: f.ByteCodeIndex}
		if !f.Unloaded {
			m := b.known[f.Method]
			shown.Name, shown.file, shown.line = m.name, m.file, metadata.LineOf(m.lines, f.ByteCodeIndex)
		}
		show.MentionShared(o, shown.Name)
		if show.Matching(o) {
			continue
		}
		o.Row()
		b.view.Fields(o, &shown, nil)
		if shown.line != 0 {
			o.Place([]byte(shown.file), uint64(shown.line), 0)
		}
	}
	o.EndList()
	if more := len(b.frames) - maxFrames; more > 0 {
		o.Num("more", uint64(more))
	}
}

// A method has the names and places of a method, but not its pointer.
type method struct {
	name, file string             // java.lang.String.charAt(I)C
	lines      []jitdump.JavaLine // of growing bytecode indexes
}

// methodsOf returns methods by their pointers. Of several at one address, the first counts.
func methodsOf(list []jitdump.JavaMethod) map[uint64]method {
	known := make(map[uint64]method, len(list))
	for i := range list {
		m := &list[i]
		if _, again := known[m.Method]; !again {
			known[m.Method] = method{metadata.JavaName(m), metadata.JavaFile(m), metadata.InOrder(m.Lines)}
		}
	}
	return known
}

// A methodTable has what is known of methods.
type methodTable struct {
	Methods []jitdump.JavaMethod `show:"methods"`
}

// Format is the format of captures.
var Format = show.Format{Named: j9meta.IsCapturePair, Show: showCapture, Types: append(Types, "methods")}

// showCapture shows metadata of OpenJ9 in a file of its own.
func showCapture(v *show.Viewer) error {
	c, err := openj9.ReadCapture(v.Path, "", func(string) error { return nil })
	if err != nil {
		return err
	}
	if err := v.NoCode("OpenJ9's metadata"); err != nil {
		return err
	}
	v.Path, v.Raw = c.Path, bytes.NewReader(c.Metadata) // that offsets are in
	v.Begun(j9meta.FormatName)
	time := uint64(0)
	if c.Time != nil {
		time = *c.Time
	}
	v.Fields(v.Out, &struct {
		JSON    string `show:"json"`
		Base    uint64 `show:"base,hex"`
		StartPC uint64 `show:"startPC,hex"`
		Pointer uint64 `show:"pointer_size"`
		Order   string `show:"order"`
		Machine uint16 `show:"elf_mach,machine,opt"`
		PID     uint32 `show:"pid,opt"`
		Time    uint64 `show:"time,time,opt"`
	}{filepath.Base(c.JSONPath), uint64(c.Base), uint64(c.StartPC), uint64(c.Layout.PointerSize), show.OrderName(c.Layout.Order), uint16(c.Layout.Machine), c.PID, time}, nil)
	v.Out.End()
	if f := &v.Opts.Filter; !f.MatchesPID(c.PID) || !f.MatchesTime(time, c.Time != nil) {
		return nil
	}
	methods := openj9.JavaMethods(c)
	if len(methods) > 0 {
		v.Summary(show.Item{Offset: -1, Type: "methods", Size: -1}, &methodTable{methods})
	}
	decoded, bad := j9meta.Decode(c.Metadata, uint64(c.Base), c.Layout)
	b := Body{Body: decoded, Methods: methods}
	b.Show(v, show.Item{})
	switch {
	case bad != nil:
		v.Problem(show.OffsetOf(bad, -1), bad)
	case decoded.Header.StartPC != uint64(c.StartPC):
		v.Problem(-1, fmt.Errorf("startPC is %#x in the metadata, and %#x in %s: they are of different bodies, or its machine is wrong",
			decoded.Header.StartPC, uint64(c.StartPC), filepath.Base(c.JSONPath)))
	}
	return nil
}
