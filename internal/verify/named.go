package verify

import "github.com/jitinject/jitinject/internal/format/j9meta"

// Files returns the files to check where some are named: instead of a directory that perf record did not
// make the captures in it, each capture once, and no files with code that a capture names, which is
// checked with it.
func Files(named []string) []string {
	var files []string
	for _, path := range named {
		if bins := j9meta.NamedIn(path); len(bins) > 0 {
			files = append(files, bins...)
		} else {
			files = append(files, path)
		}
	}
	return j9meta.Named(files)
}
