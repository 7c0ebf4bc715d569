package main

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/internal/testrec"
)

const root = "../.."

// What packages say about copyright is about what is linked now.
func TestCopyright_IsUpToDate(t *testing.T) {
	t.Chdir(root)
	if _, err := goLicense(); errors.Is(err, fs.ErrNotExist) {
		testrec.Skip(t, "%v", err) // a distribution's Go
	}
	var now bytes.Buffer
	if err := run(nil, &now); err != nil {
		t.Fatal(err)
	}
	there, err := os.ReadFile("packaging/debian/copyright")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(there, now.Bytes()) {
		t.Error("packaging/debian/copyright is not about what is linked: make copyright")
	}
	for _, want := range []string{
		"\nFiles: vendor/github.com/klauspost/compress/internal/snapref/*\nCopyright: 2011 The Snappy-Go Authors\n",
		"\nFiles: vendor/github.com/klauspost/compress/zstd/internal/xxhash/*\nCopyright: 2016 Caleb Spare\nLicense: Expat-compress-xxhash\n",
		" Copyright 2009 The Go Authors\n",
	} {
		if !strings.Contains(now.String(), want) {
			t.Errorf("nothing of %q", want)
		}
	}
	// Each license that is named is there.
	texts := make(map[string]bool)
	for _, m := range regexp.MustCompile(`(?m)^License: (.*)\n `).FindAllStringSubmatch(now.String(), -1) {
		texts[m[1]] = true
	}
	for _, m := range regexp.MustCompile(`(?m)^License: (.*)$`).FindAllStringSubmatch(now.String(), -1) {
		if !texts[m[1]] {
			t.Errorf("no text of the license %s", m[1])
		}
	}
}

// The spec names all licenses, and the version that the changelog is about, which is
// the one that the packages have.
func TestSpec_AgreesWithCopyright(t *testing.T) {
	t.Chdir(root)
	if _, err := goLicense(); errors.Is(err, fs.ErrNotExist) {
		testrec.Skip(t, "%v", err)
	}
	spec, err := os.ReadFile("packaging/rpm/jitinject.spec")
	if err != nil {
		t.Fatal(err)
	}
	var spdx bytes.Buffer
	if err := run([]string{"-spdx"}, &spdx); err != nil {
		t.Fatal(err)
	}
	field := func(name string) string {
		m := regexp.MustCompile(`(?m)^` + name + `: +(.*)$`).FindSubmatch(spec)
		if m == nil {
			t.Fatalf("the spec has no %s", name)
		}
		return string(m[1])
	}
	if got, want := field("License"), strings.TrimSpace(spdx.String()); got != want {
		t.Errorf("License: %s\nwant: %s", got, want)
	}
	changelog, err := os.ReadFile("packaging/debian/changelog")
	if err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile(`^jitinject \((.*)-(\d+)\) `).FindSubmatch(changelog)
	if m == nil {
		t.Fatal("packaging/debian/changelog does not begin with a version")
	}
	if got := field("Version"); got != string(m[1]) {
		t.Errorf("Version: %s in the spec, %s in packaging/debian/changelog", got, m[1])
	}
	news, err := os.ReadFile("CHANGELOG.md")
	if err != nil {
		t.Fatal(err)
	}
	newest := regexp.MustCompile(`(?m)^## \[(\d.*)\] - (\d{4}-\d\d-\d\d)$`).FindSubmatch(news)
	if newest == nil || string(newest[1]) != string(m[1]) {
		t.Errorf("CHANGELOG.md: got %q as the newest release; want %s, as in packaging/debian/changelog", newest, m[1])
	}
	if !regexp.MustCompile(`(?m)^%changelog\n\* .* - ` + regexp.QuoteMeta(string(m[1])) + `-1$`).Match(spec) {
		t.Errorf("the newest entry of the spec's changelog is not about %s", m[1])
	}
}

func TestNotices_OfLicenses(t *testing.T) {
	const mit = "Copyright (c) 2015 A. Author\n\nPermission is hereby granted, free of charge, to any\nperson … substantial portions of the Software.\n"
	const bsd = "Copyright 2011 The Authors. All rights reserved.\n\nRedistribution and use in source and\nbinary forms … to endorse or promote products …\n"
	parts := mit + "\n------------------\n\nFiles: a/*\nFiles: b/c/*\n\n" + bsd
	for _, c := range []struct {
		name, file, subdir string
		section, id, whose string
	}{
		{"one", mit, "x", "", "MIT", "2015 A. Author"},
		{"rights", bsd, "x", "", "BSD-3-Clause", "2011 The Authors"},
		{"of another directory", parts, "x", "", "MIT", "2015 A. Author"},
		{"of a directory", parts, "a", "a", "BSD-3-Clause", "2011 The Authors"},
		{"below a directory", parts, "b/c/d", "b/c", "BSD-3-Clause", "2011 The Authors"},
		{"beside a directory", parts, "b/cd", "", "MIT", "2015 A. Author"},
	} {
		n, section, err := noticeFor(c.file, c.subdir)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if section != c.section || n.kind.spdx != c.id || strings.Join(n.copyright, ";") != c.whose {
			t.Errorf(`%s: got %q, %s, %q; want section = c.section, n.kind.spdx = %v, strings.Join(n.copyright, ";") = %v`, c.name, section, n.kind.spdx, n.copyright, c.id, c.whose)
		}
		if strings.Contains(n.text, "Copyright") || strings.Contains(n.text, "Files:") {
			t.Errorf("%s: text is %q", c.name, n.text)
		}
	}
	for _, text := range []string{"GNU GENERAL PUBLIC LICENSE\nVersion 2, June 1991\n", "", "All rights reserved.\n"} {
		if _, err := parseNotice(text); !errors.Is(err, errUnknown) {
			t.Errorf("%q: got %v; want an error that is %v", text, err, errUnknown)
		}
	}
}

// A module without a license must not get into a package unseen.
func TestModule_WithoutLicense(t *testing.T) {
	dir := t.TempDir()
	sub := filepath.Join(dir, "a", "b")
	if err := os.MkdirAll(sub, 0o755); err != nil {
		t.Fatal(err)
	}
	p := pkg{module: "example.org/m", version: "v1.0.0", path: "example.org/m/a/b", dir: sub}
	if _, _, err := licenseFile(p); err == nil || !strings.Contains(err.Error(), "example.org/m v1.0.0") {
		t.Errorf("error is %v", err)
	}
	if err := os.WriteFile(filepath.Join(dir, "a", "COPYING"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	file, subdir, err := licenseFile(p)
	if err != nil || subdir != "a" || filepath.Base(file) != "COPYING" {
		t.Errorf(`got %s, %s, %v; want no error, subdir = "a", filepath.Base(file) = "COPYING"`, file, subdir, err)
	}
}

// The Apache License does not say who holds the copyright: the files do.
func TestHeaderNotices_OfApacheLicense(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"a.go":      "// Copyright 2018 B Inc. All Rights Reserved.\n//\n// Licensed …\n\npackage p\n// Copyright 1999 no header\n",
		"b.go":      "// Copyright 2014 B Inc. All rights reserved.\npackage p\n",
		"c.go":      "// Copyright 2018 B Inc. All Rights Reserved.\npackage p\n",
		"a_test.go": "// Copyright 2020 not linked\npackage p\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := headerNotices(dir)
	if err != nil || strings.Join(got, ";") != "2014 B Inc;2018 B Inc" {
		t.Errorf("got %q, %v; want 2014 and 2018 B Inc", got, err)
	}
	if _, err := headerNotices(t.TempDir()); err == nil {
		t.Error("got no error; want one for a package without a copyright")
	}
}
