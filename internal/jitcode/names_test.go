package jitcode

import "testing"

func TestBeginning_Limits(t *testing.T) {
	for _, c := range []struct {
		name  string
		limit int
		want  string
	}{
		{"name", 4, "name"}, {"name", 3, "nam"}, {"name", 0, ""}, {"", 0, ""},
		{"aä€😀", 10, "aä€😀"}, {"aä€😀", 9, "aä€"}, {"aä€😀", 7, "aä€"}, {"aä€😀", 6, "aä€"}, {"aä€😀", 5, "aä"}, {"aä€😀", 2, "a"},
		{"\x80\x80\x80\x80\x80", 4, "\x80\x80\x80\x80"}, // not in UTF-8
	} {
		if got := string(Beginning([]byte(c.name), c.limit)); got != c.want {
			t.Errorf("%q, %d: got %q; want %q", c.name, c.limit, got, c.want)
		}
	}
}
