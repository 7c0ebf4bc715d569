package perfcache

import (
	"errors"
	"path"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/jitinject/jitinject/internal/safefile"
	"github.com/jitinject/jitinject/internal/safefile/sys"
)

// probes is the name of perf's list of the static probes of a file, in the directory of its entry.
const probes = "probes"

// OpenExisting opens the cache in a directory as Open does, but makes no directories.
func OpenExisting(dir string) (*Cache, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	root, err := safefile.OpenExistingRoot(dir)
	if err != nil {
		return nil, err
	}
	return &Cache{root}, nil
}

// An Entry is an open entry of a cache. Neither its directory nor the one around that is a link.
type Entry struct {
	cache  *Cache
	id     []byte
	path   string    // of its directory, relative to the cache
	parent *sys.File // has the directory named like the file
	file   int       // the directory named like the file
	dir    int       // the directory of the entry, with the file File
}

// OpenEntry opens the entry of a file, or returns ENOENT or ENOTDIR if it has none. original is the
// absolute path of the file, and id its build id, of two bytes at least. The caller closes the entry.
func (c *Cache) OpenEntry(original string, id []byte) (*Entry, error) {
	e := &Entry{cache: c, id: id, path: entryPath(original, id), file: -1, dir: -1}
	name := path.Dir(e.path)
	var err error
	if e.parent, err = c.root.OpenFile(path.Dir(name), unix.O_DIRECTORY, 0); err != nil {
		return nil, err
	}
	const flags = unix.O_RDONLY | unix.O_DIRECTORY | unix.O_NOFOLLOW | unix.O_CLOEXEC
	if e.file, err = sys.Openat(e.parent.Fd(), path.Base(name), flags, 0); err == nil {
		e.dir, err = sys.Openat(e.file, path.Base(e.path), flags, 0)
	}
	if err != nil {
		e.Close()
		return nil, err
	}
	return e, nil
}

// Close closes the entry.
func (e *Entry) Close() {
	e.parent.Close()
	for _, fd := range []int{e.file, e.dir} {
		if fd >= 0 {
			sys.Close(fd)
		}
	}
}

// Dir returns the descriptor of the entry's directory. It is open until Close.
func (e *Entry) Dir() int { return e.dir }

// Path returns the path of the entry's file, relative to the cache.
func (e *Entry) Path() string { return path.Join(e.path, File) }

// Remove removes the entry's file, perf's list of its probes, and the link to the entry. It removes
// the two directories, too, if they are empty then. A link to another entry stays.
//
// The link goes first: the file without the link is found again by its path.
func (e *Entry) Remove() error {
	name := path.Base(link(e.id))
	links, err := e.cache.root.OpenFile(path.Dir(link(e.id)), unix.O_DIRECTORY, 0)
	if err == nil {
		defer links.Close()
		var is bool
		if is, err = leadsTo(links.Fd(), name, linkTarget(e.path)); is {
			err = sys.Unlinkat(links.Fd(), name, 0)
		}
	}
	if err != nil && !safefile.IsAbsent(err) && !errors.Is(err, unix.EINVAL) { // EINVAL: it is no link
		return err
	}
	if err := sys.Unlinkat(e.dir, File, 0); err != nil {
		return err
	}
	if err := sys.Unlinkat(e.dir, probes, 0); err != nil && !errors.Is(err, unix.ENOENT) {
		return err
	}
	err = sys.Unlinkat(e.file, path.Base(e.path), unix.AT_REMOVEDIR)
	if err == nil {
		err = sys.Unlinkat(e.parent.Fd(), path.Base(path.Dir(e.path)), unix.AT_REMOVEDIR)
	}
	if errors.Is(err, unix.ENOTEMPTY) || errors.Is(err, unix.EEXIST) {
		return nil
	}
	return err
}
