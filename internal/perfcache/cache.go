package perfcache

import (
	"cmp"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/jitinject/jitinject/internal/safefile"
	"github.com/jitinject/jitinject/internal/safefile/sys"
)

// File is the name of a file in the directory of its entry.
const File = "elf"

// A Cache is an open build-id cache. Names do not lead out of it, not even through links. Several
// goroutines may use it at once.
type Cache struct{ root *sys.Root }

// Open opens the cache in a directory, and makes that and its parents if they do not exist. The
// caller closes it.
func Open(dir string) (*Cache, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	root, _, err := safefile.OpenRoot(dir, 0o755)
	if err != nil {
		return nil, err
	}
	return &Cache{root}, nil
}

// Close closes the cache.
func (c *Cache) Close() error { return c.root.Close() }

// link returns the name by which perf finds the entry of a build id.
func link(id []byte) string {
	digits := hex.EncodeToString(id)
	return path.Join(".build-id", digits[:2], digits[2:])
}

// entryPath returns the directory of an entry, relative to the cache.
func entryPath(original string, id []byte) string {
	return path.Join(strings.TrimPrefix(path.Clean("/"+original), "/"), hex.EncodeToString(id))
}

// linkTarget returns the target of the link to the directory of an entry.
func linkTarget(entry string) string { return path.Join("..", "..", entry) }

// OpenFile opens the file of a build id, which the caller closes. id has two bytes at least.
func (c *Cache) OpenFile(id []byte) (*sys.File, error) {
	return c.root.OpenFile(path.Join(link(id), File), os.O_RDONLY|unix.O_NONBLOCK, 0)
}

// Add adds the entry of a file, or replaces it. original is the absolute path of the file, and id its
// build id, of two bytes at least. write makes the file of the name name in the open directory dir;
// in messages, that directory is called at.
func (c *Cache) Add(original string, id []byte, write func(dir *sys.File, at, name string) error) error {
	entry := entryPath(original, id)
	if err := c.root.MkdirAll(entry, 0o755); err != nil {
		return err
	}
	dir, err := c.root.OpenFile(entry, unix.O_DIRECTORY, 0)
	if err != nil {
		return err
	}
	err = write(dir, entry, File)
	dir.Close()
	if err != nil {
		return err
	}
	return c.point(link(id), linkTarget(entry))
}

// point makes a link to the directory of an entry.
func (c *Cache) point(link, target string) error {
	if err := c.root.MkdirAll(path.Dir(link), 0o755); err != nil {
		return err
	}
	err := c.root.Symlink(target, link)
	if errors.Is(err, fs.ErrExist) { // the link is broken, or was a moment ago
		if to, lerr := c.root.Readlink(link); lerr == nil && to == target {
			return nil
		}
		rerr := c.root.Remove(link)
		err = c.root.Symlink(target, link)
		if errors.Is(err, fs.ErrExist) {
			if to, lerr := c.root.Readlink(link); lerr == nil && to == target { // another run made it
				return nil
			}
			err = cmp.Or(rerr, err)
		}
	}
	return err
}

// Sync makes the files of the cache durable, by one syncfs of its file system.
func (c *Cache) Sync() error { return c.root.Sync() }
