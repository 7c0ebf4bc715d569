package showjitdump

import (
	"context"

	jitdumps "github.com/jitinject/jitinject/internal/runtime/jitdump"
	"github.com/jitinject/jitinject/internal/show"
	"github.com/jitinject/jitinject/internal/show/listing"
	"github.com/jitinject/jitinject/jitdump"
)

// A codeLister shows the code of a jitdump's functions with their lines. Which lines
// are a function's, and what producers get wrong about them, internal/runtime/jitdump knows; it
// scans the whole dump first.
type codeLister struct {
	*show.Viewer
	dump   *jitdumps.Dump
	reader *jitdumps.Reader
	said   bool
}

func newCodeLister(v *show.Viewer) (*codeLister, error) {
	d, err := jitdumps.OpenFile(v.File)
	if err != nil {
		return nil, err
	}
	if err := d.Scan(context.Background()); err != nil {
		return nil, err
	}
	return &codeLister{Viewer: v, dump: d, reader: d.Reader()}, nil
}

// show shows the code of a function. Where source cannot make sense of the record, the
// code is shown as it is.
func (d *codeLister) show(raw *jitdump.Raw, load *jitdump.Load) {
	t := d.dump.Target()
	l := listing.Code{Machine: t.Machine, Order: t.Order, Addr: load.CodeAddr, Code: load.Code, Text: func(string, uint64) ([]byte, bool) { return nil, false }}
	if i, ok := d.dump.FunctionAt(raw.Offset); ok {
		if fn, err := d.reader.Function(i); err == nil {
			l.Fill(fn, d.Texts)
		}
		d.reader.Problems = d.reader.Problems[:0]
	}
	if why := listing.Unsupported(t.Machine, t.Order, l.Thumb); why != "" && !d.said {
		d.said = true
		d.Out.Word("not_disassembled", why)
	}
	l.Show(d.Out)
}
