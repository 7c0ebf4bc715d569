package showj9

import (
	"fmt"
	"strings"

	"github.com/jitinject/jitinject/internal/format/j9meta"
	"github.com/jitinject/jitinject/internal/show"
)

// A Body shows OpenJ9's metadata of one compiled body, section by section as it lies
// in memory. Offsets are those of the metadata, which begin with 0 at struct
// J9JITExceptionTable. Fields are called as OpenJ9's structures call them; what no
// structure describes, as its document on the J9JITExceptionTable does.
type Body struct {
	Decoded  *j9meta.Body
	Metadata []byte
	Methods  Methods

	view   show.Viewer    // for fields alone
	filter *show.Filter   // of entries
	frames []j9meta.Frame // of the range at hand
	shown  int            // frames
	named  []uint8        // of each site, whether its stack has a name that is wanted; 0: not known yet
	parts  []part         // of the code; nil: not known yet
	wanted map[int]bool   // maps of code that is wanted, where the filter chooses; nil: not known yet
}

// View shows the sections in what v shows, by a filter. Whatever is wanted of its process and time has
// been found.
func (b *Body) View(v *show.Viewer, filter show.Filter) {
	opts := *v.Opts
	filter.PIDs = nil
	opts.Filter = filter
	b.view, b.filter = *v, &opts.Filter
	b.view.Opts, b.view.Add = &opts, b.add
	if i := b.Decoded.OSR; i != nil && !i.SizeOnly {
		b.view.Version = 1
	}
}

// inlineStacks is what the inlined calls at each part of the code are shown as. They are
// no section, but what inline info and stack maps mean together.
const inlineStacks = "Inline Stacks"

// A Section is a section with what is in it.
type Section struct {
	Name         string
	Offset, Size int64 // in the metadata; -1 for what is in no one place
	record       any
}

// chosen reports whether an entry that is about code, offsets from startPC, and about
// methods is wanted.
func (b *Body) chosen(start, end uint64, about func(*show.Filter) bool) bool {
	return b.meets(start, end) && (len(b.filter.Names) == 0 || about(b.filter))
}

// match reports whether the filter wants the entry whose fields are written to o.
func match(o show.Form, wanted bool) {
	if wanted {
		show.Match(o)
	}
}

// Sections are all sections, in the order of the metadata. Of those that have nothing
// that is wanted there are none.
func (b *Body) Sections() (list []Section) {
	add := func(s Section) {
		if s.record != nil && b.filter.MatchesType(s.Name) && b.view.Wants(s.record) {
			list = append(list, s)
		}
	}
	for i := range b.Decoded.Sections {
		s := &b.Decoded.Sections[i]
		add(Section{Name: s.Kind.String(), Offset: int64(s.Offset), Size: int64(s.Size), record: b.record(s)})
	}
	stacks := Section{Name: inlineStacks, Offset: -1, Size: -1}
	var ranges stackRanges
	b.codeRanges(func(r j9meta.Range) { ranges.Ranges = append(ranges.Ranges, stackRange{r}) })
	if len(ranges.Ranges) > 0 {
		stacks.record = &ranges
	}
	add(stacks)
	return list
}

// Contents shows what is in a section.
func (b *Body) Contents(s *Section) { b.view.Fields(b.view.Out, s.record, nil) }

// bytes are those of a section.
func (b *Body) bytes(s *Section) []byte {
	if s.Offset < 0 || s.Size < 0 || s.Offset > int64(len(b.Metadata))-s.Size {
		return nil
	}
	return b.Metadata[s.Offset : s.Offset+s.Size]
}

// spare writes bytes that mean nothing if there is anything in them.
func spare(o show.Form, name string, v []byte) {
	if len(v) > 0 {
		o.ID(name, v)
	}
}

// info writes the bits of a TR_ByteCodeInfo.
func info(o show.Form, i *j9meta.ByteCodeInfo) {
	var bits []string
	if i.SameReceiver {
		bits = append(bits, "isSameReceiver")
	}
	if i.DoNotProfile {
		bits = append(bits, "doNotProfile")
	}
	if len(bits) > 0 {
		o.Words("bits", bits)
	}
}

// writeMethod writes the name of a method of which something else says which it is. Where there is
// nothing but its pointer, that is enough.
func writeMethod(o show.Form, name string) {
	if !strings.HasPrefix(name, "0x") {
		o.Str("method", []byte(name))
	}
}

// siteName is what an index of inlined sites stands for; -1 is the body itself.
func (b *Body) siteName(i int) string {
	switch {
	case i < 0:
		return b.methodName(b.Decoded.Header.RAMMethod, false)
	case i < len(b.Decoded.Sites):
		return b.methodName(b.Decoded.Sites[i].Method, b.Decoded.Layout.Unloaded(b.Decoded.Sites[i].Method))
	}
	return fmt.Sprintf("site %d, which there is not", i)
}

// siteNamed reports whether a site has a name that is wanted.
func (b *Body) siteNamed(i int) func(*show.Filter) bool {
	return func(f *show.Filter) bool { return f.MatchesName([]byte(b.siteName(i))) }
}

// methodName is a method's name, or else its pointer.
func (b *Body) methodName(method uint64, unloaded bool) string {
	switch name := b.Methods.name(method); {
	case unloaded:
		return "[unloaded]"
	case name != "":
		return name
	}
	return fmt.Sprintf("%#x", method)
}
