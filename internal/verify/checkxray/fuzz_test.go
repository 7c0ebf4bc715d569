package checkxray

import (
	"bytes"
	"context"
	"testing"

	"github.com/jitinject/jitinject/internal/testrec"
	"github.com/jitinject/jitinject/internal/verify/verifytest"
)

// FuzzTrace: whatever the bytes are, nothing panics, and every complaint is about a rule of the
// table.
func FuzzTrace(f *testing.F) {
	for _, name := range []string{"v1-llvm5-events", "v2-llvm6", "v5-events", "v5-llvm14-typed"} {
		f.Add(testrec.Gunzip(f, "../../format/xrayfdr/testdata/real/"+name+".xray.gz"))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		if len(in) > 64<<10 {
			return
		}
		c := &checker{Reporter: verifytest.Reporter(t, rules), src: bytes.NewReader(in), size: int64(len(in))}
		_ = c.check(context.Background())
	})
}
