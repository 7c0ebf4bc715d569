package show

import (
	"fmt"
	"path/filepath"
	"slices"

	"github.com/jitinject/jitinject/format/j9meta"
)

// captureCode shows the code of a capture, its warm and its cold part, with what the metadata
// says about it.
func (v *viewer) captureCode(c *j9meta.Capture, b *j9Body) {
	f := &v.opts.Filter
	if !f.typed(j9Code) || len(f.Names) > 0 {
		return
	}
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
		if len(code) == 0 || !f.Address.touches(part.at.Start, uint64(len(code))) {
			continue
		}
		v.out.begin(item{offset: -1, typ: j9Code, size: -1})
		v.out.hex("code_addr", part.at.Start)
		v.out.num("code_size", uint64(len(code)))
		v.out.word("part", part.name)
		v.out.str("file", []byte(filepath.Base(part.path)))
		machine := uint32(c.Layout.Machine)
		if why := noDisassembler(machine, c.Layout.Order, false); machine == 0 {
			v.out.word("not_disassembled", "the capture does not say of which machine it is")
		} else if why != "" {
			v.out.word("not_disassembled", why)
		}
		l := listing{machine: machine, order: c.Layout.Order, addr: part.at.Start, code: code}
		l.marks = b.exceptionMarks(l.addr, l.addr, uint64(len(code)))
		l.text = func(file string, line uint64) ([]byte, bool) { return v.texts.of(file).line(line) }
		b.describe(&l)
		l.show(v.out, l.order)
		v.out.end()
		if size := part.at.End - part.at.Start; uint64(len(part.code)) != size {
			v.problem(-1, fmt.Errorf("the code in %s has %d bytes, and the metadata says that the %s part has %d", filepath.Base(part.path), len(part.code), part.name, size))
		}
	}
}

// describe adds lines and inlined calls to code.
func (b *j9Body) describe(l *listing) {
	base, size := b.body.Header.StartPC, uint64(len(l.code))
	var frames []j9meta.Frame
	some := false // of lines is known
	for _, r := range b.body.Ranges() {
		start, end := base+uint64(r.Start), base+uint64(r.End)
		if end <= l.addr || start >= l.addr+size {
			continue
		}
		first, end := max(start, l.addr)-l.addr, min(end-l.addr, size)
		frames = b.body.Stack(frames[:0], r.Info)
		slices.Reverse(frames)
		var file []byte
		var line uint32
		for i, f := range frames {
			if i > 0 {
				l.calls = append(l.calls, inlinedCall{
					first: first, end: end, depth: i - 1, id: f.Site,
					function: b.methodName(f.Method, f.Unloaded), file: string(file), line: uint64(line),
				})
			}
			if file, line = b.methods.line(f.Method, f.ByteCodeIndex); f.Unloaded {
				file, line = nil, 0
			}
			some = some || line != 0
		}
		l.lines = append(l.lines, listedLine{offset: first, file: string(file), line: uint64(line)})
	}
	if !some {
		l.lines = nil
	}
}
