package checks

import (
	"testing"

	"github.com/jitinject/jitinject/internal/formats"
	"github.com/jitinject/jitinject/internal/runtime/gdbjit"
)

// Each format of side files has an entry, and each entry a format.
func TestChecks_OfAllFormats(t *testing.T) {
	for _, f := range formats.All {
		c, ok := byKind[f.Kind]
		if ok == (f.Kind == gdbjit.Kind) || ok && (c.format.Check == nil) != (c.readers != "") {
			t.Errorf("%s: got %v, %+v; want a check, or programs that show its files", f.Kind, ok, c)
		}
	}
	for kind := range byKind {
		if formats.Of(kind) == nil {
			t.Errorf("got a check of %s; want only formats of the registry", kind)
		}
	}
}
