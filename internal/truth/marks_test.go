package truth

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// source writes a program.
func source(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestMarks_OfManyLanguages(t *testing.T) {
	for _, c := range []struct {
		line string
		want []Name
	}{
		{"f(); // hot: declared", []Name{{Function: "declared"}}},
		{"f() # hot: Point.__init__", []Name{{Function: "Point.__init__"}}},
		{"f(). %% hot: tail ", []Name{{Function: "tail"}}},
		{"select 1; -- hot: evalexpr_3_*", []Name{{Function: "evalexpr_3_*"}}},
		{"f(); // hot: inlining > mixed, mixed", []Name{{Function: "inlining", Inner: "mixed"}, {Function: "mixed"}}},
		{"f(); // hot: A > C, B > C, C", []Name{{Function: "A", Inner: "C"}, {Function: "B", Inner: "C"}, {Function: "C"}}},
		{"lambda: 1  # hot: <lambda>", []Name{{Function: "<lambda>"}}},
		{"f(); // hot: <>m__0", []Name{{Function: "<>m__0"}}},
		{"f(); // hot: Truth/Point:.ctor", []Name{{Function: "Truth/Point:.ctor"}}},
		{"f(); // hot: lambda$static$0", []Name{{Function: "lambda$static$0"}}},
		{"def question?(n) # hot: question?", []Name{{Function: "question?"}}},
	} {
		got, err := Marks(source(t, "app.x", "first line\n"+c.line+"\n"))
		want := []Mark{{File: "app.x", Line: 2, Names: c.want}}
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%q: got %+v, %v, want %+v", c.line, got, err, want)
		}
	}
}

func TestMarks_Errors(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"none", "a\nb // hot\n", "no line is marked"},
		{"empty name", "a\nb // hot: f,\n", `app.x:2: "f," is no mark`},
		{"no inner", "b // hot: f >\n", "app.x:1: "},
		{"words", "b // hot: f and g\n", "app.x:1: "},
		{"twice", "a // hot: f\nb // hot: g, f\n", "app.x:2: f is hot in app.x:1 already"},
	} {
		if got, err := Marks(source(t, "app.x", c.text)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, %v, want an error with %q", c.name, got, err, c.want)
		}
	}
	if _, err := Marks(filepath.Join(t.TempDir(), "none")); !os.IsNotExist(err) {
		t.Errorf("without the file: got %v", err)
	}
}

func TestFind_WordOfASymbol(t *testing.T) {
	marks, err := Marks(source(t, "app.x", strings.Join([]string{
		"// hot: read", "// hot: hidden", "// hot: inlining > mixed, mixed", "// hot: inliningLocal", "// hot: closure", "// hot: question?",
		"// hot: Truth/Point:.ctor", "// hot: evalexpr_1_*", "// hot: evalexpr_10_*", "// hot: <lambda>", "// hot: Point.read",
	}, "\n")))
	if err != nil {
		t.Fatal(err)
	}
	for symbol, want := range map[string]string{
		"JS:*get read file:///read/hidden.mjs:52:11":      "read",
		"JS:+#hidden file:///a.mjs:75:10":                 "hidden",
		"JS:*'inlining file:///a.mjs:1:1":                 "inlining",
		"JS:+'inliningLocal /a.mjs:1:1":                   "inliningLocal",
		"JS:*other /closure/a.mjs:1:1":                    "",
		"JS:*reading file:///a.mjs:1:1":                   "",
		"truth:'-closure/1-fun-0-'/2":                     "closure",
		"TRACE-83${closure:/var/closure/truth.php:181}$1": "closure",
		"'Elixir.Truth':'question?'/1":                    "question?",
		"Truth/Point:.ctor (int)":                         "Truth/Point:.ctor",
		"evalexpr_1_5":                                    "evalexpr_1_*",
		"evalexpr_10_5":                                   "evalexpr_10_*",
		"evalexpr_2_1":                                    "",
		"py::<lambda>:/a/b.py":                            "<lambda>",
		"py::Point.read:/a/b.py":                          "Point.read",
		"":                                                "",
	} {
		got := ""
		if _, n := find(marks, symbol); n != nil {
			got = n.Function
		}
		if got != want {
			t.Errorf("%q: got %q, want %q", symbol, got, want)
		}
	}
}

// Every program of testdata/truth has marks for some 25 functions.
func TestMarks_OfThePrograms(t *testing.T) {
	for _, program := range [][]string{
		{"truth.mjs", "other.mjs"}, {"truth.php", "other.php"}, {"Truth.java", "Other.java"}, {"truth.erl"}, {"truth.exs"},
		{"truth.py", "other.py"}, {"truth.c", "other.c", "other.h"}, {"Truth.cs", "Other.cs"}, {"truth.sql"},
	} {
		var paths []string
		for _, name := range program {
			paths = append(paths, filepath.Join("..", "..", "testdata", "truth", name))
		}
		marks, err := Marks(paths...)
		if err != nil || len(marks) < 20 {
			t.Errorf("for %v: got %d marks, %v, want 20 or more", program, len(marks), err)
		}
	}
}
