package formats_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/internal/formats"
	"github.com/jitinject/jitinject/internal/testrec"
	"github.com/jitinject/jitinject/internal/verify"
)

// A log among the files to check is held against the dumps among them.
func TestBeside_LogOfV8(t *testing.T) {
	const log, dump, other = "../format/v8log/testdata/node25.log", "../runtime/v8/testdata/node25.dump", "show.go"
	v := formats.Verifier()
	recordings, logs, dumps := formats.Beside(v, []string{log, dump, other})
	if len(recordings) > 0 || len(logs) > 0 || !slices.Equal(dumps, []string{dump}) {
		t.Fatalf("got recordings %v, logs %v, dumps %v; want the dump only", recordings, logs, dumps)
	}
	result, err := v.File(context.Background(), log, verify.Options{Dumps: dumps})
	if want := "17 of 17 optimized are in node25.dump"; err != nil || !strings.HasSuffix(result.Holds, want) {
		t.Errorf("got %q, %v; want %q", result.Holds, err, want)
	}
}

// A core among the files to check explains a recording that names no dump, if it has code of its process.
func TestBeside_CoreWithRegisteredCode(t *testing.T) {
	dir := t.TempDir()
	const data = "../runtime/gdbjit/testdata/lli."
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
	v := formats.Verifier()
	for _, beside := range []bool{false, true} {
		files := []string{recording}
		if beside {
			files = append(files, core)
		}
		var opts verify.Options
		var rules []string
		opts.Emit = func(d verify.Diagnostic) { rules = append(rules, d.Rule) }
		_, opts.Logs, _ = formats.Beside(v, files)
		if _, err := v.File(context.Background(), recording, opts); err != nil || slices.Contains(rules, "recording/no-jit") == beside {
			t.Errorf("core beside it %v: got rules %q, %v; want recording/no-jit only without the core", beside, rules, err)
		}
	}
}
