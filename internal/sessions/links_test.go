package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// markdown returns the paths of all markdown files of the repository.
func markdown(t *testing.T) (paths []string) {
	t.Helper()
	err := filepath.WalkDir(top, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && path != top && strings.HasPrefix(d.Name(), ".") {
			return fs.SkipDir
		}
		if err == nil && strings.HasSuffix(path, ".md") {
			paths = append(paths, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return paths
}

var (
	codeBlock = regexp.MustCompile("(?ms)^```.*?^```|^(?:    |\t).*?$|<!--.*?-->")
	codeSpan  = regexp.MustCompile("`[^`\n]+`")
	mdLink    = regexp.MustCompile(`\]\(([^()\s]+)\)`)
	heading   = regexp.MustCompile(`(?m)^#+ (.*)$`)
	noAnchor  = regexp.MustCompile("[^a-z0-9 _-]")
)

// prose is a document without what it shows of commands and programs.
func prose(text string) string { return codeBlock.ReplaceAllString(text, "") }

// anchors are the names that headings can be linked by, as GitHub makes them.
func anchors(text string) map[string]bool {
	names := make(map[string]bool)
	for _, m := range heading.FindAllStringSubmatch(codeBlock.ReplaceAllString(text, ""), -1) {
		name := noAnchor.ReplaceAllString(strings.ToLower(m[1]), "")
		names[strings.ReplaceAll(name, " ", "-")] = true
	}
	return names
}

// Links lead somewhere: to files that are there, and headings that are in them.
func TestDocs_LinksLeadSomewhere(t *testing.T) {
	links := 0
	for _, path := range markdown(t) {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range mdLink.FindAllStringSubmatch(codeSpan.ReplaceAllString(prose(string(text)), "`"), -1) {
			if strings.Contains(m[1], "://") {
				continue
			}
			links++
			file, anchor, _ := strings.Cut(m[1], "#")
			target := path
			if file != "" {
				target = filepath.Join(filepath.Dir(path), file)
			}
			if _, err := os.Stat(target); err != nil {
				t.Errorf("%s: the link %s leads nowhere", path, m[1])
				continue
			}
			if anchor == "" {
				continue
			}
			if there, err := os.ReadFile(target); err != nil || !anchors(string(there))[anchor] {
				t.Errorf("%s: the link %s: there is no such heading", path, m[1])
			}
		}
	}
	if links < 50 {
		t.Errorf("only %d links were found", links)
	}
}

// Whoever begins at the README finds every page, picture and program in docs.
func TestDocs_ReachableFromREADME(t *testing.T) {
	reached := make(map[string]bool)
	queue := []string{filepath.Join(top, "README.md")}
	for len(queue) > 0 {
		path := queue[0]
		queue = queue[1:]
		if reached[path] {
			continue
		}
		reached[path] = true
		text, err := os.ReadFile(path)
		if err != nil || !strings.HasSuffix(path, ".md") {
			continue // a directory counts for all that is in it
		}
		for _, m := range mdLink.FindAllStringSubmatch(string(text), -1) {
			file, _, _ := strings.Cut(m[1], "#")
			if file != "" && !strings.Contains(file, "://") {
				queue = append(queue, filepath.Join(filepath.Dir(path), file))
			}
		}
	}
	docs := filepath.Join(top, "docs")
	err := filepath.WalkDir(docs, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && !reached[path] && (filepath.Dir(path) == docs || !reached[filepath.Dir(path)]) {
			t.Errorf("%s: no way from README.md leads there", path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
