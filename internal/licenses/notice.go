package main

import (
	"errors"
	"path"
	"regexp"
	"slices"
	"strings"
)

// A notice is what a license file says.
type notice struct {
	kind      kind
	copyright []string // "2012 The Go Authors"; none in the Apache License: see headerNotices
	text      string   // the terms, without the lines about copyright
}

// A kind is a license as Debian and SPDX call it.
type kind struct{ debian, spdx string }

type known struct {
	kind
	phrases []string
}

// kinds are the licenses that may be linked with code under the Apache License 2.0,
// told by phrases that all of their variants have.
var kinds = []known{
	{kind{"Apache-2.0", "Apache-2.0"}, []string{"Apache License", "Version 2.0"}},
	{kind{"Expat", "MIT"}, []string{"Permission is hereby granted, free of charge", "substantial portions of the Software"}},
	{kind{"BSD-3-clause", "BSD-3-Clause"}, []string{"Redistribution and use in source and binary forms", "endorse or promote products"}},
	{kind{"Unlicense", "Unlicense"}, []string{"This is free and unencumbered software released into the public domain."}},
	{kind{"BSD-2-clause", "BSD-2-Clause"}, []string{"Redistribution and use in source and binary forms", "2. Redistributions in binary form"}},
}

var errUnknown = errors.New("this license is not known: if it may be linked with code under the Apache License 2.0, add it to notice.go")

// rule is the line between parts of a file that holds several licenses, as
// github.com/klauspost/compress has them.
var rule = regexp.MustCompile(`(?m)^-{10,}$`)

// noticeFor reads a license file for the package in subdir of a module. Parts of it
// may begin with "Files: DIRECTORY/*", and are for these; such a directory is
// returned, too.
func noticeFor(file, subdir string) (n notice, section string, err error) {
	parts := rule.Split(strings.ReplaceAll(file, "\r\n", "\n"), -1)
	text := parts[0]
	for _, part := range parts[1:] {
		rest := strings.TrimLeft(part, "\n")
		matched := false
		for strings.HasPrefix(rest, "Files: ") {
			var line string
			line, rest, _ = strings.Cut(rest, "\n")
			dir := path.Dir(strings.TrimSpace(strings.TrimPrefix(line, "Files: ")))
			if subdir == dir || strings.HasPrefix(subdir, dir+"/") {
				matched, section = true, dir
			}
		}
		if matched {
			text = rest
		}
	}
	n, err = parseNotice(text)
	return n, section, err
}

var (
	copyrightLine = regexp.MustCompile(`^Copyright (?:\([cC]\) |© )?(.*\S)`)
	blank         = regexp.MustCompile(`\n{3,}`)
	rights        = regexp.MustCompile(`(?i)[.,]? all rights reserved\.?$`)
)

// parseNotice separates the lines about copyright from the terms.
func parseNotice(text string) (notice, error) {
	var n notice
	// Files break lines where they like.
	words := strings.Join(strings.Fields(text), " ")
	i := slices.IndexFunc(kinds, func(k known) bool {
		return !slices.ContainsFunc(k.phrases, func(phrase string) bool { return !strings.Contains(words, phrase) })
	})
	if i < 0 {
		return n, errUnknown
	}
	n.kind = kinds[i].kind
	var terms strings.Builder
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, " \t\n")
		if m := copyrightLine.FindStringSubmatch(line); m != nil {
			n.copyright = append(n.copyright, holder(m[1]))
			continue
		}
		terms.WriteString(line + "\n")
	}
	n.text = blank.ReplaceAllString(strings.Trim(terms.String(), "\n")+"\n", "\n\n")
	if n.kind.spdx == "Unlicense" {
		n.copyright = []string{"nobody: it is in the public domain"}
	}
	if len(n.copyright) == 0 && n.kind.spdx != "Apache-2.0" {
		return n, errors.New("this license names no copyright holder")
	}
	return n, nil
}

// holder is the year and the holder of a copyright, without what else the line says.
func holder(line string) string {
	return strings.TrimSuffix(rights.ReplaceAllString(line, ""), ".")
}
