package merge

import (
	"runtime"
	"strings"
	"testing"
)

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
		{"_ZN3foo3barEi", "_ZN3foo3barEl", false},                                           // overloads
		{"_ZN3foo3barEi", "_ZN3foo3barEi.isra.0", true},                                     //
		{"_ZN3foo3barEi.cold", "foo::bar(long)", true},                                      // spellings of parameters vary
		{"App.bar(I)V", "LApp;::bar", true},                                                 //
		{"App.bar(I)V", "LApp;bar(I)V", true},                                               //
		{"App.bar(I)V", "App.bar()V", false},                                                // overloads
		{"App.bar([Ljava/lang/String;J)V", "LApp;bar([Ljava/lang/String;I)V", false},        //
		{"App:IsPrime (int)", "App:IsPrime(int)", true},                                     // Mono
		{"app:is_prime/2", "$app:is_prime/2", true},                                         // Erlang
		{"TRACE-1$add$5", "TRACE-2$add$5", false},                                           // PHP
		{"_ZN1alsEi", "_ZN1altEi", false},                                                   // operator<< and operator<
		{"_ZN1altEi", "a::operator<(int)", true},                                            //
		{"_ZN1altEi", "a::operator<<(int)", false},                                          //
		{"_ZN1aclEi", "a::operator()(int)", true},                                           //
		{"_ZN1aclEi", "a::operator<(int)", false},                                           //
		{"_ZN1anaEm", "a::operator new(unsigned long)", false},                              // operator new[]
		{"App.operator()V", "App::operator", true},                                          // a method of Java
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

// The more alike names are, the more the sources speak of one function.
func TestCompare_Order(t *testing.T) {
	for i, c := range []struct{ a, b string }{
		{"Hot.inner(I)I", "Hot.outer(I)I"}, {"(trampoline)", "Hot.inner(I)I"}, {"Hot.inner(I)I", "int Hot.inner(int)"},
		{"App:IsPrime (int)", "App:IsPrime(int)"}, {"(trampoline)", "(trampoline)"},
	} {
		if got := compare([]byte(c.a), []byte(c.b)); got != likeness(i) {
			t.Errorf("%q and %q: got %d; want %d", c.a, c.b, got, i)
		}
	}
}

// A few characters of a mangled name stand for gigabytes.
func TestCompare_Bounds(t *testing.T) {
	name := "_Z1f1AIiiES_IS0_S0_E"
	for _, n := range "123456789ABCDEFGHIJKLMNO" {
		name += strings.ReplaceAll("S_ISx_Sx_E", "x", string(n))
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	compare([]byte(name), []byte(name+"v"))
	runtime.ReadMemStats(&after)
	if got, most := after.TotalAlloc-before.TotalAlloc, uint64(1<<20); got > most {
		t.Errorf("got %d bytes allocated; want at most %d", got, most)
	}
}
