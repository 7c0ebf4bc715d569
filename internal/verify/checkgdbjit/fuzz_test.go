package checkgdbjit

import (
	"bytes"
	"context"
	"testing"

	"github.com/jitinject/jitinject/internal/testrec"
	"github.com/jitinject/jitinject/internal/verify/verifytest"
)

// Arbitrary bytes cause no panic, and every diagnostic is about a rule of the table.
func FuzzCore(f *testing.F) {
	f.Add(testrec.Gunzip(f, "../../runtime/gdbjit/testdata/lli.core.gz"))
	f.Fuzz(func(t *testing.T, in []byte) {
		if len(in) > 1<<20 {
			return
		}
		c := &checker{Reporter: verifytest.Reporter(t, rules), ctx: context.Background()}
		_ = c.check(bytes.NewReader(in))
	})
}
