package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func contestOf(results map[string]result) *contest {
	c := &contest{}
	for name, r := range results {
		c.contestants = append(c.contestants, &contestant{name: name, results: []result{r, r, r}})
	}
	return c
}

func TestRequirements_Compared(t *testing.T) {
	b := book{"erlang": contestOf(map[string]result{
		byDefault:    {wall: time.Second, peak: 1 << 20},
		withoutCache: {wall: 6 * time.Second},
		perfInject:   {wall: 14 * time.Second},
		plainSynced:  {wall: 800 * time.Millisecond},
	})}
	some, all := b.requirements(false), b.requirements(true)
	for _, want := range []string{
		"| 5 times faster | 6.0 times faster | ok |",
		"| 15 times faster | 14.0 times faster | NOT MET |",
		"| within 1.5 times as long | 1.25 times as long | ok |",
		"3 were measured, and 1 of these are not met",
	} {
		if !strings.Contains(some, want) || !strings.Contains(all, want) {
			t.Errorf("no %q in\n%s", want, some)
		}
	}
	if b.complete() {
		t.Error("one contest was held, and all are said to be measured")
	}
	if strings.Contains(some, "| functions |") || !strings.Contains(all, "| functions |") {
		t.Error("a contest that was not held is to be shown if all is wanted, and only then")
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
	names := []string{"machine", "growth", "large", "floor", "total", "total-long", "total-huge", "requirements"}
	for _, r := range requirements {
		names = append(names, r.contest)
	}
	s := shown{file: path}
	for _, name := range names {
		for range 2 { // what was written before is replaced
			if err := s.section(name, "table of "+name+"\n"); err != nil {
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

// Only calls on files are counted, with and without errors.
func TestCallsOf_FileCallsByNumber(t *testing.T) {
	got := callsOf(`% time     seconds  usecs/call     calls    errors syscall
------ ----------- ----------- --------- --------- ----------------
 50.00    0.100000           1     10000           write
 30.00    0.060000           1     10002         2 openat
 20.00    0.040000           4      9999           futex
------ ----------- ----------- --------- --------- ----------------
100.00    0.200000           1     30001         2 total
`)
	if want := "System calls on files: 20,002 (10,002 openat, 10,000 write)."; got != want {
		t.Errorf("got %q; want %q", got, want)
	}
}
