package main

import (
	"os"
	"path/filepath"
	"strings"
)

// defaultCache is where perf keeps its build-id cache, unless its configuration
// (buildid.dir) says otherwise.
const defaultCache = "~/.debug"

// findCache completes the name of the build-id cache: in --buildid-cache=~/DIR the shell
// leaves the ~ as it is.
func (o *options) findCache() error {
	rest, ok := strings.CutPrefix(o.cache, "~/")
	if !ok {
		return nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return usageError("--buildid-cache: there is no home directory; name one with --buildid-cache=DIR")
	}
	o.cache = filepath.Join(home, rest)
	return nil
}
