package perfcache

import (
	"cmp"
	"encoding/hex"
	"errors"
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

// An Adder adds entries to a cache, one after another. It keeps the directories open that one entry
// shares with the next: os.Root would open each directory again for each name. So entries are added
// fastest in the order of their build ids.
type Adder struct {
	cache         *Cache
	links, parent openDir
}

// Adder returns an Adder, which the caller closes. Each goroutine needs its own.
func (c *Cache) Adder() *Adder { return &Adder{cache: c} }

// Close closes the directories.
func (a *Adder) Close() {
	a.links.close()
	a.parent.close()
}

// Add adds the entry of a file. original is the absolute path of the file, and id its build id, of two
// bytes at least. An entry of the build id stays if stays returns true for its file. Otherwise, write
// makes the file of the name name in the open directory dir; in messages, that directory is called at.
func (a *Adder) Add(original string, id []byte, stays func(*sys.File) bool, write func(dir int, at, name string) error) error {
	entry := entryPath(original, id)
	target := linkTarget(entry)
	name := path.Base(link(id))
	links, err := a.links.open(a.cache.root, path.Dir(link(id)))
	if err != nil {
		return err
	}
	if _, err := leadsTo(links, name, target); err == nil && a.cache.holds(id, stays) {
		return nil
	}
	file := path.Dir(entry)
	dir, err := a.parent.open(a.cache.root, path.Dir(file))
	if err == nil {
		dir, err = descend(dir, path.Base(file), path.Base(entry))
	}
	if err != nil {
		return err
	}
	defer sys.Close(dir)
	if err := write(dir, entry, File); err != nil {
		return err
	}
	return point(links, name, target)
}

// holds reports whether a build id has an entry, and stays returns true for its file.
func (c *Cache) holds(id []byte, stays func(*sys.File) bool) bool {
	f, err := c.OpenFile(id)
	if err != nil {
		return false
	}
	defer f.Close()
	return stays(f)
}

// An openDir is a directory of the cache that stays open until another one is opened. The zero value
// has none.
type openDir struct {
	path string
	dir  *sys.File
}

// open returns the descriptor of a directory, which it makes if it does not exist. path is relative to the cache.
func (d *openDir) open(root *sys.Root, path string) (fd int, err error) {
	if d.dir == nil || d.path != path {
		d.close()
		if err = root.MkdirAll(path, 0o755); err == nil {
			d.dir, err = root.OpenFile(path, unix.O_DIRECTORY, 0)
		}
		if err != nil {
			return -1, err
		}
		d.path = path
	}
	return d.dir.Fd(), nil
}

func (d *openDir) close() {
	if d.dir != nil {
		d.dir.Close()
		d.dir = nil
	}
}

// descend opens a directory below another one, by the names on the way. It makes those that do not
// exist, and follows no link. The caller closes the directory.
func descend(dir int, names ...string) (int, error) {
	for i, name := range names {
		made := sys.Mkdirat(dir, name, 0o755)
		next, err := sys.Openat(dir, name, unix.O_PATH|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
		if errors.Is(err, unix.ENOENT) {
			err = cmp.Or(made, err)
		}
		if i > 0 {
			sys.Close(dir)
		}
		if err != nil {
			return -1, err
		}
		dir = next
	}
	return dir, nil
}

// point makes a link to the directory of an entry, in place of another link.
func point(dir int, name, target string) (err error) {
	for range 3 { // other runs make links, too
		if err = sys.Symlinkat(target, dir, name); !errors.Is(err, unix.EEXIST) {
			return err
		}
		if is, _ := leadsTo(dir, name, target); is {
			return nil
		}
		if err := sys.Unlinkat(dir, name, 0); err != nil && !errors.Is(err, unix.ENOENT) {
			return err
		}
	}
	return err
}

// leadsTo reports whether a link has a target. It fails if the name is not that of a link.
func leadsTo(dir int, name, target string) (bool, error) {
	to := make([]byte, len(target)+1)
	n, err := sys.Readlinkat(dir, name, to)
	return err == nil && string(to[:n]) == target, err
}

// Sync makes the files of the cache durable, by one syncfs of its file system.
func (c *Cache) Sync() error { return c.root.Sync() }
