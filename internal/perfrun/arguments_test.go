package perfrun

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/internal/testrec"
)

// fakePerf makes a perf from a shell script.
func fakePerf(t *testing.T, text string) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "perf")
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+text), 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestArguments_DefaultsBeforeTyped(t *testing.T) {
	old, new := fakePerf(t, "echo perf version 6.1.187"), fakePerf(t, "echo perf version 6.12.117")
	for _, c := range []struct{ perf, typed, want string }{
		{old, "report -i x", "report -i r -i x"},
		{new, "report --stdio", "report -i r --stdio"},
		{old, "annotate -l", "annotate -i r -l"},
		{new, "annotate --no-asm-raw", "annotate --asm-raw -i r --no-asm-raw"},
		{new, "script -F ip", "script -i r -F ip"},
	} {
		words := strings.Fields(c.typed)
		v := View{Perf: c.perf, Command: words[0], Typed: words[1:]}
		if got := strings.Join(v.Arguments("r"), " "); got != c.want {
			t.Errorf("%s: got %q; want %q", c.typed, got, c.want)
		}
	}
}

func TestDefaults_NoInputTyped(t *testing.T) {
	for typed, want := range map[string]bool{
		"": true, "--stdio": true, "-g none": true, "--no-inline": true, "-F srcline": true,
		"-i x": false, "-ix": false, "-ni x": false, "--input x": false, "--input=x": false, "--inp=x": false, "--stdio -i -": false,
	} {
		v := View{Command: "report", Typed: strings.Fields(typed)}
		if got := len(v.Defaults("r")) == 1; got != want {
			t.Errorf("%s: got %v; want %v", typed, got, want)
		}
	}
}

// Each perf lists the options of diff that take a word.
func TestDefaults_FilesOfDiff(t *testing.T) {
	for version, perf := range testrec.Perfs(t) {
		for typed, want := range map[string]string{
			"":                         "r.old r",
			"-f --stream":              "r.old r",
			"-s dso,sym":               "r.old r",
			"-fs dso":                  "r.old r",
			"-sdso new":                "r.old",
			"--sort dso -c ratio -o 1": "r.old r",
			"--sor dso new":            "r.old",
			"--sort=dso new -p":        "r.old",
			"a -s sym b":               "",
			"a b c":                    "",
			"-- a":                     "r.old",
		} {
			v := View{Perf: perf, Command: "diff", Typed: strings.Fields(typed)}
			if got := strings.Join(v.Defaults("r"), " "); got != want {
				t.Errorf("perf %s diff %s: got %q; want %q", version, typed, got, want)
			}
			want := strings.Join(strings.Fields(fmt.Sprint("diff -s sym ", want, " ", typed)), " ")
			if got := strings.Join(v.Arguments("r"), " "); got != want {
				t.Errorf("perf %s diff %s: got %q; want %q", version, typed, got, want)
			}
		}
	}
}
