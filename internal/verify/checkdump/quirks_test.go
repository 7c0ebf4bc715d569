package checkdump_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/jitinject/jitinject/internal/formats/checks"
	"github.com/jitinject/jitinject/internal/testrec"
	"github.com/jitinject/jitinject/internal/verify"
)

// Any prefix of a dump shows whether its lines are skewed.
func TestSkewedLines_OfEveryPrefix(t *testing.T) {
	skewed := 0
	for _, recording := range []string{"lli-hot", "lli-many", "node-fp", "v8-lines", "erlang"} {
		dir := testrec.Unpack(t, recording)
		paths, err := filepath.Glob(filepath.Join(dir, "*.dump"))
		if err != nil || len(paths) == 0 {
			t.Fatalf("%s: no dumps: %v", recording, err)
		}
		for _, path := range paths {
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			step := 1
			if len(data) > 1<<20 {
				step = 6
			}
			for cut := step; cut <= 24; cut += step {
				part := write(t, t.TempDir(), "jit-1.dump", data[:len(data)*cut/24])
				counts := make(map[string]int)
				opts := verify.Options{All: true, Emit: func(c verify.Diagnostic) { counts[c.Rule]++ }}
				if _, err := checks.Verifier().File(t.Context(), part, opts); err != nil {
					t.Fatal(err)
				}
				n := counts["dump/lines-skewed"]
				if n > 0 && recording == "erlang" || counts["dump/lines-contradict"]+counts["dump/lines-misplaced"] > 0 {
					t.Errorf("%s/%s, %d of 24 parts: %v", recording, filepath.Base(path), cut, counts)
				}
				if n == 0 && recording == "v8-lines" && cut > 12 {
					t.Errorf("%s/%s, %d of 24 parts: no lines are skewed", recording, filepath.Base(path), cut)
				}
				if n > 0 {
					skewed++
				}
			}
		}
	}
	if skewed < 100 {
		t.Errorf("%d prefixes with skewed lines, want 100", skewed)
	}
}
