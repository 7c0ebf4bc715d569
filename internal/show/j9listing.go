package show

import (
	"fmt"
	"path/filepath"

	"github.com/jitinject/jitinject/internal/runtime/openj9"

	"github.com/jitinject/jitinject/internal/format/j9meta"
)

// The code of captures as instructions, with what the metadata says of it in between.

// captureCode shows the code of a capture, its warm and its cold part, with what the metadata
// says about it.
func (v *viewer) captureCode(c *j9meta.Capture, b *j9Body) {
	warm, cold, err := c.Parts()
	if err != nil {
		v.problem(-1, err)
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
		v.out.begin(item{offset: -1, typ: j9Code, size: -1})
		v.out.hex("code_addr", part.at.Start)
		v.out.num("code_size", uint64(len(code)))
		v.out.word("part", part.name)
		v.out.str("file", []byte(filepath.Base(part.path)))
		machine := uint32(c.Layout.Machine)
		if why := noDisassembler(machine, c.Layout.Order, false); machine == 0 {
			v.out.word("not_disassembled", fmt.Sprintf("%s does not say of which machine the code is: it has no \"machine\", such as \"x86_64\"", filepath.Base(c.JSONPath)))
		} else if why != "" {
			v.out.word("not_disassembled", why)
		}
		l := listing{machine: machine, order: c.Layout.Order}
		l.fill(openj9.PartAt(c, part.at.Start, part.at.End-part.at.Start), v.texts)
		l.code = code
		l.marks = b.exceptionMarks(l.addr, l.addr, uint64(len(code)))
		l.show(v.out, l.order)
		v.out.end()
		if size := part.at.End - part.at.Start; uint64(len(part.code)) != size {
			v.problem(-1, fmt.Errorf("the code in %s has %d bytes, and the metadata says that the %s part has %d", filepath.Base(part.path), len(part.code), part.name, size))
		}
	}
}
