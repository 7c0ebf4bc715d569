package show

import (
	"debug/elf"
	"fmt"
	"slices"
	"strconv"

	"github.com/jitinject/jitinject/internal/format/j9meta"
	"github.com/jitinject/jitinject/internal/runtime/openj9/metadata"
	"github.com/jitinject/jitinject/jitdump"
)

// OpenJ9's metadata in a record of a jitdump: how it is found there, and which of it is chosen.

// openJ9Body decodes the metadata of a record; with an error, what comes before it.
func (d *dumpViewer) openJ9Body(raw *jitdump.Raw, m *jitdump.OpenJ9Metadata) (*j9meta.Body, error) {
	return j9meta.DecodeSome(m.Metadata, m.Base, j9meta.Layout{
		Order: raw.Order, PointerSize: int(m.PointerSize), Machine: elf.Machine(d.reader.Header().Machine), HeaderSize: int(m.HeaderSize),
	})
}

// sectionFilter says which sections of metadata are wanted; nil for all of a record that is.
func (d *dumpViewer) sectionFilter() *Filter {
	f := &d.opts.Filter
	if f.typed(jitdump.IDOpenJ9.String()) {
		return nil
	}
	return &Filter{Types: f.Types}
}

// hasSections reports whether a record of metadata has a section that is wanted, or is damaged: then
// nobody knows.
func (d *dumpViewer) hasSections(raw *jitdump.Raw) bool {
	f := d.sectionFilter()
	if f == nil || !slices.ContainsFunc(j9Types, f.typed) {
		return f == nil
	}
	m, err := raw.OpenJ9Metadata()
	if err != nil {
		return true
	}
	body, bad := d.openJ9Body(raw, &m)
	b := j9Body{body: body, filter: f}
	return bad != nil || len(m.Methods) > 0 && f.typed(j9MethodTable) || len(b.sections()) > 0
}

// noteOpenJ9 keeps what a record says about the code that is loaded next.
func (d *dumpViewer) noteOpenJ9(raw *jitdump.Raw) {
	m, err := raw.OpenJ9Metadata()
	if err != nil {
		return // is shown with the record
	}
	body, _ := d.openJ9Body(raw, &m)
	if len(body.Exceptions) > 0 {
		// Nothing that is the record's.
		body = &j9meta.Body{Layout: body.Layout, Header: body.Header, Exceptions: body.Exceptions, Sites: body.Sites}
		body.Header.Extra = nil
		for i := range body.Sites {
			body.Sites[i].Monitors = nil
		}
		d.listing.metadata(m.CodeAddr, &j9Body{body: body, methods: methodNames(m.Methods)})
	}
}

// openJ9 shows metadata of OpenJ9 and the tables that come with it.
func (d *dumpViewer) openJ9(raw *jitdump.Raw, m *jitdump.OpenJ9Metadata) error {
	o := d.out
	o.hex("code_addr", m.CodeAddr)
	o.hex("base", m.Base)
	o.num("metadata_size", uint64(len(m.Metadata)))
	o.num("pointer_size", uint64(m.PointerSize))
	o.num("header_size", uint64(m.HeaderSize))
	o.hex("metadata_offset", uint64(m.MetadataOffset()))
	d.extra(m.Extra)
	err := m.CheckTables()
	filter := d.sectionFilter()
	if filter == nil || filter.typed(j9MethodTable) {
		d.javaMethods(m.Methods)
	}
	body, bad := d.openJ9Body(raw, m)
	b := j9Body{out: o, body: body, blob: m.Metadata, methods: recordMethods(m.Methods), filter: filter}
	o.list("sections")
	for _, s := range b.sections() {
		o.row()
		if s.offset >= 0 {
			o.offset(uint64(s.offset))
		}
		o.title("section", s.name)
		if s.size >= 0 {
			o.num("size", uint64(s.size))
		}
		b.contents(&s)
	}
	o.endList()
	if bad != nil {
		return fmt.Errorf("the metadata, at %#x of the file: %w", m.MetadataOffset(), bad)
	}
	return err
}

// javaMethods shows what is known of methods: their names and lines.
func (v *viewer) javaMethods(methods []jitdump.JavaMethod) {
	o := v.out
	t, text := o.(*textForm)
	o.list("methods")
	for i := range methods {
		m := &methods[i]
		o.row()
		o.at("method", m.Method)
		if text {
			t.label("", []byte(metadata.JavaName(m)))
			t.str("file", m.File)
		} else {
			o.str("class", m.Class)
			o.str("name", m.Name)
			o.str("signature", m.Signature)
			o.str("file", m.File)
		}
		o.words("flags", j9MethodFlags(m.Flags))
		if text {
			o.array("lines")
			for _, l := range m.Lines {
				t.elemWord(strconv.FormatUint(uint64(l.ByteCodeIndex), 10) + ":" + strconv.FormatUint(uint64(l.Line), 10))
			}
			o.endArray()
			continue
		}
		o.list("lines")
		for _, l := range m.Lines {
			o.row()
			o.num("bytecode_index", uint64(l.ByteCodeIndex))
			o.num("line", uint64(l.Line))
		}
		o.endList()
	}
	o.endList()
}

func j9MethodFlags(f jitdump.FunctionFlags) []string {
	var names []string
	if f&jitdump.UserFunction != 0 {
		names = append(names, "user")
		f &^= jitdump.UserFunction
	}
	if f != 0 {
		names = append(names, fmt.Sprintf("%#x", uint64(f)))
	}
	return names
}
