package j9meta

import (
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/jitinject/jitinject/internal/safefile/sys"
)

// CapturePaths returns the two files of a capture of which one is named; ok is false
// for names that no capture has. It does not look at files.
func CapturePaths(path string) (bin, description string, ok bool) {
	if stem, ok := strings.CutSuffix(path, ".bin"); ok {
		return path, stem + ".json", true
	}
	if stem, ok := strings.CutSuffix(path, ".json"); ok {
		return stem + ".bin", path, true
	}
	return "", "", false
}

// IsCapturePair reports whether a path is of one of two files that are called as those of a capture
// are. What is in them is not looked at: one that is damaged is a pair, too.
func IsCapturePair(path string) bool {
	bin, description, ok := CapturePaths(path)
	return ok && isFile(bin) && isFile(description)
}

// isFile reports whether there is something that is no directory: what is a link, or cannot be
// examined or opened, is for those to tell who read it.
func isFile(path string) bool {
	st, err := sys.Lstat(path)
	if err != nil {
		return !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR)
	}
	return !st.IsDir()
}

// FindCaptures returns the captures in a directory, not in those within it, by the paths of
// their metadata, sorted: all X.bin with X.json beside them. Whether they can be read is another
// question. alone has files X.bin without X.json, but for those with code that a capture names.
func FindCaptures(dir string) (bins, alone []string, err error) {
	entries, err := sys.ReadDir(dir)
	if err != nil {
		return nil, nil, err
	}
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		if !strings.HasSuffix(path, ".bin") || e.IsDir() {
			continue
		}
		if IsCapturePair(path) {
			bins = append(bins, path)
		} else {
			alone = append(alone, path)
		}
	}
	for i := 0; i < len(bins) && len(alone) > 0; i++ {
		if c, err := ReadCapture(bins[i]); err == nil {
			alone = slices.DeleteFunc(alone, func(path string) bool { return path == c.CodePath || path == c.ColdCodePath })
		}
	}
	return bins, alone, nil
}
