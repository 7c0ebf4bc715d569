package messages

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// linked returns the directories of the module's packages that a package is built from, and its
// own: both relative to root and sorted. root holds go.mod, path is the module's.
func linked(root, path, pkg string) ([]string, error) {
	seen := map[string]bool{pkg: true}
	for todo := []string{pkg}; len(todo) > 0; todo = todo[1:] {
		files, err := parse(filepath.Join(root, todo[0]), parser.ImportsOnly)
		if err != nil {
			return nil, err
		}
		for _, f := range files {
			for _, imp := range f.Imports {
				name, err := strconv.Unquote(imp.Path.Value)
				if err != nil {
					return nil, err
				}
				if dir, ours := strings.CutPrefix(name, path+"/"); ours && !seen[dir] {
					seen[dir] = true
					todo = append(todo, dir)
				}
			}
		}
	}
	var dirs []string
	for dir := range seen {
		dirs = append(dirs, dir)
	}
	slices.Sort(dirs)
	return dirs, nil
}

// parse reads the Go files of a directory without its tests.
func parse(dir string, mode parser.Mode) (files []*ast.File, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".go") || strings.HasSuffix(e.Name(), "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), filepath.Join(dir, e.Name()), nil, mode)
		if err != nil {
			return nil, err
		}
		files = append(files, f)
	}
	return files, nil
}

// textsOf returns the texts in the Go files of a directory, sorted, each once: all literals with two
// words or more. Literals that + joins are one text; what is not a literal in it is "…".
//
// Collecting by the names of functions such as fmt.Errorf would miss texts in tables, constants
// and arguments of helpers.
func textsOf(dir string) ([]string, error) {
	files, err := parse(dir, 0)
	if err != nil {
		return nil, err
	}
	var texts []string
	for _, f := range files {
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.ImportSpec:
				return false
			case *ast.Field:
				n.Tag = nil // a struct tag is not printed
			case *ast.BinaryExpr:
				if n.Op != token.ADD || !hasLiteral(n) {
					return true
				}
				for _, other := range others(n) {
					texts = append(texts, inCalls(other)...)
				}
				texts = appendText(texts, joined(n))
				return false
			case *ast.BasicLit:
				texts = appendText(texts, joined(n))
			}
			return true
		})
	}
	slices.Sort(texts)
	return slices.Compact(texts), nil
}

// inCalls returns the texts below an expression, which is an operand of +.
func inCalls(e ast.Expr) (texts []string) {
	ast.Inspect(e, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.BinaryExpr:
			if n.Op == token.ADD && hasLiteral(n) {
				texts = appendText(texts, joined(n))
				return false
			}
		case *ast.BasicLit:
			texts = appendText(texts, joined(n))
		}
		return true
	})
	return texts
}

// hasLiteral reports whether an operand of a chain of + is a string literal.
func hasLiteral(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.BinaryExpr:
		return e.Op == token.ADD && (hasLiteral(e.X) || hasLiteral(e.Y))
	case *ast.BasicLit:
		return e.Kind == token.STRING
	}
	return false
}

// others returns the operands of a chain of + that are not literals.
func others(e ast.Expr) []ast.Expr {
	switch b := e.(type) {
	case *ast.BinaryExpr:
		if b.Op == token.ADD {
			return append(others(b.X), others(b.Y)...)
		}
	case *ast.BasicLit:
		return nil
	}
	return []ast.Expr{e}
}

// joined returns the text of a chain of +.
func joined(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.BinaryExpr:
		if e.Op == token.ADD {
			return joined(e.X) + joined(e.Y)
		}
	case *ast.BasicLit:
		if e.Kind == token.STRING {
			s, _ := strconv.Unquote(e.Value) // the parser has checked it
			return s
		}
	}
	return "…"
}

// words matches two words, the least that is a text.
var words = regexp.MustCompile(`(?:^|[\s(,;:/"])[A-Za-z]?[a-z'-]{2,}[,;:]? (?:[^a-z]* )?[("]?[A-Za-z]?[a-z'-]+`)

func appendText(texts []string, s string) []string {
	if !words.MatchString(s) {
		return texts
	}
	return append(texts, s)
}

// listOf returns the list of all texts of packages: for each a line with its directory, and below it
// one line for each text, indented. Control characters are escaped as in Go.
func listOf(root string, dirs []string) (string, error) {
	var b strings.Builder
	for _, dir := range dirs {
		texts, err := textsOf(filepath.Join(root, dir))
		if err != nil {
			return "", err
		}
		if len(texts) == 0 {
			continue
		}
		fmt.Fprintf(&b, "%s\n", dir)
		for _, text := range texts {
			quoted := strconv.Quote(text)
			quoted = strings.ReplaceAll(quoted[1:len(quoted)-1], `\"`, `"`)
			fmt.Fprintf(&b, "    %s\n", quoted)
		}
	}
	return b.String(), nil
}
