package display

import (
	"bytes"
	"cmp"
	"io"

	"github.com/jitinject/jitinject/internal/formats"
	"github.com/jitinject/jitinject/internal/runtime/gdbjit"
	"github.com/jitinject/jitinject/internal/runtime/jitdump"
	"github.com/jitinject/jitinject/internal/runtime/mono"
	"github.com/jitinject/jitinject/internal/runtime/openj9"
	"github.com/jitinject/jitinject/internal/runtime/perfmap"
	"github.com/jitinject/jitinject/internal/runtime/v8"
	"github.com/jitinject/jitinject/internal/runtime/xray"
	"github.com/jitinject/jitinject/internal/show"
	"github.com/jitinject/jitinject/internal/show/showgdbjit"
	"github.com/jitinject/jitinject/internal/show/showj9"
	"github.com/jitinject/jitinject/internal/show/showjitdump"
	"github.com/jitinject/jitinject/internal/show/showmap"
	"github.com/jitinject/jitinject/internal/show/showmono"
	"github.com/jitinject/jitinject/internal/show/showv8"
	"github.com/jitinject/jitinject/internal/show/showxray"
	"github.com/jitinject/jitinject/perfdata"
)

// byKind has the display functions of side files. By default, their Name is that of the format, and
// their Begins is Identify of the first bytes. Some formats need their own Begins: Identify rejects
// damaged files, or needs more than the first bytes.
var byKind = map[string]show.Format{
	jitdump.Kind: showjitdump.Format,
	mono.Kind:    showmono.Format,
	xray.Kind:    showxray.Format,
	openj9.Kind:  showj9.Format,
	gdbjit.Kind:  showgdbjit.Format,
	v8.Kind:      showv8.Format,
	perfmap.Kind: showmap.Format,
}

// recordings are the format that perf shows: users are sent there.
var recordings = show.Format{
	Name:   "a recording",
	Begins: perfdata.HasMagic,
	Show: func(v *show.Viewer) error {
		return v.ShownBy("a recording", "perf report -D -i FILE shows its records, and perf script --header-only -i FILE its header")
	},
}

// Formats returns the display functions of all formats, in the order of names in messages.
func Formats() []show.Format {
	var list []show.Format
	for _, format := range formats.All {
		f := byKind[format.Kind]
		f.Name = cmp.Or(f.Name, format.Name)
		if f.Begins == nil && f.Named == nil {
			f.Begins = beginsLike(format.Identify)
		}
		list = append(list, f)
	}
	return append(list, recordings)
}

// beginsLike returns a function that identifies a format by first bytes alone.
func beginsLike(identify func(src io.ReaderAt, path string) bool) func(head []byte) bool {
	return func(head []byte) bool { return identify(bytes.NewReader(head), "") }
}
