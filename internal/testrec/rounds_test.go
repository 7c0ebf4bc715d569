package testrec

import (
	"slices"
	"testing"
)

func TestChosen_FewMoreAndAll(t *testing.T) {
	all := make([]int, 100)
	for i := range all {
		all[i] = i
	}
	for value, want := range map[string]int{"": 5, "1": 20, "every": 100} {
		t.Setenv("JITINJECT_ALL", value)
		got := Chosen(t, all, 5, 20)
		if len(got) != want || !slices.IsSorted(got) || len(slices.Compact(slices.Clone(got))) != want {
			t.Errorf("JITINJECT_ALL=%s: got %v; want %d of them in order, each once", value, got, want)
		}
		if again := Chosen(t, all, 5, 20); !slices.Equal(got, again) {
			t.Errorf("JITINJECT_ALL=%s: got %v, then %v; want the same in one run", value, got, again)
		}
	}
	t.Setenv("JITINJECT_ALL", "1")
	var names [2][]int
	for i := range names {
		t.Run("", func(t *testing.T) { names[i] = Chosen(t, all, 5, 20) })
	}
	if slices.Equal(names[0], names[1]) {
		t.Errorf("got %v in two tests; want others in each", names[0])
	}
}
