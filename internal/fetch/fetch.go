package fetch

import (
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	"golang.org/x/sys/unix"

	"github.com/jitinject/jitinject/internal/perfcache"
	"github.com/jitinject/jitinject/internal/quote"
	"github.com/jitinject/jitinject/internal/recording"
	"github.com/jitinject/jitinject/internal/safefile"
	"github.com/jitinject/jitinject/internal/safefile/sys"
	"github.com/jitinject/jitinject/internal/samplerefs"
	"github.com/jitinject/jitinject/internal/sorting"
)

// Options are the options of Run. Input is required.
type Options struct {
	Input   string // a result: a file or a directory
	Force   bool   // read an Input that belongs to someone else
	All     bool   // get all objects, not only those that samples refer to
	DryRun  bool   // only say what is missing
	InPlace bool   // put objects at their paths, and not into Cache

	Cache   string   // directory of perf's build-id cache
	Servers []string // URLs of debuginfod servers; none for those of DEBUGINFOD_URLS
	Jobs    int      // number of objects at once; at least 1

	// Log, if not nil, is called with each object that was got, by one goroutine at a time.
	Log func(path, id string)
}

// A Summary is the result of Run. Each wanted object is in one of There, Fetched and Missing, unless an
// error ended the run.
type Summary struct {
	Input   string        `json:"input"`
	Into    string        `json:"into"`    // the build-id cache; "" for the objects' own paths
	Objects int           `json:"objects"` // number of objects that Input refers to
	Wanted  int           `json:"wanted"`  // number of those with hits, or of all
	There   int           `json:"there"`   // number of those that perf finds already
	Fetched int           `json:"fetched"` // number of those that a server sent
	Bytes   int64         `json:"bytes"`   // size of the fetched objects
	Time    time.Duration `json:"nanoseconds"`
	Missing []Missing     `json:"missing"` // objects that could not be got; with DryRun, that are not there
	Notes   []string      `json:"notes"`

	// Unwinds says that samples have copies of stacks: perf unwinds them only through objects that
	// are at their paths.
	Unwinds bool `json:"unwinds"`
}

// A Missing is an object that perf does not find.
type Missing struct {
	Path    string `json:"path"`     // in the recording
	BuildID string `json:"build_id"` // in hexadecimal; "" if the recording does not have it
	Reason  string `json:"reason"`   // "" with DryRun
	Absent  bool   `json:"absent"`   // no server has it
}

// Run gets the objects of a result that samples refer to, and that perf would not find. A file is taken only if it is an ELF file with the recorded build id, and
// appears whole or not at all. Objects that perf finds, in its cache or at their paths, stay as they
// are.
//
// It returns no summary if it cannot read Input, or if it cannot open the cache or has no debuginfod-find
// ([ErrNoProgram]), and needs that. Otherwise the error is
// ctx's, or that of writing an object, after which Run gets no more of them.
func Run(ctx context.Context, opts Options) (*Summary, error) {
	began := time.Now()
	in, err := recording.OpenResult("fetch", opts.Input, opts.Force)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	r, err := readObjects(ctx, in)
	if err != nil {
		return nil, recording.Error(in.Path, err)
	}
	sum := &Summary{Input: opts.Input, Objects: len(r.objects), Missing: []Missing{}, Notes: []string{}, Unwinds: r.rec.CopiesStacks()}
	if err := r.choose(ctx, opts.All, sum); err != nil {
		return nil, recording.Error(in.Path, err)
	}
	to, err := opts.target()
	if err != nil && !r.allThere(cacheTarget{}) {
		return nil, err
	}
	defer to.close()
	if !opts.InPlace {
		sum.Into = opts.Cache
	}
	f := &fetcher{opts: opts, to: to, sum: sum}
	if !opts.DryRun && !r.allThere(to) {
		if f.servers, err = newFinder(opts.Servers); err != nil {
			return nil, err
		}
		defer f.servers.close()
	}
	err = f.all(ctx, r.objects)
	if serr := f.sync(); err == nil {
		err = serr
	}
	sorting.By(sum.Missing, func(a, b Missing) int {
		return cmp.Or(strings.Compare(a.Path, b.Path), strings.Compare(a.BuildID, b.BuildID))
	})
	sum.Time = time.Since(began)
	return sum, err
}

// target returns where the objects are put. With DryRun, it makes no directory. With an error, it
// returns a target that finds objects at their paths.
func (o *Options) target() (target, error) {
	if o.InPlace {
		return new(places), nil
	}
	if _, err := sys.Stat(o.Cache); o.DryRun && errors.Is(err, fs.ErrNotExist) {
		return cacheTarget{}, nil
	}
	cache, err := perfcache.Open(o.Cache)
	if err != nil {
		return cacheTarget{}, fmt.Errorf("%s: cannot put objects into a build-id cache there: %w", quote.Printable(o.Cache), safefile.WithoutPath(err))
	}
	return cacheTarget{cache}, nil
}

// allThere reports whether a target has all wanted objects, so that no others are needed.
func (r *result) allThere(to target) bool {
	for i := range r.objects {
		if o := &r.objects[i]; o.hit {
			if there, err := to.has(o); !there || err != nil {
				return false
			}
		}
	}
	return true
}

// choose marks the wanted objects.
func (r *result) choose(ctx context.Context, all bool, sum *Summary) error {
	if !all && len(r.objects) > 0 {
		err := r.findHits(ctx)
		var why samplerefs.Unknowable
		if errors.As(err, &why) {
			all = true
			sum.Notes = append(sum.Notes, fmt.Sprintf("%s: which objects its samples refer to is unknown: %s; all objects are fetched", quote.Printable(r.rec.In.Path), string(why)))
		} else if err != nil {
			return err
		}
	}
	for i := range r.objects {
		if all {
			r.objects[i].hit = true
		}
		if r.objects[i].hit {
			sum.Wanted++
		}
	}
	return nil
}

// errStopped is the reason of objects that were not fetched when the run ended.
var errStopped = errors.New("the run ended before it was fetched")

// A fetcher gets objects, several at once.
type fetcher struct {
	opts    Options
	to      target
	servers *finder // nil if nothing is fetched

	mu  sync.Mutex
	sum *Summary
}

// all gets the wanted objects.
func (f *fetcher) all(ctx context.Context, objects []object) error {
	group, running := errgroup.WithContext(ctx)
	group.SetLimit(max(f.opts.Jobs, 1))
	started := len(objects)
	for i := range objects {
		if running.Err() != nil {
			started = i
			break
		}
		if o := &objects[i]; o.hit {
			group.Go(func() error { return f.object(running, o) })
		}
	}
	err := group.Wait()
	for i := started; i < len(objects); i++ {
		if o := &objects[i]; o.hit {
			f.miss(o, errStopped)
		}
	}
	if err == nil {
		err = ctx.Err()
	}
	return err
}

// object gets one object. The error ends the run.
func (f *fetcher) object(ctx context.Context, o *object) error {
	if len(o.id) < 2 {
		f.miss(o, errors.New("the recording does not have its build id, by which servers know it"))
		return nil
	}
	there, err := f.to.has(o)
	switch {
	case there:
		f.count(&f.sum.There)
		return nil
	case err != nil:
		f.miss(o, err)
		return nil
	case f.opts.DryRun:
		f.miss(o, nil)
		return nil
	}
	size, err := f.download(ctx, o)
	var failed *unwritten
	switch {
	case err == nil:
		f.mu.Lock()
		f.sum.Fetched++
		f.sum.Bytes += size
		f.mu.Unlock()
		f.log(o)
		return nil
	case ctx.Err() != nil:
		f.miss(o, errStopped)
		return ctx.Err()
	case errors.As(err, &failed) && !endsAll(failed.err):
		f.miss(o, fmt.Errorf("cannot write it: %w", safefile.WithoutPath(failed.err)))
		return nil
	case errors.As(err, &failed):
		f.miss(o, failed.err)
		return fmt.Errorf("%s: cannot write it: %w; no more objects are fetched", quote.Printable(o.path), safefile.WithoutPath(failed.err))
	}
	f.miss(o, err)
	return nil
}

// download puts an object from a server into its place. size is in bytes.
func (f *fetcher) download(ctx context.Context, o *object) (size int64, err error) {
	file, err := f.servers.get(ctx, o.id)
	if err != nil {
		return 0, err
	}
	defer file.Close()
	defer sys.Remove(file.Name())
	st, err := file.Stat()
	if err != nil {
		return 0, err
	}
	err = f.to.put(o, file)
	if err == nil || errors.As(err, new(refused)) || errors.Is(err, errOther) {
		return st.Size(), err
	}
	return 0, &unwritten{err}
}

// endsAll reports whether an error of writing one object is about all others as well: no room, or a
// disk that fails.
func endsAll(err error) bool {
	for _, e := range []error{unix.ENOSPC, unix.EDQUOT, unix.EIO, unix.EMFILE, unix.ENFILE} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}

// An unwritten is an error of writing an object.
type unwritten struct{ err error }

func (u *unwritten) Error() string { return u.err.Error() }

func (f *fetcher) count(n *int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	*n++
}

// miss notes that an object could not be got, because of err if that is not nil.
func (f *fetcher) miss(o *object, err error) {
	m := Missing{Path: o.path, BuildID: hex.EncodeToString([]byte(o.id)), Absent: errors.Is(err, errAbsent)}
	if err != nil {
		m.Reason = err.Error()
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.sum.Missing = append(f.sum.Missing, m)
}

func (f *fetcher) log(o *object) {
	if f.opts.Log == nil {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.opts.Log(o.path, hex.EncodeToString([]byte(o.id)))
}

// sync makes what was put durable.
func (f *fetcher) sync() error {
	if f.sum.Fetched == 0 {
		return nil
	}
	if err := f.to.sync(); err != nil {
		return fmt.Errorf("fetched files may not be on the disk: %w; fetch again", safefile.WithoutPath(err))
	}
	return nil
}
