package showj9

import (
	"fmt"
	"path/filepath"

	"github.com/jitinject/jitinject/internal/format/j9meta"
	"github.com/jitinject/jitinject/internal/runtime/openj9"
	"github.com/jitinject/jitinject/internal/show"
	"github.com/jitinject/jitinject/internal/show/listing"
)

// The code of captures as instructions, with what the metadata says of it in between.

// captureCode shows the code of a capture, its warm and its cold part, with what the metadata
// says about it.
func captureCode(v *show.Viewer, c *j9meta.Capture, b *Body) {
	warm, cold, err := c.Parts()
	if err != nil {
		v.Problem(-1, err)
		return
	}
	for _, part := range []struct {
		name string
		at   j9meta.CodePart
		code []byte
		path string
	}{{"warm", warm, c.Code, c.CodePath}, {"cold", cold, c.ColdCode, c.ColdCodePath}} {
		code := part.code[:min(uint64(len(part.code)), part.at.End-part.at.Start)]
		if len(code) == 0 || !b.codeChosen(part.at.Start-c.StartPC, part.at.Start-c.StartPC+uint64(len(code))) {
			continue
		}
		v.Out.Begin(show.Item{Offset: -1, Type: codeType, Size: -1})
		v.Out.Hex("code_addr", part.at.Start)
		v.Out.Num("code_size", uint64(len(code)))
		v.Out.Word("part", part.name)
		v.Out.Str("file", []byte(filepath.Base(part.path)))
		machine := uint32(c.Layout.Machine)
		if why := listing.Unsupported(machine, c.Layout.Order, false); machine == 0 {
			v.Out.Word("not_disassembled", fmt.Sprintf("%s does not name the machine of the code: it has no \"machine\", such as \"x86_64\"", filepath.Base(c.JSONPath)))
		} else if why != "" {
			v.Out.Word("not_disassembled", why)
		}
		l := listing.Code{Machine: machine, Order: c.Layout.Order}
		l.Fill(openj9.PartAt(c, part.at.Start, part.at.End-part.at.Start), v.Texts)
		l.Code = code
		l.Marks = b.ExceptionMarks(l.Addr, l.Addr, uint64(len(code)))
		l.Show(v.Out)
		v.Out.End()
		if size := part.at.End - part.at.Start; uint64(len(part.code)) != size {
			v.Problem(-1, fmt.Errorf("the code in %s has %d bytes, and the metadata says that the %s part has %d", filepath.Base(part.path), len(part.code), part.name, size))
		}
	}
}
