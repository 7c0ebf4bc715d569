package tier

import (
	"runtime"
	"strings"
	"testing"
)

func TestDemangled_WithoutParameters(t *testing.T) {
	long := "_Z" + strings.Repeat("3fooIiE", maxMangled)
	for name, want := range map[string]string{
		"_ZL6tailedij":                "tailed",
		"_ZN8__main__8declaredB2v1Ex": "__main__::declared[abi:v1]",
		"_ZN5Outer5Inner3addIiEEvT_":  "Outer::Inner::add<int>",
		"py::f:/a.py":                 "py::f:/a.py",
		long:                          long,
	} {
		if got := Demangled(name); got != want {
			t.Errorf("%.60s: got %.60s; want %s", name, got, want)
		}
	}
}

// The time that repeated qualifiers take shows in what is allocated.
func TestDemangle_Qualifiers(t *testing.T) {
	for _, qualifiers := range []string{"K", "rVK"} {
		name := "_Z1fI" + strings.Repeat(qualifiers, 6000/len(qualifiers)) + "EE"
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		got := Demangle(name)
		runtime.ReadMemStats(&after)
		if n := after.TotalAlloc - before.TotalAlloc; got != name || n > 10<<20 {
			t.Errorf("%.20s: got %.20s with %d bytes allocated; want the name, with 10 MB at most", name, got, n)
		}
	}
}
