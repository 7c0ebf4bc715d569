package checkj9_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/internal/formats"
	"github.com/jitinject/jitinject/internal/verify"
	"github.com/jitinject/jitinject/internal/verify/checkj9"
	"github.com/jitinject/jitinject/internal/verify/verifytest"
)

type (
	breach = verifytest.Breach
	u64    = uint64
)

var (
	write = verifytest.Write
	code  = verifytest.Code
)

const (
	dumpPID  = verifytest.PID
	dumpBase = verifytest.Base
)

func verified(t *testing.T, path string, opts verify.Options) (rules []string, all []verify.Diagnostic) {
	t.Helper()
	return verifytest.Verified(t, formats.Verifier(), path, opts)
}

// TestBreaches: for every rule there is a file that breaks it and no other. Rules for methods are
// broken by records of jitdumps: checkdump's tests have these.
func TestBreaches(t *testing.T) {
	table := slices.DeleteFunc(slices.Clone(checkj9.Format.Rules), func(r verify.Rule) bool {
		return strings.HasPrefix(r.Name, "j9/method-") || strings.HasPrefix(r.Name, "j9/lines-")
	})
	verifytest.CheckBreaches(t, formats.Verifier(), table, j9Breaches)
}

// TestGood: where nothing is wrong, nothing is said.
func TestGood(t *testing.T) {
	verifytest.CheckGood(t, formats.Verifier(), goodJ9)
}
