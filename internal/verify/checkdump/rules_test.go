package checkdump_test

import (
	"encoding/binary"
	"slices"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/internal/formats/checks"
	"github.com/jitinject/jitinject/internal/verify"
	"github.com/jitinject/jitinject/internal/verify/checkdump"
	"github.com/jitinject/jitinject/internal/verify/verifytest"
)

type (
	breach = verifytest.Breach
	u32    = uint32
	u64    = uint64
)

var (
	le    = binary.LittleEndian
	write = verifytest.Write
	code  = verifytest.Code
)

const (
	dumpPID  = verifytest.PID
	dumpBase = verifytest.Base
	a        = verifytest.Base // where most functions are
)

func verified(t *testing.T, path string, opts verify.Options) (rules []string, all []verify.Diagnostic) {
	t.Helper()
	return verifytest.Verified(t, checks.Verifier(), path, opts)
}

// TestBreaches: for every rule there is a file that breaks it and no other.
func TestBreaches(t *testing.T) {
	table := slices.DeleteFunc(slices.Clone(checkdump.Format.Rules), func(r verify.Rule) bool {
		return strings.HasPrefix(r.Name, "producer/") // checkproducer tests them
	})
	verifytest.CheckBreaches(t, checks.Verifier(), table, slices.Concat(dumpBreaches, j9DumpBreaches))
}

// TestGood: where nothing is wrong, nothing is said.
func TestGood(t *testing.T) {
	verifytest.CheckGood(t, checks.Verifier(), goodDump)
	verifytest.CheckGood(t, checks.Verifier(), goodBeside)
	verifytest.CheckGood(t, checks.Verifier(), goodJ9Dump)
}
