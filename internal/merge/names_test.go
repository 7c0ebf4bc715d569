package merge

import "testing"

// Spellings are those that runtimes write.
func TestIsAlike_Spellings(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"JS:*foo a.js:1:2", "*foo a.js:1:2", true},                                         // V8
		{"LazyCompile:~foo a.js:1:2", "JS:*foo a.js:1:2", false},                            // other word for the kind
		{"JS:*foo a.js:1:2", "JS:*foo a.js:1:20", false},                                    // another place
		{"JS:*foo a.js:1:2", "JS:*bar a.js:1:2", false},                                     //
		{"Lcom/example/Foo;::bar", "com.example.Foo::bar", true},                            // Java
		{"Lcom/example/Foo;bar(I)V", "void com.example.Foo.bar(int)", true},                 // perf's agent, jcmd
		{"Hot.inner(I)I", "int Hot.inner(int)", true},                                       // our agent, jcmd
		{"Hot.inner(I)I", "int Hot.outer(int)", false},                                      //
		{"int32 [App] App::Add(int32)[Tier0]", "int32 [App] App::Add(int32)", true},         // .NET
		{"int32 [App] App::Add(int32)[Tier0]", "int32 [App] App::Sub(int32)[Tier0]", false}, //
		{"_ZN3foo3barEi", "foo::bar(int)", true},                                            // C++
		{"_ZN3foo3barEi", "foo::baz(int)", false},                                           //
		{"App:IsPrime (int)", "App:IsPrime(int)", true},                                     // Mono
		{"TRACE-1$add$5", "TRACE-2$add$5", false},                                           // PHP
		{"alpha", "", false},
		{"(anonymous)", "(other)", false},
	} {
		if got := isAlike([]byte(c.a), []byte(c.b)); got != c.want {
			t.Errorf("%q and %q: got %v; want %v", c.a, c.b, got, c.want)
		}
		if got := isAlike([]byte(c.b), []byte(c.a)); got != c.want {
			t.Errorf("%q and %q: got %v; want %v", c.b, c.a, got, c.want)
		}
	}
}
