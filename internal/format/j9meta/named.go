package j9meta

import (
	"path/filepath"
	"slices"

	"github.com/jitinject/jitinject/internal/safefile/sys"
)

// NamedIn returns what the name of a directory means: the captures in it, and metadata without its JSON, as
// Named has them. It returns nil if there is no capture, and if perf record made the directory.
func NamedIn(dir string) []string {
	if st, err := sys.Stat(dir); err != nil || !st.IsDir() {
		return nil
	}
	if _, err := sys.Lstat(filepath.Join(dir, "data")); err == nil {
		return nil
	}
	bins, alone, err := capturesOf(dir)
	if err != nil || len(bins) == 0 {
		return nil
	}
	return Named(append(bins, alone...))
}

// Named returns what paths mean that a shell has made of a pattern like captures/*: of a capture of which both
// files are there the first, and no files with code that a capture among them names. All others stay
// as they are, in their order. Errors are for those who read the files.
func Named(paths []string) []string {
	seen := make(map[string]bool) // metadata
	var once []string
	for _, path := range paths {
		if bin, _, ok := CapturePaths(path); ok {
			bin = wholePath(bin)
			if seen[bin] {
				continue
			}
			seen[bin] = true
		}
		once = append(once, path)
	}
	if len(seen) == 0 || !slices.ContainsFunc(once, func(path string) bool { return !IsCapturePair(path) }) {
		return once // and no captures have to be read
	}
	code := make(map[string]bool)
	for bin := range seen {
		if c, err := ReadCapture(bin); err == nil {
			code[wholePath(c.CodePath)], code[wholePath(c.ColdCodePath)] = true, true
		}
	}
	var named []string
	for _, path := range once {
		if !code[wholePath(path)] {
			named = append(named, path)
		}
	}
	return named
}

// wholePath returns a path by which a file is known again; "" stays that.
func wholePath(path string) string {
	if path == "" {
		return ""
	}
	whole, err := filepath.Abs(path)
	if err != nil {
		return filepath.Clean(path)
	}
	return whole
}
