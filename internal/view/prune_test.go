package view_test

import (
	"math"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/internal/view"
)

// A page of many stacks is small, says what it leaves out, and has the right shares of what it shows.
func TestView_TooManyStacks(t *testing.T) {
	p := large(20_000)
	whole, pruned := dataOf(t, write(t, p, view.Options{})), dataOf(t, write(t, p, view.Options{NodeLimit: 2000}))
	if len(whole.Notes) > 0 {
		t.Errorf("got notes %q of a page with all stacks; want none", whole.Notes)
	}
	if n := len(pruned.Runs[0].Nodes.Up); n > 4000 || n < 1000 {
		t.Errorf("got %d nodes; want at most 2,000, and as many for what is left out", n)
	}
	if notes := strings.Join(pruned.Notes, "\n"); !strings.Contains(notes, "different stacks are left out") || !strings.Contains(notes, "[left out]") {
		t.Errorf("got notes %q; want one about stacks", notes)
	}
	want, got := sharesOf(whole, 0, true), sharesOf(pruned, 0, true)
	leftOut, exact := 0.0, 0
	for name, s := range got {
		if name.name == "[left out]" {
			leftOut = s.total
			continue
		}
		if s.total > want[name].total+1e-9 {
			t.Errorf("%s: got total %g %%; the whole page has %g %%", name.name, s.total, want[name].total)
		}
		if math.Abs(s.total-want[name].total) < 1e-9 {
			exact++
		}
	}
	if leftOut < 1 || exact == 0 {
		t.Errorf("got %g %% left out, and %d functions with the share of the whole page; want some", leftOut, exact)
	}
	for name, s := range want {
		if missing := s.total - got[name].total; missing > leftOut+1e-9 {
			t.Errorf("%s: got %g %% less than the whole page; want at most the %g %% left out", name.name, missing, leftOut)
		}
	}
	// The comparison has its own note, and sums of samples are the same.
	for _, note := range dataOf(t, write(t, p, view.Options{NodeLimit: 2000, Base: p})).Notes[1:] {
		if !strings.HasPrefix(note, "Of the other recording: ") {
			t.Errorf("got note %q; want one about the other recording", note)
		}
	}
	sum := func(d document) (n int) {
		for _, count := range d.Runs[0].Samples.Count {
			n += count
		}
		return n
	}
	if sum(whole) != sum(pruned) {
		t.Errorf("got %d samples; want all %d", sum(pruned), sum(whole))
	}
}
