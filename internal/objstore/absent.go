package objstore

import (
	"context"

	"github.com/jitinject/jitinject/internal/perfcache"
	"github.com/jitinject/jitinject/internal/recording"
	"github.com/jitinject/jitinject/internal/safefile/sys"
)

// Absent returns how many of the objects that an injected recording refers to perf does not find, neither
// there nor, by a build id, in the build-id cache in a directory; and the number of all.
func Absent(ctx context.Context, input, cache string) (absent, all int, err error) {
	in, err := recording.OpenResult("report", input, false)
	if err != nil {
		return 0, 0, err
	}
	defer in.Close()
	objects, err := referredObjects(ctx, in)
	if err != nil {
		return 0, 0, err
	}
	var c *perfcache.Cache
	if cache != "" {
		if c, err = perfcache.OpenExisting(cache); err == nil {
			defer c.Close()
		}
	}
	for _, o := range objects {
		if _, err := sys.Stat(o.path); isMissing(err) && !isCached(c, o.ids) {
			absent++
		}
	}
	return absent, len(objects), nil
}

// isCached reports whether a cache, or nil, has a file of one of the build ids. Its entry may have any path.
func isCached(c *perfcache.Cache, ids []string) bool {
	for _, id := range ids {
		if c == nil || len(id) < 2 {
			continue
		}
		if f, err := c.OpenFile([]byte(id)); err == nil {
			f.Close()
			return true
		}
	}
	return false
}
