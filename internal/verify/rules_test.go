package verify_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/internal/formats/checks"
	"github.com/jitinject/jitinject/internal/verify"
	"github.com/jitinject/jitinject/internal/verify/verifytest"
)

// TestTable: the table is sound, and the code names its rules and no others.
func TestTable(t *testing.T) {
	used := make(map[string]bool)
	sources, err := filepath.Glob("check*/*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range sources {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`"((?:dump|producer|perfmap|recording|object|core)/[a-z0-9-]+)"`).FindAllSubmatch(text, -1) {
			used[string(m[1])] = true
		}
	}
	seen := make(map[string]bool)
	for _, r := range checks.Verifier().Rules() {
		if seen[r.Name] {
			t.Errorf("%s is in the table twice", r.Name)
		}
		seen[r.Name] = true
		if !used[r.Name] {
			t.Errorf("%s is in the table and nowhere else", r.Name)
		}
		if !regexp.MustCompile(`^(dump|producer|perfmap|recording|object|core)/[a-z0-9-]+$`).MatchString(r.Name) {
			t.Errorf("%s is no name for a rule", r.Name)
		}
		for _, text := range []string{r.Statement, r.Cause, r.Advice} {
			if len(text) < 5 || !strings.HasSuffix(text, ".") {
				t.Errorf("%s: %q", r.Name, text)
			}
		}
		if got, ok := checks.Verifier().Explain(r.Name); !ok || got != r {
			t.Errorf("%s is explained as %v", r.Name, got)
		}
	}
	for name := range used {
		if !seen[name] {
			t.Errorf("%s is used, and not in the table", name)
		}
	}
}

func verified(t *testing.T, path string, opts verify.Options) (rules []string, all []verify.Diagnostic) {
	t.Helper()
	return verifytest.Verified(t, checks.Verifier(), path, opts)
}

// TestNothing: what is none of the three is not judged.
func TestNothing(t *testing.T) {
	dir := t.TempDir()
	for name, b := range map[string][]byte{"empty": nil, "text": []byte("hello, world\n"), "perf.data": []byte("PERFILE2")} {
		_, err := checks.Verifier().File(context.Background(), verifytest.Write(t, dir, name, b), verify.Options{})
		if err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if _, err := checks.Verifier().File(context.Background(), filepath.Join(dir, "none"), verify.Options{}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a file that is not there: %v", err)
	}
	if _, err := checks.Verifier().File(context.Background(), "/dev/zero", verify.Options{}); err == nil {
		t.Error("a device: no error")
	}
}
