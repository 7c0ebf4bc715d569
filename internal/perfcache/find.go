package perfcache

import (
	"errors"
	"os"
	"path/filepath"
	"strings"

	"github.com/jitinject/jitinject/internal/safefile"
	"github.com/jitinject/jitinject/internal/safefile/sys"
)

// ErrNoHome says that the user has no home directory, in which the cache would be.
var ErrNoHome = errors.New("there is no home directory")

// Find returns the directory of the cache that perf uses. perf tells its commands where it is
// (perf --buildid-dir); else its configuration does, see perf-config(1); else it is ~/.debug. It fails
// with ErrNoHome, or if a configuration cannot be read.
func Find() (string, error) {
	if dir := os.Getenv("PERF_BUILDID_DIR"); dir != "" {
		return dir, nil
	}
	home := os.Getenv("HOME")
	files := []string{"/etc/perfconfig", filepath.Join(home, ".perfconfig")}
	if home == "" {
		files = files[:1]
	}
	if only, set := os.LookupEnv("PERF_CONFIG"); set {
		files = []string{only}
	}
	found := ""
	for _, file := range files {
		text, err := sys.ReadFile(file)
		if err != nil && !safefile.IsAbsent(err) {
			return "", err
		}
		if dir := configured(string(text), "buildid", "dir"); dir != "" {
			found = dir
		}
	}
	switch {
	case found != "":
		return found, nil
	case home == "":
		return "", ErrNoHome
	}
	return filepath.Join(home, ".debug"), nil
}

// Named returns the directory that a user has named. In an argument --option=~/DIR the shell leaves
// the ~ as it is.
func Named(dir string) (string, error) {
	if dir != "~" && !strings.HasPrefix(dir, "~/") {
		return dir, nil
	}
	home := os.Getenv("HOME")
	if home == "" {
		return "", ErrNoHome
	}
	return filepath.Join(home, dir[1:]), nil
}
