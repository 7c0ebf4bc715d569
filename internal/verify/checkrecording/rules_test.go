package checkrecording_test

import (
	"encoding/binary"
	"testing"

	"github.com/jitinject/jitinject/internal/formats/checks"
	"github.com/jitinject/jitinject/internal/verify"
	"github.com/jitinject/jitinject/internal/verify/checkrecording"
	"github.com/jitinject/jitinject/internal/verify/verifytest"
)

type breach = verifytest.Breach

var (
	le    = binary.LittleEndian
	write = verifytest.Write
)

const (
	dumpPID = verifytest.PID
	a       = verifytest.Base // where most functions are
)

func verified(t *testing.T, path string, opts verify.Options) (rules []string, all []verify.Diagnostic) {
	t.Helper()
	return verifytest.Verified(t, checks.Verifier(), path, opts)
}

// TestBreaches: for every rule there is a file that breaks it and no other.
func TestBreaches(t *testing.T) {
	verifytest.CheckBreaches(t, checks.Verifier(), checkrecording.Format.Rules, recordingBreaches)
}

// TestGood: where nothing is wrong, nothing is said.
func TestGood(t *testing.T) {
	verifytest.CheckGood(t, checks.Verifier(), goodRecording)
	verifytest.CheckGood(t, checks.Verifier(), goodPipe)
}
