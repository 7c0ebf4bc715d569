package report

import "testing"

// One is not several.
func TestCounted_Plural(t *testing.T) {
	for n, want := range map[int]string{0: "0 objects", 1: "1 object", 2: "2 objects"} {
		if got := Counted(n, "object"); got != want {
			t.Errorf("got %q; want %q", got, want)
		}
	}
}
