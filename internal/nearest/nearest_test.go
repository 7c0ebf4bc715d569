package nearest

import (
	"strings"
	"testing"
)

func TestDistance_OfTypos(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{
		{"", "", 0}, {"", "abc", 3}, {"abc", "", 3}, {"abc", "abc", 0}, {"abc", "abd", 1}, {"abc", "ac", 1}, {"ac", "abc", 1},
		{"abc", "acb", 1}, {"dmup", "dump", 1}, {"kitten", "sitting", 3}, {strings.Repeat("x", 100), "x", 64},
	} {
		if got := distance(c.a, c.b); got != c.want || got != distance(c.b, c.a) {
			t.Errorf("for %q and %q: got %d; want %d", c.a, c.b, got, c.want)
		}
	}
	if got := Word("fo", []string{"for", "foo"}); got != "" {
		t.Errorf("got %q with two words as near; want none", got)
	}
}
