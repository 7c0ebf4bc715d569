package objstore

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"

	"golang.org/x/sync/errgroup"
	"golang.org/x/sys/unix"

	"github.com/jitinject/jitinject/internal/config"
	"github.com/jitinject/jitinject/internal/model"
	"github.com/jitinject/jitinject/internal/quote"
	"github.com/jitinject/jitinject/internal/report"
	"github.com/jitinject/jitinject/internal/safefile"
	"github.com/jitinject/jitinject/internal/safefile/sys"
)

// perf keeps files that recordings refer to in its own cache. perf archive packs them from there,
// and every perf command searches there first. A file is DIR/PATH/ID/elf, where PATH is the path of
// the original. DIR/.build-id/ID is a link to the directory, with a slash after the first two
// digits. perf buildid-cache --add uses this layout (checked with perf 6.1, 6.12 and 7.2).

// A buildIDCache is such a directory. An entry with the object's contents stays. Another one is
// damaged, for example by a power cut, and replaced: a build id identifies one content.
type buildIDCache struct {
	root *sys.Root

	mu     sync.Mutex
	failed int
	text   string // reason of the first failure
	advice string // about it, or ""
	left   leftFiles
}

// CacheObjects adds the objects of a result to the build-id cache named in opts. It returns how
// many objects of the result are in the cache. Failures become problems. It runs after the result
// is complete. Nothing is removed from the cache again, because all of perf shares it.
func CacheObjects(ctx context.Context, p *model.Plan, stores *Stores, opts *config.Options) (n int, found report.Findings) {
	if opts.BuildIDCache == "" {
		return 0, found
	}
	var c buildIDCache
	dir, err := filepath.Abs(opts.BuildIDCache)
	if err == nil {
		c.root, _, err = safefile.OpenRoot(dir, 0o755)
	}
	if err != nil {
		found.Problem(report.Problem{Offset: -1, Text: fmt.Sprintf("%s: cannot put objects into a build-id cache there: %v; %s", quote.Printable(opts.BuildIDCache), safefile.WithoutPath(err), report.AdviceOr(err, "name another directory with "+report.Mentioned("BuildIDCache", "DIR")))})
		return 0, found
	}
	defer c.root.Close()
	jobs := opts.Jobs
	if jobs <= 0 {
		jobs = runtime.GOMAXPROCS(0)
	}
	var next, added atomic.Int64
	group, ctx := errgroup.WithContext(ctx)
	for range jobs {
		group.Go(func() error {
			for ctx.Err() == nil {
				i := int(next.Add(1)) - 1
				if i >= len(p.Objects) {
					break
				}
				o := &p.Objects[i]
				if !o.Made {
					continue
				}
				if err := c.add(o, stores.In(o.Dump.Objects)); err != nil {
					c.fail(err)
					continue
				}
				added.Add(1)
			}
			return ctx.Err()
		})
	}
	err = group.Wait()
	if err != nil {
		found.Problem(report.Problem{Offset: -1, Text: fmt.Sprintf("%s: interrupted; the result is there, but not all objects are in the build-id cache", quote.Printable(opts.BuildIDCache)), Advice: "inject again"})
	}
	if !opts.NoSync && added.Load() > 0 {
		if err := syncRoot(c.root); err != nil {
			found.Problem(report.Problem{Offset: -1, Text: fmt.Sprintf("%s: %v", quote.Printable(opts.BuildIDCache), notOnDisk(err)), Advice: "inject again"})
		}
	}
	if c.failed > 0 {
		found.Problem(report.Problem{Offset: -1, Text: fmt.Sprintf("%s: of the objects, %d could not be put into the build-id cache: %s", quote.Printable(opts.BuildIDCache), c.failed, c.text), Advice: c.advice})
	}
	if left := c.left.String(); left != "" {
		found.Problem(report.Problem{Offset: -1, Text: fmt.Sprintf("%s: %s", quote.Printable(opts.BuildIDCache), left)})
	}
	return int(added.Load()), found
}

// leave notes that a file of the cache could not be removed because of err, if that is not nil.
func (c *buildIDCache) leave(name string, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.left.add(name, err)
}

// fail counts an error, and keeps the text of the first.
func (c *buildIDCache) fail(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.failed++; c.failed == 1 {
		c.text, c.advice = safefile.WithoutPath(err).Error(), report.AdviceOr(err, "")
		var le *os.LinkError
		if errors.As(err, &le) {
			c.text = le.Err.Error()
		}
	}
}

// add adds one object to the cache, unless it is there.
func (c *buildIDCache) add(o *model.Object, s *Store) error {
	id := hex.EncodeToString(o.BuildID[:])
	dir := path.Join(strings.TrimPrefix(filepath.Clean(string(o.AppendPath(nil))), "/"), id)
	link := path.Join(".build-id", id[:2], id[2:])
	from, err := s.openObject(string(o.AppendName(nil)))
	if err != nil {
		return err
	}
	defer from.Close()
	if c.holds(path.Join(link, "elf"), from) {
		return nil
	}
	if err := c.root.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	if err := c.copy(path.Join(dir, "elf"), from, o.Bundle != nil); err != nil {
		return err
	}
	if err := c.root.MkdirAll(path.Dir(link), 0o755); err != nil {
		return err
	}
	target := path.Join("..", "..", dir)
	err = c.root.Symlink(target, link)
	if errors.Is(err, fs.ErrExist) { // the link is broken, or was a moment ago
		if to, lerr := c.root.Readlink(link); lerr == nil && to == target {
			return nil
		}
		c.root.Remove(link)
		err = c.root.Symlink(target, link)
		if errors.Is(err, fs.ErrExist) { // another run made it
			err = nil
		}
	}
	return err
}

// openObject opens an object of the directory.
func (s *Store) openObject(name string) (*sys.File, error) {
	fd, err := sys.Openat(s.fd, name, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	return safefile.RegularFile(fd, name)
}

// holds reports whether an entry of the cache has the contents of an object.
func (c *buildIDCache) holds(entry string, object *sys.File) bool {
	there, err := c.root.OpenFile(entry, os.O_RDONLY|unix.O_NONBLOCK, 0)
	if err != nil {
		return false
	}
	defer there.Close()
	a, aerr := there.Stat()
	b, berr := object.Stat()
	return aerr == nil && berr == nil && os.SameFile(a, b) || equalFiles(there, object)
}

// copy makes an object available under another name. Bundles are sparse, so they get a hard link if
// possible. Other objects are copied, as perf does.
func (c *buildIDCache) copy(to string, from *sys.File, second bool) error {
	dir, err := c.root.OpenFile(path.Dir(to), unix.O_DIRECTORY, 0)
	if err != nil {
		return err
	}
	defer dir.Close()
	if second {
		err := sys.Linkat(unix.AT_FDCWD, fmt.Sprintf("/proc/self/fd/%d", from.Fd()), int(dir.Fd()), path.Base(to), unix.AT_SYMLINK_FOLLOW)
		if err == nil {
			return nil
		}
	}
	st, err := from.Stat()
	if err != nil {
		return err
	}
	out, p, err := safefile.Create(int(dir.Fd()), path.Base(to), uint32(st.Mode().Perm())&objectMode|0o600)
	var file *safefile.LeftFile
	if errors.As(err, &file) {
		c.leave(path.Join(path.Dir(to), file.Name), file.Left)
		err = file.Made
	}
	if err != nil {
		return err
	}
	defer func() {
		name := p.Name
		c.leave(path.Join(path.Dir(to), name), p.Remove())
	}()
	_, err = io.Copy(out, from)
	if cerr := out.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return err
	}
	return p.Rename(path.Base(to))
}
