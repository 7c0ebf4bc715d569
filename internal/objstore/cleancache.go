package objstore

import (
	"errors"
	"fmt"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/jitinject/jitinject/internal/perfcache"
	"github.com/jitinject/jitinject/internal/quote"
	"github.com/jitinject/jitinject/internal/safefile"
	"github.com/jitinject/jitinject/internal/safefile/sys"
)

// openCache opens the build-id cache of the options, if they name one that exists.
func (c *cleaner) openCache() (err error) {
	if c.opts.BuildIDCache == "" {
		return nil
	}
	c.cache, err = perfcache.OpenExisting(c.opts.BuildIDCache)
	switch {
	case errors.Is(err, unix.ENOENT):
		return nil
	case err != nil:
		return fmt.Errorf("%s: cannot open this build-id cache: %w; nothing was removed", quote.Printable(c.opts.BuildIDCache), safefile.WithoutPath(err))
	}
	return nil
}

// entries removes an object's entries from the build-id cache: one for each recorded build id.
func (c *cleaner) entries(o *referredObject) {
	if c.cache == nil || !filepath.IsAbs(o.path) {
		return
	}
	for _, id := range o.ids {
		if len(id) < 2 {
			continue // perf has no entries of such ids
		}
		e, err := c.cache.OpenEntry(o.path, []byte(id))
		if err == nil {
			c.entry(e, id)
			e.Close()
		} else if !isMissing(err) {
			c.keep(filepath.Join(c.opts.BuildIDCache, o.path), "cannot open its entry in the build-id cache: %w", safefile.WithoutPath(err))
		}
	}
}

// entry removes an entry, if its file is the object with the build id. With DryRun, it only checks.
func (c *cleaner) entry(e *perfcache.Entry, id string) {
	path := filepath.Join(c.opts.BuildIDCache, e.Path())
	seen, err := checkObject(e.Dir(), perfcache.File, path, []string{id})
	if isMissing(err) {
		return
	}
	if err == nil {
		if c.opts.DryRun {
			err = sys.Faccessat(e.Dir(), ".", unix.W_OK|unix.X_OK, unix.AT_EACCESS)
		} else if err = unreplaced(e.Dir(), perfcache.File, &seen); err == nil {
			err = e.Remove()
		}
		if err != nil {
			err = fmt.Errorf("cannot remove it: %w", safefile.WithoutPath(err))
		}
	}
	if err != nil {
		c.keep(path, "%w", err)
		return
	}
	c.sum.Cached++
	c.sum.CachedBytes += c.freed(&seen)
	if c.opts.Log != nil {
		c.opts.Log(path)
	}
}

// isMissing reports whether err says that there is no file of a name.
func isMissing(err error) bool {
	return errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ENOTDIR)
}
