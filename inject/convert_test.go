package inject

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/internal/config"
	"github.com/jitinject/jitinject/internal/formats"
	"github.com/jitinject/jitinject/internal/objstore"
	"github.com/jitinject/jitinject/internal/report"
)

// commandOnly are the options that only the command needs.
var commandOnly = []string{"DefaultInput", "DefaultOutput", "Proposal", "ShortNames"}

// Public types have all fields of the engine's, with their names in JSON, and no others.
func TestConvert_SameFields(t *testing.T) {
	compared := make(map[reflect.Type]bool)
	var compare func(public, engine reflect.Type)
	compare = func(public, engine reflect.Type) {
		if public == engine || compared[public] || public == reflect.TypeFor[Progress]() {
			return
		}
		compared[public] = true
		if public.Kind() != engine.Kind() {
			t.Errorf("got %v for %v; want the same kind of type", public, engine)
			return
		}
		switch public.Kind() {
		case reflect.Pointer, reflect.Slice:
			compare(public.Elem(), engine.Elem())
		case reflect.Struct:
			for _, f := range reflect.VisibleFields(engine) {
				if !f.IsExported() || len(f.Index) > 1 || engine == reflect.TypeFor[config.Options]() && slices.Contains(commandOnly, f.Name) {
					continue
				}
				same, ok := public.FieldByName(f.Name)
				if !ok || same.Tag != f.Tag {
					t.Errorf("in %v: got field %s with tag %q; want that of %v, with tag %q", public, f.Name, same.Tag, engine, f.Tag)
					continue
				}
				compare(same.Type, f.Type)
			}
			for _, f := range reflect.VisibleFields(public) {
				if _, ok := engine.FieldByName(f.Name); !ok {
					t.Errorf("in %v: got field %s, which %v has not; want it there", public, f.Name, engine)
				}
			}
		}
	}
	compare(reflect.TypeFor[Options](), reflect.TypeFor[config.Options]())
	compare(reflect.TypeFor[Summary](), reflect.TypeFor[report.Summary]())
	compare(reflect.TypeFor[CleanSummary](), reflect.TypeFor[objstore.CleanSummary]())
	if len(compared) < 20 {
		t.Errorf("got %d types; want those of options and summaries", len(compared))
	}
}

// Each value comes to the field with its name, and back.
func TestConvert_SameValues(t *testing.T) {
	var sum report.Summary
	fill(t, reflect.ValueOf(&sum).Elem(), new(int64))
	var public Summary
	convert(&public, &sum)
	var back report.Summary
	convert(&back, &public)
	if !reflect.DeepEqual(back, sum) {
		t.Errorf("got %+v; want %+v", back, sum)
	}
	if got, want := asJSON(t, public), asJSON(t, sum); got != want {
		t.Errorf("got %s; want %s", got, want)
	}

	var opts Options
	fill(t, reflect.ValueOf(&opts).Elem(), new(int64))
	logged := 0
	opts.Log, opts.Progress = func(int, string) { logged++ }, new(Progress)
	settings := opts.settings()
	if settings.Log(1, ""); logged != 1 {
		t.Error("got another Log; want that of the options")
	}
	if settings.Progress.Write(); !opts.Progress.Writes() {
		t.Error("got another Progress; want that of the options")
	}
	for _, f := range reflect.VisibleFields(reflect.TypeOf(opts)) {
		if f.Name == "Log" || f.Name == "Progress" {
			continue
		}
		got, want := reflect.ValueOf(settings).FieldByName(f.Name), reflect.ValueOf(opts).FieldByIndex(f.Index)
		if asJSON(t, got.Interface()) != asJSON(t, want.Interface()) || got.IsZero() && f.Type.Kind() != reflect.Pointer {
			t.Errorf("%s: got %v; want %v", f.Name, got, want)
		}
	}
}

// Lists and pointers that are nil stay nil, and empty lists stay empty, because JSON shows the difference.
func TestConvert_NilAndEmpty(t *testing.T) {
	sum := report.Summary{Dumps: []report.DumpSummary{}, Problems: []report.Problem{}}
	var public Summary
	convert(&public, &sum)
	if got, want := asJSON(t, public), asJSON(t, sum); got != want {
		t.Errorf("got %s; want %s", got, want)
	}
}

// fill sets all exported fields below v to values that are not zero, each to another one.
func fill(t *testing.T, v reflect.Value, n *int64) {
	t.Helper()
	*n++
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				fill(t, v.Field(i), n)
			}
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		fill(t, v.Index(0), n)
		fill(t, v.Index(1), n)
	case reflect.Pointer:
		if v.Type().Elem().PkgPath() == "os" {
			return
		}
		v.Set(reflect.New(v.Type().Elem()))
		fill(t, v.Elem(), n)
	case reflect.String:
		v.SetString(fmt.Sprint(*n))
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64:
		v.SetInt(*n)
	case reflect.Uint8, reflect.Uint32, reflect.Uint64:
		v.SetUint(uint64(*n) % 250)
	case reflect.Float64:
		v.SetFloat(float64(*n) / 8)
	case reflect.Func:
	default:
		t.Fatalf("got a field of type %v; want one that the test can fill", v.Type())
	}
}

func asJSON(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// Public constants are those of the engine, with the same values.
func TestConstants_SameValues(t *testing.T) {
	public := constants(t, ".")
	engine := constants(t, "../internal/report")
	for name, value := range constants(t, "../internal/config") {
		engine[name] = value
	}
	compared := 0
	for name, value := range engine {
		of := func(prefix string) bool { return strings.HasPrefix(name, prefix) }
		if name == "PhaseNone" || !slices.ContainsFunc([]string{"CFI", "Clock", "Phase", "Reason", "Writer", "SummaryVersion", "MaxHottest"}, of) {
			continue
		}
		compared++
		if public[name] != value {
			t.Errorf("%s: got %s; want %s", name, public[name], value)
		}
	}
	if compared < 30 {
		t.Errorf("got %d constants; want those of clocks, phases and reasons", compared)
	}
	kinds := []string{formats.Unknown, formats.Recording, formats.Core, formats.ELF}
	for _, f := range formats.All {
		kinds = append(kinds, f.Kind)
	}
	var got []string
	for name, value := range public {
		if strings.HasPrefix(name, "Kind") {
			got = append(got, strings.Trim(value, `"`))
		}
	}
	slices.Sort(got)
	slices.Sort(kinds)
	if !slices.Equal(got, kinds) {
		t.Errorf("got kinds %q; want %q", got, kinds)
	}
}

// constants returns the exported constants of a package with their values as source. Those of an
// enumeration have their places.
func constants(t *testing.T, dir string) map[string]string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("%s: got %d files, %v; want a package", dir, len(paths), err)
	}
	values := make(map[string]string)
	for _, path := range paths {
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, decl := range file.Decls {
			d, ok := decl.(*ast.GenDecl)
			if !ok || d.Tok != token.CONST {
				continue
			}
			for place, spec := range d.Specs {
				s := spec.(*ast.ValueSpec)
				value := fmt.Sprint("place ", place)
				if len(s.Values) == 1 {
					if literal, ok := s.Values[0].(*ast.BasicLit); ok {
						value = literal.Value
					}
				}
				values[s.Names[0].Name] = value
			}
		}
	}
	return values
}
