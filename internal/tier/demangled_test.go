package tier

import (
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
