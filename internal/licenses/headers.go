package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// headerNotices returns the copyright lines at the beginning of a package's Go files, sorted: the text
// of the Apache License names no holders.
func headerNotices(dir string) ([]string, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return nil, err
	}
	var notices []string
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		for line := range strings.Lines(string(text)) {
			comment, isComment := strings.CutPrefix(line, "//")
			if !isComment {
				break
			}
			if m := copyrightLine.FindStringSubmatch(strings.TrimSpace(comment)); m != nil {
				notices = append(notices, holder(m[1]))
			}
		}
	}
	if len(notices) == 0 {
		return nil, fmt.Errorf("%s: neither the license nor a file names a copyright holder", dir)
	}
	slices.Sort(notices)
	return slices.Compact(notices), nil
}
