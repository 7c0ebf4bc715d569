package arrows

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

// unfinished are packages whose failures and skips are not checked yet.
var unfinished = []string{"internal/show", "internal/verify"}

// testFiles calls check for each file of tests, with its package's directory.
func testFiles(t *testing.T, check func(pkg string, fset *token.FileSet, file *ast.File)) {
	t.Helper()
	root := filepath.Join("..", "..")
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".") && d.Name() != "..") {
			return fs.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(path, "_test.go") {
			return nil
		}
		rel, err := filepath.Rel(root, filepath.Dir(path))
		if err != nil {
			return err
		}
		fset := token.NewFileSet()
		file, err := parser.ParseFile(fset, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		check(filepath.ToSlash(rel), fset, file)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// thingAndCondition is the form of a test's name.
var thingAndCondition = regexp.MustCompile(`^Test[A-Z0-9][A-Za-z0-9]*_[A-Z0-9][A-Za-z0-9_]*$`)

// A failure is found by the name of its test: it says what is tested and under which
// condition, and no other package has it. Names that are older than this rule are listed
// in testdata/testnames.txt. The list may only become shorter.
func TestNames_ThingAndCondition(t *testing.T) {
	const list = "testdata/testnames.txt"
	text, err := os.ReadFile(list)
	if err != nil {
		t.Fatal(err)
	}
	old := make(map[string]bool)
	for name := range strings.FieldsSeq(string(text)) {
		old[name] = true
	}
	places := make(map[string]string)
	met := make(map[string]bool)
	testFiles(t, func(_ string, fset *token.FileSet, file *ast.File) {
		for _, decl := range file.Decls {
			f, ok := decl.(*ast.FuncDecl)
			if !ok || f.Recv != nil || !strings.HasPrefix(f.Name.Name, "Test") || f.Name.Name == "TestMain" {
				continue
			}
			name, place := f.Name.Name, fset.Position(f.Pos()).String()
			met[name] = true
			if old[name] {
				continue
			}
			if !thingAndCondition.MatchString(name) {
				t.Errorf("%s: got test %s; want a name like TestThing_Condition", place, name)
			}
			if other := places[name]; other != "" {
				t.Errorf("%s: got test %s, which is in %s, too; want another name", place, name, other)
			}
			places[name] = place
		}
	})
	for name := range old {
		if !met[name] {
			t.Errorf("%s: got %s, which is no test any more; want it removed", list, name)
		}
	}
}

// A failure says what was got and what was wanted: its message does not begin with a value.
// Skips are reported by testrec.Skip and testrec.Missing.
func TestFailures_SayWhatTheyPrint(t *testing.T) {
	isBare := regexp.MustCompile(`^%[+#]?v`).MatchString
	testFiles(t, func(pkg string, fset *token.FileSet, file *ast.File) {
		for _, dir := range unfinished {
			if pkg == dir || strings.HasPrefix(pkg, dir+"/") {
				return
			}
		}
		ast.Inspect(file, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			method, ok := call.Fun.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			place := fset.Position(call.Pos())
			switch method.Sel.Name {
			case "Errorf", "Fatalf":
				literal, ok := call.Args[0].(*ast.BasicLit)
				if !ok {
					break
				}
				if format, err := strconv.Unquote(literal.Value); err == nil && isBare(format) {
					t.Errorf("%s: got the format %q; want one that says what is printed: \"got %%v; want …\"", place, format)
				}
			case "Skip", "Skipf", "SkipNow":
				if receiver, ok := method.X.(*ast.Ident); !ok || receiver.Name != "testrec" {
					t.Errorf("%s: got a call of %s; want testrec.Skip or testrec.Missing", place, method.Sel.Name)
				}
			}
			return true
		})
	})
}
