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

// sections shows the sections of the metadata of OpenJ9 that a record has, as items of their own behind
// it, with their offsets in the file.
func (d *dumpViewer) sections(raw *jitdump.Raw) {
	f := &d.Opts.Filter
	if len(f.Types) > 0 && !slices.ContainsFunc(showj9.Types, f.MatchesType) {
		return
	}
	m, err := raw.OpenJ9Metadata()
	if err != nil {
		return // is shown with the record
	}
	decoded, err := j9meta.Decode(m.Metadata, m.Base, j9meta.Layout{
		Order: raw.Order, PointerSize: int(m.PointerSize), Machine: elf.Machine(d.reader.Header().Machine), HeaderSize: int(m.HeaderSize),
	})
	b := showj9.Body{Body: decoded, Methods: m.Methods}
	b.Show(d.Viewer, show.Item{Offset: m.MetadataOffset(), Time: raw.Timestamp, Timed: !d.ticks})
	if err != nil {
		d.Problem(m.MetadataOffset(), fmt.Errorf("the metadata, at %#x of the file: %w", m.MetadataOffset(), err))
	}
}
