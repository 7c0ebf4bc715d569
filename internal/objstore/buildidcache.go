package objstore

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
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
	// All objects of a directory of links go to one worker: it opens that once, and of several with one
	// build id, the first gets the link.
	var byLink [256][]*model.Object
	for i := range p.Objects {
		if o := &p.Objects[i]; o.Made {
			byLink[o.BuildID[0]] = append(byLink[o.BuildID[0]], o)
		}
	}
	var next, added atomic.Int64
	group, ctx := errgroup.WithContext(ctx)
	for range jobs {
		group.Go(func() error {
			a := adder{buildIDCache: &c, entries: c.cache.Adder()}
			defer a.entries.Close()
			for i := next.Add(1); i <= int64(len(byLink)); i = next.Add(1) {
				for _, o := range byLink[i-1] {
					if ctx.Err() != nil {
						return ctx.Err()
					}
					if err := a.add(o, stores.In(o.Dump.Objects)); err != nil {
						c.fail(err)
						continue
					}
					added.Add(1)
				}
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

// fail counts an error, and keeps the text of the first.
func (c *buildIDCache) fail(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.failed++; c.failed == 1 {
		c.text, c.advice = safefile.WithoutPath(err).Error(), report.AdviceOr(err, "")
	}
}

// An adder adds objects to the cache, one after another.
type adder struct {
	*buildIDCache
	entries *perfcache.Adder
	content []byte // of an object; the memory is used again
}

// add adds one object, unless the cache has it. Bundles are sparse, so they get a hard link if possible.
// Other objects are copied.
func (a *adder) add(o *model.Object, s *Store) error {
	name := string(o.AppendName(nil))
	fd, err := sys.Openat(s.fd, name, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	var from *sys.File // of a bundle; a File takes two calls more
	if o.Bundle != nil {
		from = sys.NewFile(fd, name)
		defer from.Close()
	} else {
		defer sys.Close(fd)
	}
	var st, in unix.Stat_t
	if err := sys.Fstat(fd, &st); err != nil {
		return err
	}
	if st.Mode&unix.S_IFMT != unix.S_IFREG {
		return errors.New("it is not a regular file")
	}
	var content io.ReaderAt = from
	if from == nil {
		a.content = slices.Grow(a.content[:0], int(st.Size))[:st.Size]
		if n, err := sys.Read(fd, a.content); n < len(a.content) {
			return cmp.Or(err, io.ErrUnexpectedEOF)
		}
		content = bytes.NewReader(a.content)
	}
	isSame := func(there *sys.File) bool {
		linked := sys.Fstat(there.Fd(), &in) == nil && in.Dev == st.Dev && in.Ino == st.Ino
		return linked || hasContent(there, content, st.Size)
	}
	return a.entries.Add(string(o.AppendPath(nil)), o.BuildID[:], isSame, func(dir int, at, name string) (err error) {
		entry := &Store{path: at, fd: dir, uid: s.uid, alone: true, lock: dirLock{fd: -1}}
		if mode := st.Mode&objectMode | 0o600; from != nil {
			err = entry.link(name, from, mode)
		} else {
			_, _, err = entry.Put(name, a.content, mode)
		}
		a.mu.Lock()
		defer a.mu.Unlock()
		a.left.join(&entry.left)
		return err
	})
}

// link gives the file from a second name in the directory. Where that is impossible, or the name is
// taken, it makes a copy.
func (s *Store) link(name string, from *sys.File, mode uint32) error {
	if sys.Linkat(unix.AT_FDCWD, fmt.Sprintf("/proc/self/fd/%d", from.Fd()), s.fd, name, unix.AT_SYMLINK_FOLLOW) == nil {
		return nil
	}
	d, err := s.Draft(name, mode)
	if err != nil {
		return err
	}
	defer d.Abandon()
	if _, err = io.Copy(d.file, from); err == nil {
		_, err = d.commit(name, existing{})
	}
	return err
}
