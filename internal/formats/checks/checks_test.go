package checks_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/internal/formats/checks"
	"github.com/jitinject/jitinject/internal/testrec"
	"github.com/jitinject/jitinject/internal/verify"
)

// Files that only their runtime could mend are not checked. The message names what shows them.
func TestVerifier_Unchecked(t *testing.T) {
	v := checks.Verifier()
	dir := t.TempDir()
	for _, suffix := range []string{"bin", "json"} {
		b, err := os.ReadFile("../../format/j9meta/testdata/plain-216." + suffix)
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, "a."+suffix), b, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	trace := filepath.Join(dir, "xray-log")
	if err := os.WriteFile(trace, testrec.Gunzip(t, "../../format/xrayfdr/testdata/real/v5-events.xray.gz"), 0o600); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		"../../format/v8log/testdata/node25.log":   "jitinject dump can show",
		"../../show/testdata/mono/v17-jit.mlpd.gz": "jitinject dump and mprof-report can show",
		trace:                        "jitinject dump and llvm-xray can show",
		filepath.Join(dir, "a.bin"):  "jitinject dump can show",
		filepath.Join(dir, "a.json"): "jitinject dump can show the file",
		dir:                          "jitinject dump can show the files in it",
	} {
		var unchecked *verify.UncheckedError
		if _, err := v.File(context.Background(), path, verify.Options{}); !errors.As(err, &unchecked) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v; want an UncheckedError with %q", path, err, want)
		}
	}
}
