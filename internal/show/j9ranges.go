package show

import (
	"fmt"
	"slices"

	"github.com/jitinject/jitinject/internal/format/j9meta"
)

// Inline stacks: the code by stack maps, and through which inlined calls each range is reached.

// ranges shows which methods are inlined where: a line for each part of the code, with the
// innermost method first.
func (b *j9Body) ranges() j9List {
	l := j9List{name: "ranges"}
	b.codeRanges(func(r j9meta.Range) {
		if b.rangeChosen(&r) {
			l.rows = append(l.rows, func() { b.codeRange(&r) })
		}
	})
	return l
}

// rangeChosen reports whether a range is wanted.
func (b *j9Body) rangeChosen(r *j9meta.Range) bool {
	return b.chosen(uint64(r.Start), uint64(r.End), func(*Filter) bool { return !b.isGap(r) && b.stackNamed(r.Info.CallerIndex) })
}

// isGap reports whether a range has no byte code.
func (b *j9Body) isGap(r *j9meta.Range) bool { return b.body.Atlas.Maps[r.Map].Gap() }

// stackNamed reports whether the stack of a site, -1 for that of the body alone, has a name that
// is wanted. Each site is looked at once.
func (b *j9Body) stackNamed(site int) bool {
	const no, yes = 1, 2
	if b.named == nil {
		b.named = make([]uint8, len(b.body.Sites))
	}
	result := uint8(no)
	var path []int
	for site < len(b.named) {
		if site < 0 {
			if b.filter.name([]byte(b.siteName(-1))) {
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
		if b.filter.name([]byte(b.siteName(site))) {
			result = yes
			break
		}
		site = b.body.Sites[site].Info.CallerIndex
	}
	for _, s := range path {
		b.named[s] = result
	}
	return result == yes
}

func (b *j9Body) codeRange(r *j9meta.Range) {
	o, start := b.out, b.body.Header.StartPC
	if t, text := o.(*textForm); text {
		t.at("", start+uint64(r.Start))
		t.raw(fmt.Sprintf("%#x-%#x ", r.Start, r.End))
	} else {
		o.hex("addr", start+uint64(r.Start))
		o.hex("start", uint64(r.Start))
		o.hex("end", uint64(r.End))
	}
	o.num("stack_map", uint64(r.Map))
	if r.Shared {
		o.word("map", "shared")
	} else {
		o.word("map", "own")
	}
	if b.isGap(r) {
		o.word("kind", "gap")
		return
	}
	b.frames = b.body.Stack(b.frames[:0], r.Info)
	b.stack("stack", b.frames)
	if slices.ContainsFunc(b.frames, func(f j9meta.Frame) bool { return f.Unloaded }) {
		b.stack("vm_stack", b.body.VMStack(nil, r.Info))
	}
}

// maxFrames is how many frames are shown of all ranges of a body. A compiler inlines some levels deep;
// what is made up can be as deep everywhere as it has sites.
const maxFrames = 1 << 20

// stack shows frames, the innermost first; beyond maxFrames that one, and how many more there are.
func (b *j9Body) stack(name string, frames []j9meta.Frame) {
	o := b.out
	if b.shown += len(frames); b.shown > maxFrames && len(frames) > 1 {
		more := len(frames) - 1
		frames = frames[:1]
		defer func() { o.num("more", uint64(more)) }()
	}
	if t, text := o.(*textForm); text {
		t.key(name)
		for i, f := range frames {
			if i > 0 {
				t.raw(" < ")
			}
			t.quoted([]byte(b.methodName(f.Method, f.Unloaded)))
			t.raw(fmt.Sprintf("@%d", f.ByteCodeIndex))
			if file, line := b.methods.line(f.Method, f.ByteCodeIndex); line != 0 && !f.Unloaded {
				t.place(file, uint64(line), 0)
			}
		}
		return
	}
	o.list(name)
	for _, f := range frames {
		o.row()
		o.signed("site", int64(f.Site))
		o.hex("method", f.Method)
		if name := b.methods.name(f.Method); name != "" && !f.Unloaded {
			o.str("name", []byte(name))
		}
		o.signed("byteCodeIndex", int64(f.ByteCodeIndex))
		if f.Unloaded {
			o.words("bits", []string{"unloaded"})
		}
		if file, line := b.methods.line(f.Method, f.ByteCodeIndex); line != 0 && !f.Unloaded {
			o.place(file, uint64(line), 0)
		}
	}
	o.endList()
}
