package checkproducer_test

import (
	"bytes"
	"os"
	"testing"

	"github.com/jitinject/jitinject/internal/testrec"
	"github.com/jitinject/jitinject/internal/verify/checkproducer"
	"github.com/jitinject/jitinject/internal/verify/verifytest"
)

// FuzzCheck: no bytes make it panic, and each note is of a rule of the table.
func FuzzCheck(f *testing.F) {
	for _, name := range []string{"toyjit", "lli-hot"} {
		dir := f.TempDir()
		if err := testrec.UnpackTo(name, dir); err != nil {
			f.Fatal(err)
		}
		for _, path := range testrec.Dumps(f, dir) {
			b, err := os.ReadFile(path)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(b[:min(len(b), 8<<10)], uint8(0x40))
		}
	}
	f.Fuzz(func(t *testing.T, in []byte, skew uint8) {
		if len(in) > 64<<10 {
			return
		}
		r := verifytest.Reporter(t, checkproducer.Rules)
		err := checkproducer.Check(t.Context(), r, bytes.NewReader(in), uint64(skew))
		if err != nil && r.Result.Notes > 0 {
			t.Errorf("got %v and %d notes; want notes of readable dumps only", err, r.Result.Notes)
		}
	})
}
