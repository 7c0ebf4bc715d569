package checkmono_test

import (
	"testing"

	"github.com/jitinject/jitinject/internal/formats"
	"github.com/jitinject/jitinject/internal/verify"
	"github.com/jitinject/jitinject/internal/verify/checkmono"
	"github.com/jitinject/jitinject/internal/verify/verifytest"
)

type (
	breach = verifytest.Breach
	u32    = uint32
	u64    = uint64
)

var write = verifytest.Write

const (
	dumpPID = verifytest.PID
	a       = verifytest.Base // where most functions are
)

func verified(t *testing.T, path string, opts verify.Options) (rules []string, all []verify.Diagnostic) {
	t.Helper()
	return verifytest.Verified(t, formats.Verifier(), path, opts)
}

// TestBreaches: for every rule there is a file that breaks it and no other.
func TestBreaches(t *testing.T) {
	verifytest.CheckBreaches(t, formats.Verifier(), checkmono.Format.Rules, monoBreaches)
}

// TestGood: where nothing is wrong, nothing is said.
func TestGood(t *testing.T) {
	verifytest.CheckGood(t, formats.Verifier(), goodMono)
}
