package showjitdump

import (
	"debug/elf"
	"fmt"
	"slices"

	"github.com/jitinject/jitinject/internal/format/j9meta"
	"github.com/jitinject/jitinject/internal/show"
	"github.com/jitinject/jitinject/internal/show/showj9"
	"github.com/jitinject/jitinject/jitdump"
)

// OpenJ9's metadata in a record of a jitdump: how it is found there, and which of it is chosen.

// openJ9Body decodes the metadata of a record; with an error, what comes before it.
func (d *dumpViewer) openJ9Body(raw *jitdump.Raw, m *jitdump.OpenJ9Metadata) (*j9meta.Body, error) {
	return j9meta.DecodeSome(m.Metadata, m.Base, j9meta.Layout{
		Order: raw.Order, PointerSize: int(m.PointerSize), Machine: elf.Machine(d.reader.Header().Machine), HeaderSize: int(m.HeaderSize),
	})
}

// sectionFilter says which sections of metadata are wanted: all of a record that is.
func (d *dumpViewer) sectionFilter() *show.Filter {
	f := &d.Opts.Filter
	if f.MatchesType(jitdump.IDOpenJ9.String()) {
		return new(show.Filter)
	}
	return f.OnlyTypes()
}

// hasSections reports whether a record of metadata has a section that is wanted. It is true for a
// damaged record, too: its sections are unknown.
func (d *dumpViewer) hasSections(raw *jitdump.Raw) bool {
	f := d.sectionFilter()
	if len(f.Types) == 0 || !slices.ContainsFunc(showj9.Types, f.MatchesType) {
		return len(f.Types) == 0
	}
	m, err := raw.OpenJ9Metadata()
	if err != nil {
		return true
	}
	body, bad := d.openJ9Body(raw, &m)
	b := showj9.Body{Decoded: body}
	b.View(d.Viewer, *f)
	return bad != nil || len(m.Methods) > 0 && f.MatchesType(showj9.MethodTable) || len(b.Sections()) > 0
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
		d.listing.metadata(m.CodeAddr, &showj9.Body{Decoded: body, Methods: showj9.NamesOf(m.Methods)})
	}
}

// openJ9 shows metadata of OpenJ9 and the tables that come with it.
func (d *dumpViewer) openJ9(raw *jitdump.Raw, m *jitdump.OpenJ9Metadata) error {
	o := d.Out
	o.Hex("metadata_offset", uint64(m.MetadataOffset()))
	err := m.CheckTables()
	filter := d.sectionFilter()
	if filter.MatchesType(showj9.MethodTable) {
		showj9.ShowMethods(d.Viewer, m.Methods)
	}
	body, bad := d.openJ9Body(raw, m)
	b := showj9.Body{Decoded: body, Metadata: m.Metadata, Methods: showj9.MethodsOf(m.Methods)}
	b.View(d.Viewer, *filter)
	o.List("sections")
	for _, s := range b.Sections() {
		o.Row()
		if s.Offset >= 0 {
			o.Offset(uint64(s.Offset))
		}
		o.Title("section", s.Name)
		if s.Size >= 0 {
			o.Num("size", uint64(s.Size))
		}
		b.Contents(&s)
	}
	o.EndList()
	if bad != nil {
		return fmt.Errorf("the metadata, at %#x of the file: %w", m.MetadataOffset(), bad)
	}
	return err
}
