package checkdump_test

import (
	"bytes"
	"context"
	"os"
	"slices"
	"testing"

	"github.com/jitinject/jitinject/internal/formats/checks"
	jitdumps "github.com/jitinject/jitinject/internal/runtime/jitdump"
	"github.com/jitinject/jitinject/internal/verify"
	"github.com/jitinject/jitinject/internal/verify/checkdump"
)

// readProblems returns what the engine has to say of a dump when it reads all functions.
func readProblems(t *testing.T, path string) (texts []string) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	d, err := jitdumps.OpenFile(bytes.NewReader(b))
	if err != nil {
		return []string{err.Error()}
	}
	if err := d.Scan(context.Background()); err != nil {
		t.Fatal(err)
	}
	r := d.Reader()
	for i := range d.NumFunctions() {
		if _, err := r.Function(i); err != nil {
			texts = append(texts, err.Error())
		}
	}
	for _, p := range slices.Concat(d.Problems, r.Problems) {
		texts = append(texts, p.Text)
	}
	return texts
}

// The engine loses nothing of a dump that breaks only rules that are Repaired, and says nothing of it.
func TestRepaired_EngineHasNoProblem(t *testing.T) {
	repaired := make(map[string]bool)
	for _, r := range checkdump.Format.Rules {
		repaired[r.Name] = r.Repaired
	}
	n := 0
	for _, b := range slices.Concat(dumpBreaches, j9DumpBreaches) {
		if !repaired[b.Rule] || slices.ContainsFunc(b.Also, func(rule string) bool { return !repaired[rule] }) {
			continue
		}
		n++
		path, opts := b.Make(t, t.TempDir())
		if problems := readProblems(t, path); len(problems) > 0 {
			t.Errorf("%s: the engine says %q", b.Rule, problems)
		}
		var shown []verify.Diagnostic
		opts.User, opts.Emit = true, func(d verify.Diagnostic) { shown = append(shown, d) }
		if result, err := checks.Verifier().File(t.Context(), path, opts); err != nil || result.ToDo > 0 || len(shown) > 0 {
			t.Errorf("%s: got %+v, %v, %+v; want nothing for users", b.Rule, result, err, shown)
		}
	}
	if n < 20 {
		t.Errorf("%d files break rules that are repaired", n)
	}
}
