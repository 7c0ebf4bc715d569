package checkj9

import (
	"debug/elf"
	"encoding/binary"
	"os"
	"testing"

	"github.com/jitinject/jitinject/internal/format/j9meta"
	"github.com/jitinject/jitinject/internal/verify/verifytest"
)

// FuzzMetadata: whatever the bytes are, nothing panics, and every complaint is about a rule of the
// table.
func FuzzMetadata(f *testing.F) {
	for _, name := range []string{"epoch-232", "four-byte-offsets", "fsd-216", "inline-wide-exc"} {
		b, err := os.ReadFile("../../format/j9meta/testdata/" + name + ".bin")
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		if len(in) > 64<<10 {
			return
		}
		r := verifytest.Reporter(t, rules)
		for _, l := range []j9meta.Layout{{Order: binary.LittleEndian, PointerSize: 8}, {Order: binary.BigEndian, PointerSize: 4, Machine: elf.EM_S390}, {Order: binary.LittleEndian, PointerSize: 4, Machine: elf.EM_ARM}} {
			if body := Decode(r, in, 0, 0x7e0000000000, l); body != nil {
				(&Metadata{Reporter: r, Body: body}).Check()
			}
		}
	})
}
