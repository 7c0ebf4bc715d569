package main

import (
	"errors"
	"fmt"

	"github.com/jitinject/jitinject/internal/perfcache"
)

// perfsCache stands for the build-id cache that perf itself uses, where none is named.
// It is no name of a directory.
const perfsCache = "\x00perf"

// findCache completes the name of the build-id cache.
func (o *options) findCache() (err error) {
	o.BuildIDCache, err = cacheOf(o.BuildIDCache)
	return err
}

// cacheOf returns the directory of the build-id cache that an option names.
func cacheOf(option string) (dir string, err error) {
	if option == perfsCache {
		dir, err = perfcache.Find()
	} else {
		dir, err = perfcache.Named(option)
	}
	if errors.Is(err, perfcache.ErrNoHome) {
		return "", noHome
	}
	if err != nil {
		return "", wrongFile(fmt.Sprintf("--buildid-cache: the configuration of perf cannot be read: %v; name the directory with --buildid-cache=DIR", err))
	}
	return dir, nil
}

const noHome = usageError("--buildid-cache: there is no home directory; name one with --buildid-cache=DIR")
