package checkmono

import (
	"bytes"
	"context"
	"testing"

	"github.com/jitinject/jitinject/internal/testrec"
	"github.com/jitinject/jitinject/internal/verify/verifytest"
)

// FuzzLog: whatever the bytes are, nothing panics, and every complaint is about a rule of the table.
func FuzzLog(f *testing.F) {
	for _, name := range []string{"v1", "v17-all"} {
		log := testrec.Gunzip(f, "../../show/testdata/mono/"+name+".mlpd.gz")
		f.Add(log[:min(len(log), 16<<10)])
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		if len(in) > 64<<10 {
			return
		}
		_ = newChecker(verifytest.Reporter(t, rules)).check(context.Background(), bytes.NewReader(in))
	})
}
