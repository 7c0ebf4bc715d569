package checkobject

import (
	"bytes"
	"context"
	"debug/elf"
	"encoding/binary"
	"testing"

	"github.com/jitinject/jitinject/internal/jitcode"
	"github.com/jitinject/jitinject/internal/jitobj"
	"github.com/jitinject/jitinject/internal/verify/verifytest"
)

// FuzzObject: whatever the bytes are, nothing panics, and every complaint is about a rule of the
// table.
func FuzzObject(f *testing.F) {
	b, err := jitobj.NewBuilder(jitcode.Target{Machine: uint32(elf.EM_X86_64), Order: binary.LittleEndian}, jitobj.Options{})
	if err != nil {
		f.Fatal(err)
	}
	row := jitcode.FrameRow{Known: true, CFA: jitcode.CFA{Reg: 7, Offset: 8}, Saved: []jitcode.SavedReg{{Reg: 16, Offset: -8}}}
	o, err := b.Build(&jitcode.Function{
		Name: []byte("f"), Size: 32, Code: make([]byte, 32), Files: []string{"a"}, Lines: []jitcode.Line{{Line: 1}},
		Origins: []jitcode.Origin{{Name: []byte("f")}, {Name: []byte("g")}}, Inlines: []jitcode.Inline{{Parent: -1, Origin: 1, Last: 1}}, Ranges: []jitcode.Range{{Offset: 4, Size: 4}},
		Unwind: jitcode.Unwind{CIE: jitcode.FrameCIE{CodeAlign: 1, DataAlign: -8, ReturnReg: 16}, Initial: row, Rows: []jitcode.FrameRow{row}},
	}, jitobj.Place{})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(o.Bytes)
	if file, err := elf.NewFile(bytes.NewReader(o.Bytes)); err == nil {
		info := file.Section(".debug_info")
		cut := bytes.Clone(o.Bytes)
		cut[info.Offset+info.FileSize-1] = 0xff
		f.Add(cut)
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		if len(in) > 64<<10 {
			return
		}
		Check(context.Background(), verifytest.Reporter(t, rules), bytes.NewReader(in), int64(len(in)), "/x/jitted-1-1.so", true)
	})
}
