package verifytest

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/internal/verify"
)

// A Breach is a file that breaks one rule.
type Breach struct {
	Rule string
	Make func(t *testing.T, dir string) (path string, opts verify.Options) // makes the file in a directory
	Also []string                                                          // rules that cannot but be broken, too
}

// Verified returns the rules that a file breaks, each once, sorted, and all complaints about it.
func Verified(t *testing.T, v *verify.Verifier, path string, opts verify.Options) (rules []string, all []verify.Diagnostic) {
	t.Helper()
	opts.All = true
	opts.Emit = func(c verify.Diagnostic) { all = append(all, c) }
	result, err := v.File(context.Background(), path, opts)
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	counts := [3]int{}
	for _, c := range all {
		counts[c.Severity]++
		if r, ok := v.Explain(c.Rule); !ok || r.Advice != c.Advice || r.Severity != c.Severity {
			t.Errorf("%+v does not say what the table says", c)
		}
		if !slices.Contains(rules, c.Rule) {
			rules = append(rules, c.Rule)
		}
	}
	if counts != [3]int{result.Notes, result.Warnings, result.Errors} {
		t.Errorf("the result is %+v, of %v", result, counts)
	}
	slices.Sort(rules)
	return rules, all
}

// CheckBreaches fails if a breach breaks other rules than it should, or if none of the breaches is
// of some rule of a table.
func CheckBreaches(t *testing.T, v *verify.Verifier, table []verify.Rule, breaches []Breach) {
	t.Helper()
	covered := make(map[string]bool)
	for _, b := range breaches {
		covered[b.Rule] = true
		t.Run(strings.ReplaceAll(b.Rule, "/", "-"), func(t *testing.T) {
			path, opts := b.Make(t, t.TempDir())
			rules, all := Verified(t, v, path, opts)
			want := append([]string{b.Rule}, b.Also...)
			slices.Sort(want)
			if !slices.Equal(rules, want) {
				t.Errorf("it breaks %v, want %v: %+v", rules, want, all)
			}
			for _, c := range all {
				t.Log(c.Text)
			}
		})
	}
	for _, r := range table {
		if !covered[r.Name] {
			t.Errorf("nothing breaks %s", r.Name)
		}
	}
}

// CheckGood fails if there is a complaint about a file.
func CheckGood(t *testing.T, v *verify.Verifier, make func(t *testing.T, dir string) (string, verify.Options)) {
	t.Helper()
	path, opts := make(t, t.TempDir())
	if rules, all := Verified(t, v, path, opts); len(rules) > 0 {
		t.Errorf("%v: %+v", rules, all)
	}
}

// Write writes a file into a directory, and returns its path.
func Write(t *testing.T, dir, name string, b []byte) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
