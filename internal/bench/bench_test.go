package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

func contestOf(results map[string]result) (c contest) {
	for name, r := range results {
		c = append(c, &contestant{name: name, took: []time.Duration{r.wall, r.wall, r.wall}, peak: float64(r.peak) / 1024})
	}
	return c
}

func TestRequirements_Compared(t *testing.T) {
	held := map[string]contest{"erlang": contestOf(map[string]result{
		byDefault:    {wall: time.Second, peak: 1 << 20},
		withoutSync:  {wall: time.Second},
		again:        {wall: time.Second},
		sampled:      {wall: 100 * time.Millisecond},
		withoutCache: {wall: 6 * time.Second},
		perfInject:   {wall: 14 * time.Second},
		plainLoop:    {wall: time.Second},
		plainSynced:  {wall: 800 * time.Millisecond},
	})}
	table := requirementsOf(held)
	want := fmt.Sprintf("Of %d, 6 were measured, and 1 of these are not met.\n\n", len(requirements)) + `| recording | | required | measured |
|---|---|---:|---:|
| erlang | jitinject : perf inject --jit | 15 times faster | 14.0 times faster |
`
	if table != want {
		t.Errorf("got\n%s; want\n%s", table, want)
	}
}

// Each requirement is about contestants of a part, on a medium of that part.
func TestRequirements_AreOfParts(t *testing.T) {
	for _, r := range requirements {
		name, disk := strings.CutSuffix(r.contest, "-disk")
		if !slices.ContainsFunc(allParts, func(p part) bool {
			return p.name == name && strings.Contains(p.media, (&medium{disk: disk}).where()) && slices.Contains(p.contestants, r.who) && (r.whom == "" || slices.Contains(p.contestants, r.whom))
		}) {
			t.Errorf("no part measures %+v", r)
		}
	}
}

// A run of many minutes must not end with a table that there is no place for.
func TestDocument_HasPlaces(t *testing.T) {
	doc, err := os.ReadFile("../../docs/benchmarks.md")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "doc.md")
	if err := os.WriteFile(path, doc, 0o600); err != nil {
		t.Fatal(err)
	}
	names := []string{"machine", "requirements"}
	for _, p := range allParts {
		for _, medium := range strings.Split(p.media, ", ") {
			names = append(names, p.name+map[string]string{"on disk": "-disk"}[medium])
		}
	}
	b := &bench{file: path}
	for _, name := range names {
		for range 2 { // what was written before is replaced
			if err := b.section(name, "table of "+name+"\n"); err != nil {
				t.Error(err)
			}
		}
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if n := strings.Count(string(got), "table of "+name+"\n"); n != 1 {
			t.Errorf("%d tables of %s, want 1", n, name)
		}
	}
}
