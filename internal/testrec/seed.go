package testrec

import (
	"os"
	"strconv"
	"sync"
	"testing"
	"time"
)

// chance is the seed of this run of the tests.
var chance = sync.OnceValue(func() uint64 { return uint64(time.Now().UnixNano()) })

// Seed returns the seed for a test of random input: always the same, or a new one with
// JITINJECT_ALL=1 (make interop). A failing test prints the command that repeats it, with
// the seed in JITINJECT_SEED.
func Seed(t testing.TB) uint64 {
	t.Helper()
	seed := uint64(1)
	if s := os.Getenv("JITINJECT_SEED"); s != "" {
		n, err := strconv.ParseUint(s, 10, 64)
		if err != nil {
			t.Fatalf("JITINJECT_SEED: %v", err)
		}
		seed = n
	} else if os.Getenv("JITINJECT_ALL") != "" {
		seed = chance()
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("to repeat it, in the directory of the package: JITINJECT_ALL=%s JITINJECT_SEED=%d go test -count=1 -run '^%s$'", os.Getenv("JITINJECT_ALL"), seed, t.Name())
		}
	})
	return seed
}
