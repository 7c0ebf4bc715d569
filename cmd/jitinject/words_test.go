package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"github.com/jitinject/jitinject/internal/engine"
	"github.com/jitinject/jitinject/internal/testrec"
)

// libraryStrings calls f for each string in the engine's packages.
func libraryStrings(t *testing.T, f func(at token.Position, text string)) {
	t.Helper()
	top := testrec.Path("..")
	skip := regexp.MustCompile(`internal/(show|verify|bench|manual|sessions|runtimes|testrec|judge|truth|licenses|hostile|gate|golden|known|clients|stepped|format|summary|perfrun|profile)(/|$)`)
	for _, dir := range []string{"inject", "internal", "jitdump", "perfdata", "elfgen", "dwarfgen"} {
		err := filepath.WalkDir(filepath.Join(top, dir), func(path string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			if skip.MatchString(path) {
				return nil
			}
			if d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return nil
			}
			set := token.NewFileSet()
			file, err := parser.ParseFile(set, path, nil, 0)
			if err != nil {
				return err
			}
			ast.Inspect(file, func(n ast.Node) bool {
				if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
					if text, err := strconv.Unquote(lit.Value); err == nil {
						f(set.Position(lit.Pos()), text)
					}
				}
				return true
			})
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// The library knows nothing of options.
func TestLibrary_NamesNoOption(t *testing.T) {
	var names []string
	newFlags(new(options)).VisitAll(func(f *pflag.Flag) { names = append(names, regexp.QuoteMeta(f.Name)) })
	if len(names) < 30 {
		t.Fatalf("got %d options, want 30 at least", len(names))
	}
	option := regexp.MustCompile(`(^|[^-\w])--(` + strings.Join(names, "|") + `)\b|(with|out|use|name) -[oizf]\b`)
	strings, found := 0, 0
	libraryStrings(t, func(at token.Position, text string) {
		strings++
		if option.MatchString(text) {
			found++
			t.Errorf("%s: got an option in %q, want a field of Options", at, text)
		}
	})
	if strings < 1000 {
		t.Errorf("got %d strings, want 1000 at least", strings)
	}
}

// Each field that the engine may mention has an option, and is one.
func TestWords_FieldsOfOptions(t *testing.T) {
	typ := reflect.TypeFor[engine.Options]()
	for name := range fieldOptions {
		if _, ok := typ.FieldByName(name); !ok {
			t.Errorf("got words for %s, want a field of Options", name)
		}
	}
}

// Mentions become options with their values.
func TestWords_Mentions(t *testing.T) {
	o := &options{input: "a b.data", output: "perf.jit.data"}
	for message, want := range map[string]string{
		"name it with `Options.Objects = DIR`, or not":                 "name it with --objects DIR, or not",
		"`Options.Clock = \"so\\x60on\"`: no":                          "--clock so`on: no",
		"`Options.BuildIDCache = DIR`":                                 "--buildid-cache=DIR",
		"`Options.SideFiles{PID: 5, Path: \"x y\"}`: gone":             "--dump 5=x y: gone",
		"`Options.SideFiles{Kind: mono-log, PID: PID, Path: \"x y\"}`": "--mono PID='x y'",
		"`again with Options.SideFiles{Kind: xray, Path: \"x y\"}`":    "jitinject -i 'a b.data' --xray 'x y'",
		"with `Options.SideFiles{Kind: openj9-captures, Path: }`":      "with --j9",
		"`Options.Unknown`":                                            "Options.Unknown",
		"nothing":                                                      "nothing",
	} {
		if got := o.inWords(message); got != want {
			t.Errorf("%s: got %q, want %q", message, got, want)
		}
	}
}
