package verify_test

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/internal/formats"
	"github.com/jitinject/jitinject/internal/verify"
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
		for _, m := range regexp.MustCompile(`\.Broken\((.*?),`).FindAllSubmatch(text, -1) {
			name := strings.Trim(string(m[1]), `"`)
			if name != "rule string" && name != "e" && name != "nil" {
				used[name] = true
			}
		}
	}
	seen := make(map[string]bool)
	for _, r := range formats.Verifier().Rules() {
		if seen[r.Name] {
			t.Errorf("%s is in the table twice", r.Name)
		}
		seen[r.Name] = true
		if !used[r.Name] {
			t.Errorf("%s is in the table and nowhere else", r.Name)
		}
		if !regexp.MustCompile(`^(dump|mono|xray|j9|recording|object)/[a-z0-9-]+$`).MatchString(r.Name) {
			t.Errorf("%s is no name for a rule", r.Name)
		}
		for _, text := range []string{r.Statement, r.Cause, r.Advice} {
			if len(text) < 5 || !strings.HasSuffix(text, ".") {
				t.Errorf("%s: %q", r.Name, text)
			}
		}
		if got, ok := formats.Verifier().Explain(r.Name); !ok || got != r {
			t.Errorf("%s is explained as %v", r.Name, got)
		}
	}
	for name := range used {
		if !seen[name] {
			t.Errorf("%s is used, and not in the table", name)
		}
	}
}

// A breach is a file that breaks one rule. It makes the file in a directory and
// returns its path.
type breach struct {
	rule string
	make func(t *testing.T, dir string) (string, verify.Options)
	also []string // rules that cannot but be broken, too
}

// verified returns the rules that a file breaks, each once, sorted.
func verified(t *testing.T, path string, opts verify.Options) (rules []string, all []verify.Complaint) {
	t.Helper()
	opts.All = true
	opts.Emit = func(c verify.Complaint) { all = append(all, c) }
	result, err := formats.Verifier().File(context.Background(), path, opts)
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	counts := [3]int{}
	for _, c := range all {
		counts[c.Severity]++
		if r, ok := formats.Verifier().Explain(c.Rule); !ok || r.Advice != c.Advice || r.Severity != c.Severity {
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

// TestBreaches: for every rule there is a file that breaks it and no other.
func TestBreaches(t *testing.T) {
	breaches := slices.Concat(dumpBreaches, monoBreaches, xrayBreaches, j9Breaches, j9DumpBreaches, objectBreaches, recordingBreaches)
	covered := make(map[string]bool)
	for _, b := range breaches {
		covered[b.rule] = true
		t.Run(strings.ReplaceAll(b.rule, "/", "-"), func(t *testing.T) {
			path, opts := b.make(t, t.TempDir())
			rules, all := verified(t, path, opts)
			want := append([]string{b.rule}, b.also...)
			slices.Sort(want)
			if !slices.Equal(rules, want) {
				t.Errorf("it breaks %v, want %v: %+v", rules, want, all)
			}
			for _, c := range all {
				t.Log(c.Text)
			}
		})
	}
	for _, r := range formats.Verifier().Rules() {
		if !covered[r.Name] {
			t.Errorf("nothing breaks %s", r.Name)
		}
	}
}

// TestGood: where nothing is wrong, nothing is said.
func TestGood(t *testing.T) {
	for name, make := range map[string]func(t *testing.T, dir string) (string, verify.Options){
		"dump": goodDump, "dump beside recording": goodBeside, "object": goodObject, "recording": goodRecording, "pipe": goodPipe, "Mono log": goodMono, "XRay trace": goodXRay, "OpenJ9 metadata": goodJ9, "dump of OpenJ9": goodJ9Dump,
	} {
		t.Run(name, func(t *testing.T) {
			path, opts := make(t, t.TempDir())
			if rules, all := verified(t, path, opts); len(rules) > 0 {
				t.Errorf("%v: %+v", rules, all)
			}
		})
	}
}

func write(t *testing.T, dir, name string, b []byte) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
