package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// The messages that troubleshooting.md explains are those that the program has.
func TestDocs_MessagesExist(t *testing.T) {
	var texts []string
	for _, dir := range []string{"inject", "internal", "jitdump", "cmd/jitinject"} {
		err := filepath.WalkDir(filepath.Join(top, dir), func(path string, _ fs.DirEntry, err error) error {
			if err == nil && strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, "_test.go") {
				texts = append(texts, stringsIn(t, path)...)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	all := strings.Join(texts, "\n")
	doc, err := os.ReadFile(filepath.Join(top, "docs/troubleshooting.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, table, found := strings.Cut(string(doc), "\n## Messages\n")
	if !found {
		t.Fatal("there is no section about messages")
	}
	messages := 0
	for line := range strings.Lines(table) {
		cells := strings.Split(line, "|")
		if len(cells) < 3 {
			continue
		}
		for _, m := range inSpan.FindAllStringSubmatch(cells[1], -1) {
			messages++
			for _, part := range optionInMessage.Split(m[1], -1) { // options are put in later
				if !strings.Contains(all, part) {
					t.Errorf("jitinject never says %q, of %q", part, m[1])
				}
			}
		}
	}
	if messages < 15 {
		t.Errorf("%d messages were found", messages)
	}
}

// optionInMessage is an option with the name of its value.
var optionInMessage = regexp.MustCompile(`\B(--[a-z-]+|-[a-z])( [A-Z=]+)?`)

// stringsIn returns the strings in a Go file.
func stringsIn(t *testing.T, path string) (texts []string) {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(f, func(n ast.Node) bool {
		if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
			if s, err := strconv.Unquote(lit.Value); err == nil {
				texts = append(texts, s)
			}
		}
		return true
	})
	return texts
}

// All repairs that the summary may count are explained.
func TestDocs_QuirksAreExplained(t *testing.T) {
	doc, err := os.ReadFile(filepath.Join(top, "docs/usage.md"))
	if err != nil {
		t.Fatal(err)
	}
	var code []byte
	for _, name := range []string{"runtime/jitdump/fixes.go", "source/values.go"} {
		part, err := os.ReadFile(filepath.Join(top, "internal", name))
		if err != nil {
			t.Fatal(err)
		}
		code = append(code, part...)
	}
	names := regexp.MustCompile(`(?:\{|Name: |Tables = )"([a-z]+(?:-[a-z]+)+)"`).FindAllStringSubmatch(string(code), -1)
	if len(names) < 8 {
		t.Fatalf("%d repairs were found", len(names))
	}
	for _, m := range names {
		if !strings.Contains(string(doc), "| `"+m[1]+"` |") {
			t.Errorf("docs/usage.md does not explain %s", m[1])
		}
	}
}
