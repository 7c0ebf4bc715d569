package arrows

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
)

// TestReceivers_OneNamePerType checks that all methods of a type have one receiver's name.
func TestReceivers_OneNamePerType(t *testing.T) {
	names := make(map[string]string) // by package and type
	root := filepath.Join("..", "..")
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "testdata" || d.Name() == ".git" || d.Name() == "build"):
			return fs.SkipDir
		case d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		fset := token.NewFileSet()
		file, err := parser.ParseFile(fset, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		pkg, err := filepath.Rel(root, filepath.Dir(path))
		if err != nil {
			return err
		}
		for _, decl := range file.Decls {
			fn, ok := decl.(*ast.FuncDecl)
			if !ok || fn.Recv == nil || len(fn.Recv.List[0].Names) == 0 {
				continue
			}
			typ, name := filepath.ToSlash(pkg)+"."+receiverType(fn.Recv.List[0].Type), fn.Recv.List[0].Names[0].Name
			if known, ok := names[typ]; ok && known != name {
				t.Errorf("%s: receiver %s of %s; want %s as in other methods", fset.Position(fn.Pos()), name, typ, known)
			}
			names[typ] = name
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(names) < 500 {
		t.Errorf("got %d types with methods; want those of the whole tree", len(names))
	}
}

// receiverType returns the name of a receiver's type, without pointer and type parameters.
func receiverType(typ ast.Expr) string {
	switch typ := typ.(type) {
	case *ast.StarExpr:
		return receiverType(typ.X)
	case *ast.IndexExpr:
		return receiverType(typ.X)
	case *ast.IndexListExpr:
		return receiverType(typ.X)
	case *ast.Ident:
		return typ.Name
	}
	return ""
}
