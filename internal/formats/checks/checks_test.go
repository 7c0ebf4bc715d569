package checks_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
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
	if err := os.WriteFile(trace, testrec.Gunzip(t, "../../format/xrayfdr/testdata/real/v2-llvm6.xray.gz"), 0o600); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		"../../format/v8log/testdata/node25.log":   "jitinject dump can show",
		"../../show/testdata/mono/v17-jit.mlpd.gz": "jitinject dump and mprof-report can show",
		trace:                        "jitinject dump and llvm-xray can show",
		filepath.Join(dir, "a.bin"):  "jitinject dump can show",
		filepath.Join(dir, "a.json"): "jitinject dump can show",
		dir:                          "jitinject dump can show",
	} {
		var unchecked *verify.UncheckedError
		if _, err := v.File(context.Background(), path, verify.Options{}); !errors.As(err, &unchecked) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v; want an UncheckedError with %q", path, err, want)
		}
	}
}

// A core among the files to check explains a recording that names no dump, if it has code of its process.
func TestBeside_CoreWithRegisteredCode(t *testing.T) {
	dir := t.TempDir()
	const data = "../../runtime/gdbjit/testdata/lli."
	core, recording := filepath.Join(dir, "lli.core"), filepath.Join(dir, "perf.data")
	dump := testrec.Gunzip(t, data+"data.gz")
	for at := bytes.Index(dump, []byte("/jit-24067.dump")); at >= 0; at = bytes.Index(dump, []byte("/jit-24067.dump")) {
		copy(dump[at:], "/not-") // the marker is the mapping of another file then
	}
	for path, b := range map[string][]byte{core: testrec.Gunzip(t, data+"core.gz"), recording: dump} {
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	v := checks.Verifier()
	for _, beside := range []bool{false, true} {
		files := []string{recording}
		if beside {
			files = append(files, core)
		}
		var opts verify.Options
		var rules []string
		opts.Emit = func(d verify.Diagnostic) { rules = append(rules, d.Rule) }
		_, opts.Logs, _ = checks.Beside(v, files)
		if _, err := v.File(context.Background(), recording, opts); err != nil || slices.Contains(rules, "recording/no-jit") == beside {
			t.Errorf("core beside it %v: got rules %q, %v; want recording/no-jit only without the core", beside, rules, err)
		}
	}
}
