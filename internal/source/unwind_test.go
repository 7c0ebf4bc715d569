package source_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/internal/source"
	"github.com/jitinject/jitinject/jitdump"
)

// Tables for a function of 16 bytes at 0x1000, which begin at 0x1010.
var (
	frameHeader = []byte{1, 0x1b, 3, 0x3b, 0, 0, 0, 0, 0, 0, 0, 0}
	frameCIE    = []byte{0x14, 0, 0, 0, 0, 0, 0, 0, 1, 'z', 'R', 0, 1, 0x78, 0x10, 1, 0x1b, 0x0c, 7, 8, 0x90, 1, 0, 0}
	frameFDE    = []byte{0x14, 0, 0, 0, 0x1c, 0, 0, 0, 0xd0, 0xff, 0xff, 0xff, 16, 0, 0, 0, 0, 0x44, 0x0e, 16, 0, 0, 0, 0}
)

func joined(parts ...[]byte) []byte { return bytes.Join(parts, nil) }

// changed returns b with a byte changed.
func changed(b []byte, at int, to byte) []byte {
	b = bytes.Clone(b)
	b[at] = to
	return b
}

// Unwind tables are taken over in either order; where none can be followed, what the
// code shows is used, if that is wanted.
func TestUnwind(t *testing.T) {
	code := append([]byte{0x55, 0x48, 0x89, 0xe5, 0xe8, 0, 0, 0, 0, 0x5d, 0xc3}, 0x90, 0x90, 0x90, 0x90, 0x90) // push rbp; mov rbp,rsp; call; pop rbp; ret
	for _, c := range []struct {
		name    string
		data    []byte
		header  int
		sent    bool
		problem string
	}{
		{"blank table", frameHeader, 12, false, ""},
		{"frames first", joined(frameCIE, frameFDE, frameHeader), 12, true, ""},
		{"terminated", joined(frameCIE, frameFDE, make([]byte, 4), frameHeader), 12, true, ""},
		{"header first", joined(frameHeader, frameCIE, frameFDE), 12, true, ""},
		{"for another place", joined(frameCIE, changed(changed(frameFDE, 12, 14), 8, 0x80), frameHeader), 12, true, ""},
		{"no header", joined(frameCIE, frameFDE), 0, true, ""},
		{"FDE of no CIE", joined(frameFDE, frameHeader), 12, false, "JIT_CODE_UNWINDING_INFO"},
		{"FDE outside", joined(frameCIE, changed(frameFDE, 12, 32), frameHeader), 12, false, "JIT_CODE_UNWINDING_INFO"},
		{"length beyond the end", joined([]byte{0xff, 0xff, 0xff, 0x7f, 0, 0, 0, 0}, frameHeader), 12, false, "JIT_CODE_UNWINDING_INFO"},
		{"nothing", nil, 0, false, ""},
	} {
		for _, derive := range []bool{false, true} {
			b := newDump(t, x86)
			b.add(&jitdump.Unwinding{HeaderSize: uint64(c.header), MappedSize: 1 << 60, Data: c.data})
			b.code("f", 0x1000, code)
			b.code("g", 0x2000, code)
			d := b.scan()
			if derive {
				d.DeriveFrames(source.Surroundings{})
			}
			r := d.Reader()
			fn, err := r.Function(0)
			if err != nil {
				t.Fatal(err)
			}
			if sent := len(fn.Unwind.Sent.FDEs) == 1; sent != c.sent {
				t.Errorf("%s: sent tables are used: %v", c.name, sent)
			}
			if displaced := repairs(d)[source.DisplacedTables]; displaced != 0 != (c.name == "header first" || c.name == "for another place") {
				t.Errorf("%s: %d tables have been put right", c.name, displaced)
			}
			if fn.Unwind.Empty() != (!c.sent && !derive) {
				t.Errorf("%s, derive %v: %+v", c.name, derive, fn.Unwind)
			}
			if n := len(r.Problems); (n > 0) != (c.problem != "") || n > 0 && !strings.Contains(r.Problems[0].Text, c.problem) {
				t.Errorf("%s: problems %v", c.name, r.Problems)
			}
			if d.Events[0].Tables > uint64(len(c.data)+15) {
				t.Errorf("%s: %d bytes are said to be in memory", c.name, d.Events[0].Tables)
			}
			if fn, err := r.Function(1); err != nil || len(fn.Unwind.Sent.FDEs) != 0 || fn.Unwind.Empty() == derive {
				t.Errorf("%s: the next function has %+v, %v", c.name, fn.Unwind, err)
			}
		}
	}
}
