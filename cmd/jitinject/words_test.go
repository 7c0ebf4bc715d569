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

	"github.com/jitinject/jitinject/internal/config"
	"github.com/jitinject/jitinject/internal/report"
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
	typ := reflect.TypeFor[config.Options]()
	for name := range fieldOptions {
		if _, ok := typ.FieldByName(name); !ok {
			t.Errorf("got words for %s, want a field of Options", name)
		}
	}
}

// Settings become options with their values.
func TestWords_Settings(t *testing.T) {
	for want, s := range map[string]report.Setting{
		"--objects DIR":         {Field: "Objects", Value: "DIR"},
		"--clock so`on":         {Field: "Clock", Value: "so`on", IsPath: true},
		"--buildid-cache=DIR":   {Field: "BuildIDCache", Value: "DIR"},
		"--dump 5=x y":          {Field: "SideFiles", PID: "5", Value: "x y", IsPath: true},
		"--mono PID='x y'":      {Field: "SideFiles", Kind: "mono-log", PID: "PID", Value: "x y", IsPath: true},
		"--j9":                  {Field: "SideFiles", Kind: "openj9-captures"},
		"isolate-1-9-v8.log":    {Field: "SideFiles", Kind: "v8log", Value: "isolate-1-9-v8.log", IsPath: true},
		"Options.Unknown":       {Field: "Unknown"},
		"--dump 5='it is'":      {Field: "SideFiles", PID: "5", Value: "it is", IsPath: true, Again: true},
		"-i 'recording of May'": {Field: "Input", Value: "recording of May", IsPath: true, Again: true},
	} {
		if got := s.String(); got != want {
			t.Errorf("got %q, want %q for %+v", got, want, s)
		}
	}
}

// A proposal repeats the names of the files of the run, but not that which it changes.
func TestWords_Again(t *testing.T) {
	o := &options{Options: config.Options{Input: "a b.data", Output: "perf.jit.data"}}
	trace := report.Setting{Field: "SideFiles", Kind: "xray", Value: "x y", IsPath: true, Again: true}
	if got, want := o.again(trace), "jitinject -i 'a b.data' --xray 'x y'"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	o.Output = "out"
	part := report.Setting{Field: "Input", Value: "a.1", IsPath: true, Again: true}
	if got, want := o.again(part), "jitinject -o out -i a.1"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
