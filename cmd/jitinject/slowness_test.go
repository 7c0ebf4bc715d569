package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/internal/config"
	"github.com/jitinject/jitinject/internal/testrec"
)

// A result with many mappings in one process is slow to read. The advice names an option that helps.
func TestSummary_ManyMappings(t *testing.T) {
	dir := testrec.Unpack(t, "erlang")
	for _, c := range []struct {
		args []string
		want string
	}{
		{nil, "perf 6.12 and 7.2 take long to read 15,817 mappings of one process: inject with --bundle\n"},
		{[]string{"--bundle"}, ""},
		{[]string{"--sampled"}, ""},
	} {
		code, _, text := command(t, dir, append([]string{"--objects", t.TempDir()}, c.args...)...)
		if code != exitOK {
			t.Fatalf("%q: got exit code %d: %s; want %d", c.args, code, text, exitOK)
		}
		if !strings.HasSuffix(text, c.want) || strings.Contains(text, "take long") != (c.want != "") {
			t.Errorf("%q: got %q; want the end %q", c.args, text, c.want)
		}
	}
	var out bytes.Buffer
	writeSlowness(&out, slowMappings, &options{Options: config.Options{Bundle: true}})
	if !strings.Contains(out.String(), "--sampled") {
		t.Errorf("got %q for many mappings of bundles; want --sampled", out.String())
	}
	out.Reset()
	writeSlowness(&out, slowMappings, &options{Options: config.Options{Bundle: true, Sampled: true}})
	if out.Len() > 0 {
		t.Errorf("got %q with all options; want none", out.String())
	}
}
