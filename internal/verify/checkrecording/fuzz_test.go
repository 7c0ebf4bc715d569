package checkrecording

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/jitinject/jitinject/internal/testrec"
	"github.com/jitinject/jitinject/internal/verify/checkobject"
	"github.com/jitinject/jitinject/internal/verify/recorded"
	"github.com/jitinject/jitinject/internal/verify/verifytest"
)

// FuzzRecording: whatever the bytes are, nothing panics, and every complaint is about a rule of a
// table.
func FuzzRecording(f *testing.F) {
	for _, name := range []string{"toyjit", "lli-hot"} {
		dir := f.TempDir()
		if err := testrec.UnpackTo(name, dir); err != nil {
			f.Fatal(err)
		}
		b, err := os.ReadFile(filepath.Join(dir, "perf.data"))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b[:min(len(b), 8<<10)])
	}
	r := testrec.NewRecording()
	r.SampleType |= testrec.StackUser | testrec.ID
	r.Mmap2(1, 5, 0x1000, 0x9000, 0, "/bin/prog")
	r.Mmap2(1, 10, 0x2000, 0x100, 0x80, "/nowhere/jitted-1-1.so")
	r.Round()
	r.Comm(1, 20, "x", true)
	r.Sample(1, 20, 0x2000)
	f.Add(r.Bytes())
	f.Fuzz(func(t *testing.T, in []byte) {
		if len(in) > 64<<10 {
			return
		}
		if rec, err := recorded.Read(bytes.NewReader(in), int64(len(in))); err == nil {
			_ = checkOpen(context.Background(), verifytest.Reporter(t, rules, checkobject.Format.Rules), rec)
		}
	})
}
