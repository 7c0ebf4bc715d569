package mangled

import (
	"runtime"
	"strings"
	"testing"
)

func TestWithoutParameters_KeepsTheRest(t *testing.T) {
	long := "_Z" + strings.Repeat("3fooIiE", maxMangled)
	for name, want := range map[string]string{
		"_ZL6tailedij":                "tailed",
		"_ZN8__main__8declaredB2v1Ex": "__main__::declared[abi:v1]",
		"_ZN5Outer5Inner3addIiEEvT_":  "Outer::Inner::add<int>",
		"py::f:/a.py":                 "py::f:/a.py",
		"_ZN" + strings.Repeat("10Dispatcher", 45) + "1fEv": strings.Repeat("Dispatcher::", 45) + "f", // sp is no pack there
		long: long,
	} {
		if got := WithoutParameters(name); got != want {
			t.Errorf("%.60s: got %.60s; want %s", name, got, want)
		}
	}
}

// The time that hostile names take shows in what is allocated.
func TestDemangle_SlowNames(t *testing.T) {
	for what, name := range map[string]string{
		"qualifiers":      "_Z1fI" + strings.Repeat("K", 4000) + "EE",
		"more qualifiers": "_Z1fI" + strings.Repeat("DorVK", 500) + "EE",
		"a pack":          "_Z1fIJ" + strings.Repeat("i", 2000) + "EEvDpT_",
		"expressions":     "_Z1fIJ" + strings.Repeat("i", 2000) + "EEv1aIXspT_EE",
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		got := Demangle(name)
		runtime.ReadMemStats(&after)
		if n := after.TotalAlloc - before.TotalAlloc; got != name || n > 10<<20 {
			t.Errorf("%s: got %.20s with %d bytes allocated; want the name, with 10 MB at most", what, got, n)
		}
	}
}
