package checks

import (
	"testing"

	"github.com/jitinject/jitinject/internal/formats"
	"github.com/jitinject/jitinject/internal/runtime/gdbjit"
)

// Each format of side files has a check, or programs that show its files. Registered objects are in core dumps.
func TestChecks_OfAllFormats(t *testing.T) {
	known := map[string]bool{gdbjit.Kind: true}
	for _, kind := range kinds {
		known[kind] = true
	}
	for kind := range readers {
		if known[kind] || formats.Of(kind) == nil {
			t.Errorf("%q has readers; want those of formats of the registry without a check", kind)
		}
		known[kind] = true
	}
	for _, f := range formats.All {
		if !known[f.Kind] {
			t.Errorf("%s: got no check, and no programs that show its files", f.Kind)
		}
	}
}
