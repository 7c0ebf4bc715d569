package mono

import (
	"testing"
)

// One method under two names is one function; code in the place of other code is another.
func TestMonoLog_MethodUnderTwoNames(t *testing.T) {
	for _, x := range []struct {
		a, b string
		want bool
	}{
		{"App:Fill<string> (string)", "App:Fill<T_REF> (T_REF)", true},
		{"List`1<A.B`1<C>>:Sort (System.Comparison`1<C>)", "List`1<T_REF>:Sort (System.Comparison`1<T_REF>)", true},
		{"object:MemberwiseClone ()", "(wrapper managed-to-native) object:MemberwiseClone (object)", true},
		{"Thread:Start ()", "Thread:Start (StackCrawlMark&)", true},
		{"Thread:Start ()", "Thread:Startup ()", false},
		{"ThreadHelper:.cctor ()", "Thread:ValidateThreadState ()", false},
		{"App:<Main>b__0 ()", "App:<Main>b__1 ()", false},
		{"(wrapper x) App:F ()", "(wrapper x) App:G ()", false},
		{"", "", true},
		{"App:F<", "App:F", true},
	} {
		if kin([]byte(x.a), []byte(x.b)) != x.want || kin([]byte(x.b), []byte(x.a)) != x.want {
			t.Errorf("%q and %q: %v", x.a, x.b, !x.want)
		}
	}
}
