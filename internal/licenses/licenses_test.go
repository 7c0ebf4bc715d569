package licenses

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/internal/testrec"
)

const root = "../.."

// copyright runs script/copyright with a go command, and returns what it printed, and its errors.
func copyright(goCommand string) (stdout, stderr string, err error) {
	var out, faults strings.Builder
	cmd := exec.Command(filepath.Join(root, "script/copyright"))
	cmd.Env = append(os.Environ(), "GO="+goCommand)
	cmd.Stdout, cmd.Stderr = &out, &faults
	err = cmd.Run()
	return out.String(), faults.String(), err
}

// What packages say about copyright is about what is linked now.
func TestCopyright_IsUpToDate(t *testing.T) {
	goCommand := os.Getenv("GO")
	if goCommand == "" {
		goCommand = "go"
	}
	now, faults, err := copyright(goCommand)
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) && exit.ExitCode() == 77 {
		testrec.Skip(t, "no license of Go where its archives have it")
	}
	if err != nil {
		t.Fatalf("unexpected error: %v\n%s", err, faults)
	}
	if there := read(t, "packaging/copyright"); there != now {
		t.Error("packaging/copyright is not about what is linked: make copyright")
	}
	for _, want := range []string{
		"\nFiles: vendor/github.com/klauspost/compress/internal/snapref/*\nCopyright: 2011 The Snappy-Go Authors\n",
		"\nFiles: vendor/github.com/klauspost/compress/zstd/internal/xxhash/*\nCopyright: 2016 Caleb Spare\nLicense: Expat-compress-xxhash\n",
		" Copyright 2009 The Go Authors\n",
	} {
		if !strings.Contains(now, want) {
			t.Errorf("nothing of %q", want)
		}
	}
	// Each license that is named is there.
	for _, m := range regexp.MustCompile(`(?m)^License: (.*)$`).FindAllStringSubmatch(now, -1) {
		if !strings.Contains(now, "\nLicense: "+m[1]+"\n ") {
			t.Errorf("no text of the license %s", m[1])
		}
	}
}

// A module without a license, or with one that is not known, must not get into a package unseen; nor one
// whose holder is not named.
func TestCopyright_OfUnknownLicense(t *testing.T) {
	const mit = "Permission is hereby granted, free of charge, to any\nperson … substantial portions of the Software.\n"
	for license, want := range map[string]string{
		"":                                 "example.org/m v1.0.0: no license file",
		"GNU GENERAL PUBLIC LICENSE\n":     "this license is not known",
		mit:                                "no copyright holder",
		"Copyright (c) 2015 A. B.\n" + mit: "",
	} {
		dir := t.TempDir()
		sub := filepath.Join(dir, "m", "a", "b")
		if err := os.MkdirAll(sub, 0o755); err != nil {
			t.Fatal(err)
		}
		for path, text := range map[string]string{
			"LICENSE":   "Copyright 2009 Go\n" + mit,
			"m/LICENSE": license,
			"go":        fmt.Sprintf("#!/bin/sh\ncase $1 in env) echo %s ;; *) echo example.org/m v1.0.0 example.org/m/a/b %s ;; esac\n", dir, sub),
		} {
			if text == "" {
				continue
			}
			if err := os.WriteFile(filepath.Join(dir, path), []byte(text), 0o755); err != nil {
				t.Fatal(err)
			}
		}
		out, faults, err := copyright(filepath.Join(dir, "go"))
		if (err != nil) != (want != "") || !strings.Contains(faults, want) {
			t.Errorf("%q: got %v, %s; want %q", license, err, faults, want)
		}
		if paragraph := "Files: vendor/example.org/m/*\nCopyright: 2015 A. B\nLicense: Expat-Go\n"; want == "" && !strings.Contains(out, paragraph) {
			t.Errorf("got %s; want %s", out, paragraph)
		}
	}
}

// spdx has the names of SPDX for the licenses that Debian calls otherwise.
var spdx = map[string]string{"Expat": "MIT", "BSD-3-clause": "BSD-3-Clause"}

// The spec names all licenses, and the version that the changelog is about, which is
// the one that the packages have.
func TestSpec_AgreesWithCopyright(t *testing.T) {
	spec := read(t, "packaging/rpm/jitinject.spec")
	field := func(name string) string {
		m := regexp.MustCompile(`(?m)^` + name + `: +(.*)$`).FindStringSubmatch(spec)
		if m == nil {
			t.Fatalf("the spec has no %s", name)
		}
		return m[1]
	}
	var ids []string
	for _, m := range regexp.MustCompile(`(?m)^License: (Apache-2.0|Expat|BSD-3-clause|Unlicense)(?:-.*)?\n `).FindAllStringSubmatch(read(t, "packaging/copyright"), -1) {
		if id := spdx[m[1]]; id != "" {
			m[1] = id
		}
		ids = append(ids, m[1])
	}
	slices.Sort(ids)
	if got, want := field("License"), strings.Join(slices.Compact(ids), " AND "); got != want {
		t.Errorf("License: %s\nwant: %s", got, want)
	}
	m := regexp.MustCompile(`^jitinject \((.*)-(\d+)\) `).FindStringSubmatch(read(t, "packaging/debian/changelog"))
	if m == nil {
		t.Fatal("packaging/debian/changelog does not begin with a version")
	}
	if got := field("Version"); got != m[1] {
		t.Errorf("Version: %s in the spec, %s in packaging/debian/changelog", got, m[1])
	}
	newest := regexp.MustCompile(`(?m)^## \[(\d.*)\] - (\d{4}-\d\d-\d\d)$`).FindStringSubmatch(read(t, "CHANGELOG.md"))
	if newest == nil || newest[1] != m[1] {
		t.Errorf("CHANGELOG.md: got %q as the newest release; want %s, as in packaging/debian/changelog", newest, m[1])
	}
	if !regexp.MustCompile(`(?m)^%changelog\n\* .* - ` + regexp.QuoteMeta(m[1]) + `-1$`).MatchString(spec) {
		t.Errorf("the newest entry of the spec's changelog is not about %s", m[1])
	}
}

// read returns the text of a file of the repository.
func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, path))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
