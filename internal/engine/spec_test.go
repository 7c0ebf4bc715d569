package engine_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/internal/formats/checks"
	"github.com/jitinject/jitinject/internal/jitobj"
	"github.com/jitinject/jitinject/internal/testrec"
	"github.com/jitinject/jitinject/internal/verify"
)

// TestSpecification_Sentences injects and verifies dumps made after sentences of the specifications,
// each with one function. testdata/spec has them.
func TestSpecification_Sentences(t *testing.T) {
	for name, c := range map[string]struct {
		stack    string // of LLVM at offset 0x10, innermost first; "" is not tested
		problem  string // of inject; "" for none
		verified string // a part of what verify says; "" for nothing
		tables   bool   // the object has an unwind table of the dump
		moved    int
		fixes    string
	}{
		"emptyfile-callsite":             {stack: "inl2 ././b.c:31:6, inl ././b.c:22:9, fn ././b.c:0"},
		"dbg2-two-records-first-wins":    {stack: "inl2 ././b.c:31:6, inl ././b.c:22:9, fn ././new.c:12:8", verified: "dump/tree-order", fixes: "orphaned-lines"},
		"dbg2-size-error-loses-lines":    {stack: "fn ././b.c:31:6", problem: "left without inlined calls", verified: "dump/tree-size", fixes: "broken-inline-trees"},
		"ehframe-extended-length":        {tables: true},
		"unwind-zRB-arm64-verify-silent": {tables: true},
		"unwind-advance-verify-silent":   {problem: "advances to byte 65 of 64", verified: "advances to byte 65 of 64", fixes: "unusable-unwind-tables"},
		"verify-lines-count":             {problem: "the lines before it are used", verified: "5 entries are announced for the function at 0x7f0000001000, and 1 is there"},
		"verify-lines-orphan-after":      {verified: "dump/lines-order: the function at 0x7f0000001000 was loaded before, at offset 0x28", fixes: "orphaned-lines"},
		"move":                           {moved: 1},
		"move-of-other-process":          {problem: "are of a process 777", verified: "dump/move-unknown"},
	} {
		dump, err := os.ReadFile(filepath.Join("../../testdata/spec", name+".dump"))
		if err != nil {
			t.Fatal(err)
		}
		w := newWorld(t)
		w.mark(4242, 1000, "jit-4242.dump")
		w.expect(4242, 2_000_002_500, 0x7f0000001005, "fn+0x5")
		w.Sample(4242, 10_000_000_000, 0x5000) // it lives longer than the times in the dump
		if err := os.WriteFile(w.path("jit-4242.dump"), dump, 0o600); err != nil {
			t.Fatal(err)
		}
		sum, err := w.run()
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		var problems, fixes []string
		for _, p := range sum.Problems {
			problems = append(problems, p.Text)
		}
		for _, f := range sum.Dumps[0].Fixes {
			fixes = append(fixes, f.Name)
		}
		if got := strings.Join(problems, "; "); (got != "") != (c.problem != "") || !strings.Contains(got, c.problem) {
			t.Errorf("%s: inject says %q, want %q", name, got, c.problem)
		}
		if got := strings.Join(fixes, " "); got != c.fixes || sum.Dumps[0].Moved != c.moved {
			t.Errorf("%s: fixed %q, %d moved; want %q, %d", name, got, sum.Dumps[0].Moved, c.fixes, c.moved)
		}
		var said []string
		opts := verify.Options{All: true, Emit: func(d verify.Diagnostic) { said = append(said, d.Rule+": "+d.Text) }}
		if _, err := checks.Verifier().File(context.Background(), w.path("jit-4242.dump"), opts); err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(said, "; "); (got != "") != (c.verified != "") || !strings.Contains(got, c.verified) {
			t.Errorf("%s: verify says %q, want %q", name, got, c.verified)
		}
		objects, _ := filepath.Glob(w.path("jitted-*.so"))
		if len(objects) != 1 {
			t.Fatalf("%s: objects %q", name, objects)
		}
		if sections := testrec.Run(t, w.dir, testrec.Tool(t, "readelf"), "-SW", objects[0]); strings.Contains(sections, ".eh_frame") != c.tables {
			t.Errorf("%s: unwind tables: %v, want %v", name, !c.tables, c.tables)
		}
		if c.stack == "" {
			continue
		}
		symbolizers := testrec.Symbolizers(t)
		llvm := symbolizers[slices.IndexFunc(symbolizers, func(s testrec.Symbolizer) bool { return strings.HasPrefix(s.Name, "llvm") })]
		var stack []string
		for _, f := range llvm.Stacks(t, objects[0], []uint64{jitobj.TextOffset + 0x10})[0] {
			place := fmt.Sprintf("%s %s:%d", f.Function, f.File, f.Line)
			if f.Column > 0 {
				place += fmt.Sprintf(":%d", f.Column)
			}
			stack = append(stack, place)
		}
		if got := strings.Join(stack, ", "); got != c.stack {
			t.Errorf("%s: %s, want %s", name, got, c.stack)
		}
	}
}
