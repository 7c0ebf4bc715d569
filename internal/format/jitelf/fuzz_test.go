package jitelf_test

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"testing"

	"github.com/jitinject/jitinject/internal/format/jitelf"
	"github.com/jitinject/jitinject/internal/jitcode"
)

// Arbitrary bytes cause no panic. Functions do not overlap, and lines and inlined calls keep the
// rules of jitcode.
func FuzzDescribe(f *testing.F) {
	paths, err := filepath.Glob(filepath.Join("testdata", "*.[eo]*"))
	if err != nil || len(paths) < 7 {
		f.Fatal(paths, err)
	}
	for _, path := range paths {
		b, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	u, origins := newUnit([]string{"a", "b"})
	u.function("f", low, 100)
	u.call(origins[0], 1, low+10, low+40)
	u.call(origins[1], 2, low+10, low+20, low+30, low+50)
	u.end()
	u.end()
	u.end()
	f.Add(u.object(low, 100))
	f.Add(lined(line(append(binary.LittleEndian.AppendUint64([]byte{0, 9, 2}, low), 1, 2, 100, 0, 1, 1)...)))
	f.Fuzz(func(t *testing.T, b []byte) {
		o, err := jitelf.Open(b)
		if err != nil {
			return
		}
		o.Problems()
		o.Target()
		r := o.NewReader()
		end := uint64(0)
		for i, s := range o.Functions() {
			if s.Size == 0 || s.Addr < end || s.Addr+s.Size < s.Addr || len(s.Name) == 0 {
				t.Fatalf("function %d: %+v begins before %#x", i, s, end)
			}
			end = s.Addr + s.Size
			fn := jitcode.Function{Name: s.Name, Addr: s.Addr, Size: s.Size}
			r.Describe(i, &fn)
			checkRules(t, &fn)
			for _, d := range fn.Unwind.Sent.FDEs {
				if d.CIE < 0 || d.CIE >= len(fn.Unwind.Sent.CIEs) || d.Offset >= fn.Size || d.Size > fn.Size-d.Offset {
					t.Fatalf("%s: FDE %+v of %d bytes", fn.Name, d, fn.Size)
				}
			}
		}
	})
}
