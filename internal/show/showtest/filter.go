package showtest

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/internal/show"
)

// Options returns options for JSON with a filter that set fills in.
func Options(t *testing.T, set func(*show.Filter)) show.Options {
	t.Helper()
	o := show.Options{JSON: true}
	set(&o.Filter)
	return o
}

// Kinds returns the type and the name of each item of JSON.
func Kinds(t *testing.T, lines string) (list []string) {
	t.Helper()
	for line := range strings.Lines(lines) {
		var it struct {
			Type, Name, Time, Comm, Filename string
			Addr                             string `json:"code_addr"`
		}
		if err := json.Unmarshal([]byte(line), &it); err != nil {
			t.Fatal(err)
		}
		if it.Type != "file" {
			list = append(list, strings.TrimSpace(it.Type+" "+it.Name+it.Comm+it.Filename))
		}
	}
	return list
}

// Range parses a range of addresses or times.
func Range(t *testing.T, parse func(string) (show.Range, error), s string) show.Range {
	t.Helper()
	r, err := parse(s)
	if err != nil {
		t.Fatal(s, err)
	}
	return r
}

// Names parses a name for a filter.
func Names(t *testing.T, s string) []show.Name {
	t.Helper()
	n, err := show.ParseName(s)
	if err != nil {
		t.Fatal(s, err)
	}
	return []show.Name{n}
}
