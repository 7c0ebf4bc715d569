package objstore

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"slices"

	"golang.org/x/sys/unix"

	"github.com/jitinject/jitinject/internal/quote"
	"github.com/jitinject/jitinject/internal/recording"
	"github.com/jitinject/jitinject/internal/report"
	"github.com/jitinject/jitinject/internal/safefile"
	"github.com/jitinject/jitinject/internal/safefile/sys"
	"github.com/jitinject/jitinject/internal/sorting"
	"github.com/jitinject/jitinject/perfdata"
)

// CleanOptions are the options of Clean. Input is required.
type CleanOptions struct {
	Input  string // an injected recording: a file or a directory
	Force  bool   // read an Input that belongs to someone else
	DryRun bool   // only report; remove nothing

	// BuildIDCache is the directory of a build-id cache, such as perf's in ~/.debug. Entries of
	// the objects are removed from it, too. It need not exist. Empty for none.
	BuildIDCache string

	// Log, if not nil, is called with the path of each removed file. With DryRun, it is called for
	// each file that would be removed.
	Log func(path string)
}

// A CleanSummary is the result of Clean.
type CleanSummary struct {
	Input   string           `json:"input"`
	Objects int              `json:"objects"` // files that Input refers to
	Removed int              `json:"removed"` // removed files; with DryRun, files to remove
	Missing int              `json:"missing"` // files that did not exist
	Bytes   int64            `json:"bytes"`   // size of the removed files
	Cached  int              `json:"cached"`  // removed entries of the build-id cache; with DryRun, entries to remove
	Kept    []report.Problem `json:"kept"`    // files that stay, with the reasons

	CachedBytes int64 `json:"cached_bytes"` // size of the files of these entries
}

// Complete reports whether no file stays.
func (s *CleanSummary) Complete() bool { return len(s.Kept) == 0 }

// Clean removes the objects that an injected recording refers to, and returns a summary. An object
// is removed only if all of this holds:
//
//   - The recording has a mapping of it.
//   - Its name is that of an object (jitted-….so, or jitbundle-….so of jitinject 0.1).
//   - Its build id is the recorded one, from the mapping or from the build-id table.
//
// Other files with such names stay and are reported: files with other contents, such as those of a
// later run, symbolic links, and files without a build id. Links are not followed. Directories
// stay, too. The recording itself needs the objects: without them, perf cannot name its functions.
// So do all other recordings that refer to them.
//
// Of a build-id cache, Clean removes the entries with the path of such an object and a recorded build
// id, if the file there has this build id. Other entries stay. No link leads it out of the cache.
//
// Beside Input and in the directories of the objects, Clean removes the partial files that killed runs
// left.
//
// Clean fails if it cannot read Input, or if a run is making objects in one of the directories. It
// removes nothing then. It also returns ctx's error.
func Clean(ctx context.Context, opts CleanOptions) (sum *CleanSummary, err error) {
	in, err := recording.OpenResult("clean", opts.Input, opts.Force)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	objects, err := referredObjects(ctx, in)
	if err != nil {
		return nil, recording.Error(in.Path, err)
	}
	sum = &CleanSummary{Input: opts.Input, Objects: len(objects), Kept: []report.Problem{}}
	if !opts.DryRun {
		var held []dirLock
		held, err = holdDirs(ctx, objects)
		defer func() {
			for _, lock := range held {
				lerr := lock.close()
				switch {
				case lerr == nil:
				case err == nil:
					sum.Kept = append(sum.Kept, report.Problem{Code: report.ProblemLeftOver, File: lock.name, Offset: -1, Text: fmt.Sprintf("this lock file could not be removed: %v; remove it by hand", lerr)})
				default:
					err = &safefile.LeftFile{Name: lock.name, Made: err, Left: lerr}
				}
				sys.Close(lock.dir)
			}
		}()
		if ctx.Err() != nil {
			return sum, ctx.Err()
		}
		if err != nil {
			return nil, err
		}
	}
	c := cleaner{opts: &opts, sum: sum, counted: make(map[inode]uint64)}
	if err := c.openCache(); err != nil {
		return nil, err
	}
	if c.cache != nil {
		defer c.cache.Close()
	}
	defer c.leave()
	for _, o := range objects {
		if err := ctx.Err(); err != nil {
			return sum, err
		}
		c.object(&o)
		c.entries(&o)
	}
	if !opts.DryRun {
		c.results()
	}
	return sum, nil
}

// holdDirs locks the directories of objects. No run can then make or rely on objects that Clean
// removes. The caller closes the locks. holdDirs skips directories that cannot be opened: Clean
// removes nothing there.
func holdDirs(ctx context.Context, objects []referredObject) (held []dirLock, err error) {
	last := ""
	for _, o := range objects {
		dir := filepath.Dir(o.path)
		if dir == last || !filepath.IsAbs(dir) {
			continue
		}
		last = dir
		fd, err := sys.OpenPath(dir, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
		if err != nil {
			continue
		}
		lock, ok, err := lockForRemoving(ctx, fd)
		lock.dir = fd
		held = append(held, lock)
		if err != nil {
			return held, fmt.Errorf("%s: cannot lock it: %w; nothing was removed, clean again", quote.Printable(dir), err)
		}
		if !ok {
			if err := ctx.Err(); err != nil {
				return held, err
			}
			return held, fmt.Errorf("%s: another run is writing into it and may need its files; nothing was removed; clean again when that run has ended", quote.Printable(dir))
		}
	}
	return held, nil
}

// A referredObject is a file that a recording refers to, with its possible build ids. An object
// that was made again has another id in a later mapping.
type referredObject struct {
	path string
	ids  []string
}

// referredObjects returns the objects in the mappings of a recording, sorted by path.
func referredObjects(ctx context.Context, in *recording.Input) (objects []referredObject, err error) {
	rec, err := recording.New(in)
	if err != nil {
		return nil, err
	}
	mapped := make(map[string][]string) // ids by path
	for block, err := range in.Walk(ctx, report.PhaseNone) {
		if err != nil {
			return nil, err
		}
		for _, r := range block.Records() {
			switch r.Type {
			case perfdata.RecordMmap, perfdata.RecordMmap2:
				m, err := rec.Layouts.Mmap(r)
				if err != nil || !recording.IsObject(m.Filename) {
					continue
				}
				ids := mapped[string(m.Filename)]
				if len(m.BuildID) > 0 && !slices.Contains(ids, string(m.BuildID)) {
					ids = append(ids, string(m.BuildID))
				}
				mapped[string(m.Filename)] = ids
			}
		}
	}
	table, err := in.BuildIDs()
	if err != nil {
		return nil, err
	}
	for e, err := range perfdata.BuildIDs(in.Order, table) {
		if err != nil {
			break // use the entries read so far
		}
		if ids, ok := mapped[string(e.Filename)]; ok && len(ids) == 0 && len(e.BuildID) > 0 {
			mapped[string(e.Filename)] = []string{string(e.BuildID)}
		}
	}
	for path, ids := range mapped {
		objects = append(objects, referredObject{path, ids})
	}
	sorting.By(objects, func(a, b referredObject) int { return cmpPaths(a.path, b.path) })
	return objects, nil
}

// cmpPaths compares paths, the directories first. Files of one directory are then adjacent.
func cmpPaths(a, b string) int {
	if c := bytes.Compare([]byte(filepath.Dir(a)), []byte(filepath.Dir(b))); c != 0 {
		return c
	}
	return bytes.Compare([]byte(a), []byte(b))
}
