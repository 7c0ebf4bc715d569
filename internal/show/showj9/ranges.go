package showj9

import (
	"fmt"
	"slices"

	"github.com/jitinject/jitinject/internal/format/j9meta"
	"github.com/jitinject/jitinject/internal/show"
)

// Inline stacks: the code by stack maps, and through which inlined calls each range is reached.

// rangeChosen reports whether a range is wanted.
func (b *Body) rangeChosen(r *j9meta.Range) bool {
	return b.chosen(uint64(r.Start), uint64(r.End), func(*show.Filter) bool { return !b.isGap(r) && b.stackNamed(r.Info.CallerIndex) })
}

// isGap reports whether a range has no byte code.
func (b *Body) isGap(r *j9meta.Range) bool { return b.Decoded.Atlas.Maps[r.Map].Gap() }

// stackNamed reports whether the stack of a site, -1 for that of the body alone, has a name that
// is wanted. Each site is looked at once.
func (b *Body) stackNamed(site int) bool {
	const no, yes = 1, 2
	if b.named == nil {
		b.named = make([]uint8, len(b.Decoded.Sites))
	}
	result := uint8(no)
	var path []int
	for site < len(b.named) {
		if site < 0 {
			if b.filter.MatchesName([]byte(b.siteName(-1))) {
				result = yes
			}
			break
		}
		if b.named[site] != 0 {
			result = b.named[site]
			break
		}
		b.named[site] = no // if that leads back here
		path = append(path, site)
		if b.filter.MatchesName([]byte(b.siteName(site))) {
			result = yes
			break
		}
		site = b.Decoded.Sites[site].Info.CallerIndex
	}
	for _, s := range path {
		b.named[s] = result
	}
	return result == yes
}

// codeRange writes which methods are inlined at a part of the code, the innermost one first.
func (b *Body) codeRange(o show.Form, r *j9meta.Range) {
	start := b.Decoded.Header.StartPC
	if t, text := o.(*show.TextForm); text {
		t.At("", start+uint64(r.Start))
		t.Raw(fmt.Sprintf("%#x-%#x ", r.Start, r.End))
	} else {
		o.Hex("addr", start+uint64(r.Start))
		o.Hex("start", uint64(r.Start))
		o.Hex("end", uint64(r.End))
	}
	o.Num("stack_map", uint64(r.Map))
	if r.Shared {
		o.Word("map", "shared")
	} else {
		o.Word("map", "own")
	}
	if b.isGap(r) {
		o.Word("kind", "gap")
		return
	}
	b.frames = b.Decoded.Stack(b.frames[:0], r.Info)
	b.stack(o, "stack", b.frames)
	if slices.ContainsFunc(b.frames, func(f j9meta.Frame) bool { return f.Unloaded }) {
		b.stack(o, "vm_stack", b.Decoded.VMStack(nil, r.Info))
	}
}

// maxFrames is how many frames are shown of all ranges of a body. A compiler inlines some levels deep;
// what is made up can be as deep everywhere as it has sites.
const maxFrames = 1 << 20

// stack shows frames, the innermost first; beyond maxFrames that one, and how many more there are.
func (b *Body) stack(o show.Form, name string, frames []j9meta.Frame) {
	if b.shown += len(frames); b.shown > maxFrames && len(frames) > 1 {
		more := len(frames) - 1
		frames = frames[:1]
		defer func() { o.Num("more", uint64(more)) }()
	}
	if t, text := o.(*show.TextForm); text {
		t.Key(name)
		for i, f := range frames {
			if i > 0 {
				t.Raw(" < ")
			}
			t.Quoted([]byte(b.methodName(f.Method, f.Unloaded)))
			t.Raw(fmt.Sprintf("@%d", f.ByteCodeIndex))
			if file, line := b.Methods.line(f.Method, f.ByteCodeIndex); line != 0 && !f.Unloaded {
				t.Place(file, uint64(line), 0)
			}
		}
		return
	}
	o.List(name)
	for _, f := range frames {
		o.Row()
		o.Signed("site", int64(f.Site))
		o.Hex("method", f.Method)
		if name := b.Methods.name(f.Method); name != "" && !f.Unloaded {
			o.Str("name", []byte(name))
		}
		o.Signed("byteCodeIndex", int64(f.ByteCodeIndex))
		if f.Unloaded {
			o.Words("bits", []string{"unloaded"})
		}
		if file, line := b.Methods.line(f.Method, f.ByteCodeIndex); line != 0 && !f.Unloaded {
			o.Place(file, uint64(line), 0)
		}
	}
	o.EndList()
}
