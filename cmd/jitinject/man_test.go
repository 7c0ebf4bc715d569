package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/internal/testrec"
)

// overstrike is how a teletype prints bold.
var overstrike = regexp.MustCompile("\x1b\\[[0-9;]*m|.\x08")

// The manual is what man and mandoc like: neither has anything to say about it.
func TestManual_ManAndMandocAccept(t *testing.T) {
	dir := t.TempDir()
	if code, _, stderr := command(t, dir, "man", dir); code != exitOK || stderr != "" {
		t.Fatalf("exit code %d\n%s", code, stderr)
	}
	// A second time nothing is in the way.
	if code, _, stderr := command(t, dir, "man", dir); code != exitOK || stderr != "" {
		t.Fatalf("exit code %d\n%s", code, stderr)
	}
	if to, err := os.Readlink(filepath.Join(dir, "man1", "perf-jitinject.1")); to != "jitinject.1" {
		t.Errorf(`got %+v, %v; want to = "jitinject.1"`, to, err)
	}
	pages, err := filepath.Glob(filepath.Join(dir, "man?", "*.?"))
	if err != nil || len(pages) < 4 {
		t.Fatalf("got %+v, %v; want no error, at least 4 pages", pages, err)
	}
	for _, page := range pages {
		t.Run(filepath.Base(page), func(t *testing.T) {
			for _, tool := range [][]string{
				{"man", "--warnings", "-E", "UTF-8", "-l", "-Tutf8", page},
				{"groff", "-ww", "-man", "-Tutf8", page},
				{"mandoc", "-Tlint", "-Wstyle", page},
			} {
				cmd := testrec.Command(t, dir, testrec.Tool(t, tool[0]), tool[1:]...)
				cmd.Env = append(cmd.Env, "MANWIDTH=80", "MANPAGER=cat")
				var stdout, stderr bytes.Buffer
				cmd.Stdout, cmd.Stderr = &stdout, &stderr
				err := cmd.Run()
				said, text := stderr.String(), overstrike.ReplaceAllString(stdout.String(), "")
				if tool[0] == "mandoc" {
					said += stdout.String()
				} else if !strings.Contains(text, "\nNAME\n") || !strings.Contains(text, "\nSEE ALSO\n") {
					t.Errorf("%s renders\n%s", tool[0], text)
				}
				if err != nil || said != "" {
					t.Errorf("%s: got %v; want no error, \"\"\n%s", strings.Join(tool, " "), err, said)
				}
			}
		})
	}
}

// What stands in the footer leaves room for the date.
func TestManual_FooterHasRoomForDate(t *testing.T) {
	for v, want := range map[string]string{
		"0.1.0": "0.1.0", "1.22.333": "1.22.333", "unknown": "unknown", "0-0123456789ab": "0-0123456789ab", "0-0123456789ab+dirty": "0-0123456789ab",
		"0.1.0~git20261122.012219.3ef897ea": "0.1.0", "0.1.0~git20261122.012219.3ef897ea.changed": "0.1.0",
		"0.1.1-0.20261122012219-3ef897ea1234": "0.1.1", "0.1.1-0.20261122012219-3ef897ea1234+dirty": "0.1.1",
	} {
		if got := shortVersion(v); got != want {
			t.Errorf("%s becomes %s, not %s", v, got, want)
		}
	}
	page := filepath.Join(t.TempDir(), "jitinject-verify.1")
	p := commandPage(findCommand("verify"))
	if err := os.WriteFile(page, []byte(p.Roff("2026-11-22", "jitinject "+shortVersion("0.1.0~git20261122.012219.3ef897ea"))), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := testrec.Command(t, t.TempDir(), testrec.Tool(t, "man"), "-l", "-Tutf8", page)
	cmd.Env = append(cmd.Env, "MANWIDTH=80", "MANPAGER=cat")
	out, err := cmd.Output()
	if err != nil || !bytes.Contains(out, []byte("\njitinject 0.1.0  ")) || !bytes.Contains(out, []byte("  2026-11-22  ")) {
		t.Errorf("got %v, footer %q; want version 0.1.0 and 2026-11-22", err, out[max(0, len(out)-200):])
	}
}

// The same sources give the same pages.
func TestManual_DateOfSources(t *testing.T) {
	if got := dateOf("86400"); got != "1970-01-02" {
		t.Errorf(`got %+v; want "1970-01-02"`, got)
	}
	for _, epoch := range []string{"", "soon"} {
		if got := dateOf(epoch); got != manualDate {
			t.Errorf("got %+v; want %v", got, manualDate)
		}
	}
	for _, p := range manualPages() {
		if text := p.Roff(dateOf(""), "x"); !strings.HasPrefix(text, ".TH ") || !strings.Contains(text, manualDate) {
			t.Errorf(`got %.60s; want one that begins with ".TH ", one with %q`, text, manualDate)
		}
	}
}

func TestManual_DirectoryUnwritable(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "man1"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if code, _, stderr := command(t, dir, "man", dir); code != exitFailed || !strings.Contains(stderr, "man1") {
		t.Errorf("exit code %d\n%s", code, stderr)
	}
}
