package arrows_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
	"unicode"
)

// glossary has the words that identifiers do not use, and the field's terms for them.
var glossary = map[string]string{
	"heir": "forked child", "forebear": "ancestor", "genealogy": "process tree", "birth": "fork",
	"walls": "reserved ranges", "intruder": "overlap", "resident": "placed function", "stretch": "region, run or window",
	"tally": "counter", "census": "histogram", "claim": "reference", "settle": "assign, decide or finish",
	"touched": "referenced", "family": "address space, related processes", "company": "group of address spaces",
	"told": "reported", "suspect": "JIT process", "accuse": "diagnose", "codeless": "without code",
	"complaint": "diagnostic", "complain": "report", "broken": "damaged, violated", "habit": "quirk", "repair": "fix",
	"glance": "probe", "stray": "unattributed, unmapped", "madeup": "synthetic",
}

// otherMeanings are identifiers that use a word in another sense.
var otherMeanings = map[string]bool{
	"internal/runtimes.family":   true, // of runtimes
	"internal/runtimes.families": true,
}

// Identifiers use the field's terms.
func TestGlossary_Identifiers(t *testing.T) {
	checked := 0
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			if err == nil && (d.Name() == "testdata" || d.Name() == ".git") {
				return fs.SkipDir
			}
			return err
		}
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, path, nil, 0)
		if err != nil {
			return err
		}
		pkg := filepath.ToSlash(filepath.Dir(strings.TrimPrefix(path, "../../")))
		for _, id := range declared(file) {
			checked++
			for _, w := range wordsOf(id.Name) {
				say, ok := glossary[w]
				if !ok {
					say, ok = glossary[strings.TrimSuffix(w, "s")]
				}
				if ok && !otherMeanings[pkg+"."+id.Name] {
					t.Errorf("%s: got identifier %s, want %s in place of %q", set.Position(id.Pos()), id.Name, say, w)
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if checked < 10000 {
		t.Errorf("got %d identifiers, want 10000 at least", checked)
	}
}

// declared returns the identifiers that a file declares: functions, types, constants, variables,
// fields and parameters.
func declared(file *ast.File) (ids []*ast.Ident) {
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			ids = append(ids, n.Name)
		case *ast.TypeSpec:
			ids = append(ids, n.Name)
		case *ast.ValueSpec:
			ids = append(ids, n.Names...)
		case *ast.Field:
			ids = append(ids, n.Names...)
		}
		return true
	})
	return ids
}

// wordsOf divides an identifier at its capital letters.
func wordsOf(name string) (words []string) {
	runes := []rune(name)
	start := 0
	for i := 1; i <= len(runes); i++ {
		if i == len(runes) || unicode.IsUpper(runes[i]) && !unicode.IsUpper(runes[i-1]) {
			words = append(words, strings.ToLower(string(runes[start:i])))
			start = i
		}
	}
	return words
}
