package objstore

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"runtime"
	"sync"
	"sync/atomic"

	"golang.org/x/sync/errgroup"
	"golang.org/x/sys/unix"

	"github.com/jitinject/jitinject/internal/config"
	"github.com/jitinject/jitinject/internal/model"
	"github.com/jitinject/jitinject/internal/perfcache"
	"github.com/jitinject/jitinject/internal/quote"
	"github.com/jitinject/jitinject/internal/report"
	"github.com/jitinject/jitinject/internal/safefile"
	"github.com/jitinject/jitinject/internal/safefile/sys"
)

// A buildIDCache puts objects into perf's build-id cache. An entry with the object's contents stays.
// Another one is damaged, for example by a power cut, and replaced: a build id identifies one
// content.
type buildIDCache struct {
	cache *perfcache.Cache

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
	var err error
	if c.cache, err = perfcache.Open(opts.BuildIDCache); err != nil {
		found.Problem(report.Problem{Code: report.ProblemNotWritten, Offset: -1, Text: fmt.Sprintf("%s: cannot put objects into a build-id cache there: %v; %s", quote.Printable(opts.BuildIDCache), safefile.WithoutPath(err), report.AdviceOr(err, "name another directory with "+report.Mentioned("BuildIDCache", "DIR")))})
		return 0, found
	}
	defer c.cache.Close()
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
		found.Problem(report.Problem{Code: report.ProblemNotWritten, Offset: -1, Text: fmt.Sprintf("%s: interrupted; the result is there, but not all objects are in the build-id cache", quote.Printable(opts.BuildIDCache)), Advice: "inject again"})
	}
	if !opts.NoSync && added.Load() > 0 {
		if err := c.cache.Sync(); err != nil {
			found.Problem(report.Problem{Code: report.ProblemNotWritten, Offset: -1, Text: fmt.Sprintf("%s: %v", quote.Printable(opts.BuildIDCache), notOnDisk(err)), Advice: "inject again"})
		}
	}
	if c.failed > 0 {
		found.Problem(report.Problem{Code: report.ProblemNotWritten, Offset: -1, Text: fmt.Sprintf("%s: of the objects, %d could not be put into the build-id cache: %s", quote.Printable(opts.BuildIDCache), c.failed, c.text), Advice: c.advice})
	}
	if left := c.left.String(); left != "" {
		found.Problem(report.Problem{Code: report.ProblemNotWritten, Offset: -1, Text: fmt.Sprintf("%s: %s", quote.Printable(opts.BuildIDCache), left)})
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
	from, err := s.openObject(string(o.AppendName(nil)))
	if err != nil {
		return err
	}
	defer from.Close()
	if c.holds(o.BuildID[:], from) {
		return nil
	}
	return c.cache.Add(string(o.AppendPath(nil)), o.BuildID[:], func(dir *sys.File, at, name string) error {
		return c.copy(dir, at, name, from, o.Bundle != nil)
	})
}

// openObject opens an object of the directory.
func (s *Store) openObject(name string) (*sys.File, error) {
	fd, err := sys.Openat(s.fd, name, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	return safefile.RegularFile(fd, name)
}

// holds reports whether the entry of a build id has the contents of an object.
func (c *buildIDCache) holds(id []byte, object *sys.File) bool {
	there, err := c.cache.OpenFile(id)
	if err != nil {
		return false
	}
	defer there.Close()
	a, aerr := there.Stat()
	b, berr := object.Stat()
	return aerr == nil && berr == nil && (os.SameFile(a, b) || hasContent(there, object, b.Size()))
}

// copy makes an object available under a name of the directory dir, which is called at. Bundles are
// sparse, so they get a hard link if possible. Other objects are copied, as perf does.
func (c *buildIDCache) copy(dir *sys.File, at, to string, from *sys.File, second bool) error {
	if second {
		err := sys.Linkat(unix.AT_FDCWD, fmt.Sprintf("/proc/self/fd/%d", from.Fd()), dir.Fd(), to, unix.AT_SYMLINK_FOLLOW)
		if err == nil {
			return nil
		}
	}
	st, err := from.Stat()
	if err != nil {
		return err
	}
	out, p, err := safefile.Create(dir.Fd(), to, uint32(st.Mode().Perm())&objectMode|0o600)
	var file *safefile.LeftFile
	if errors.As(err, &file) {
		c.leave(path.Join(at, file.Name), file.Left)
		err = file.Made
	}
	if err != nil {
		return err
	}
	defer func() {
		name := p.Name
		c.leave(path.Join(at, name), p.Remove())
	}()
	_, err = io.Copy(out, from)
	if cerr := out.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return err
	}
	return p.Rename(to)
}
