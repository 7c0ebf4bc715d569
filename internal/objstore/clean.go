package objstore

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/sys/unix"

	"github.com/jitinject/jitinject/internal/config"
	"github.com/jitinject/jitinject/internal/quote"
	"github.com/jitinject/jitinject/internal/recording"
	"github.com/jitinject/jitinject/internal/report"
	"github.com/jitinject/jitinject/perfdata"
)

// CleanOptions say what Clean does. Input is required.
type CleanOptions struct {
	Input  string // a recording that was injected: a file or a directory
	Force  bool   // read an Input that belongs to someone else
	DryRun bool   // look at everything, remove nothing

	// Log, if it is not nil, gets the path of each file that is removed, or with
	// DryRun would be.
	Log func(path string)
}

// A CleanSummary says what Clean did.
type CleanSummary struct {
	Input   string           `json:"input"`
	Objects int              `json:"objects"` // files that Input refers to
	Removed int              `json:"removed"` // or with DryRun, would be
	Missing int              `json:"missing"` // were not there
	Bytes   int64            `json:"bytes"`   // of the files that were removed
	Kept    []report.Problem `json:"kept"`    // files that were left alone, and why
}

// Complete reports whether none of the files is left.
func (s *CleanSummary) Complete() bool { return len(s.Kept) == 0 }

// Clean removes the objects that an injected recording refers to: files whose
// names are those of objects (jitted-….so or jitbundle-….so), mapped in it, whose build ids are those
// that it says they have, in the mapping or in its build-id table. Everything else
// stays and is reported, if it has such a name: files with other contents, such as
// those of a later run, links, which are not followed, and what has no build id to
// know it by. Directories stay, too. The recording needs the objects no less than
// any other one that refers to them: when they are gone, perf does not know its
// functions any more.
//
// The error is of reading Input, or of a directory that a run makes objects in, which
// may be the same ones, and nothing has been removed then; or ctx's.
func Clean(ctx context.Context, opts CleanOptions) (*CleanSummary, error) {
	if opts.Input == "-" {
		return nil, errors.New("clean does not read standard input; name the recording's file")
	}
	if _, err := os.Stat(opts.Input); errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s: there is no such file; name a result of jitinject", quote.Printable(opts.Input))
	}
	in, err := recording.Open(&config.Options{Input: opts.Input, Force: opts.Force})
	if errors.Is(err, perfdata.ErrNotPerfData) {
		return nil, fmt.Errorf("%s: %w; name a result of jitinject", quote.Printable(opts.Input), perfdata.ErrNotPerfData)
	}
	if err != nil {
		return nil, err
	}
	defer in.Close()
	if in.Once {
		return nil, fmt.Errorf("%s: it is a pipe; clean needs a recording in a file", quote.Printable(in.Path))
	}
	objects, err := referredObjects(ctx, in)
	if err != nil {
		return nil, recording.Error(in.Path, err)
	}
	sum := &CleanSummary{Input: opts.Input, Objects: len(objects), Kept: []report.Problem{}}
	if !opts.DryRun {
		held, err := holdDirs(ctx, objects)
		defer func() {
			for _, lock := range held {
				lock.close()
				unix.Close(lock.dir)
			}
		}()
		if ctx.Err() != nil {
			return sum, ctx.Err()
		}
		if err != nil {
			return nil, err
		}
	}
	c := cleaner{opts: &opts, sum: sum}
	defer c.leave()
	for _, o := range objects {
		if err := ctx.Err(); err != nil {
			return sum, err
		}
		c.object(&o)
	}
	return sum, nil
}

// holdDirs locks the directories of objects, so that no run makes or counts on what is
// removed from them. The caller closes what it returns. What cannot be opened is left
// out: nothing is removed from there.
func holdDirs(ctx context.Context, objects []referredObject) (held []dirLock, err error) {
	last := ""
	for _, o := range objects {
		dir := filepath.Dir(o.path)
		if dir == last || !filepath.IsAbs(dir) {
			continue
		}
		last = dir
		fd, err := unix.Open(dir, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
		if err != nil {
			continue
		}
		lock, ok := lockForRemoving(ctx, fd)
		lock.dir = fd
		held = append(held, lock)
		if !ok {
			if err := ctx.Err(); err != nil {
				return held, err
			}
			return held, fmt.Errorf("%s: it is being written into, and what would be removed may be what that run needs; nothing was removed, clean again when it has ended", quote.Printable(dir))
		}
	}
	return held, nil
}

// A referredObject is a file that a recording refers to, with the build ids that it
// may have: an object that was made again has another one in a later mapping.
type referredObject struct {
	path string
	ids  []string
}

// referredObjects returns the objects that the mappings of a recording name, in the
// order of their paths.
func referredObjects(ctx context.Context, in *recording.Input) (objects []referredObject, err error) {
	rec, err := recording.New(in)
	if err != nil {
		return nil, err
	}
	mapped := make(map[string][]string) // ids by path
	var table []byte                    // of build ids, as records tell them in pipe format
	for block, err := range in.Walk(ctx, report.PhaseNone) {
		if err != nil {
			return nil, err
		}
		for _, r := range block.Records() {
			switch r.Type {
			case perfdata.RecordHeaderAttr:
				if in.File == nil {
					if err := rec.AddAttr(r); err != nil {
						return nil, err
					}
				}
			case perfdata.RecordHeaderBuildID:
				table = perfdata.AppendBuildIDRecord(table, in.Order, r)
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
	for e, err := range perfdata.BuildIDs(in.Order, append(in.BuildIDs(), table...)) {
		if err != nil {
			break // what was read of it counts
		}
		if ids, ok := mapped[string(e.Filename)]; ok && len(ids) == 0 && len(e.BuildID) > 0 {
			mapped[string(e.Filename)] = []string{string(e.BuildID)}
		}
	}
	for path, ids := range mapped {
		objects = append(objects, referredObject{path, ids})
	}
	slices.SortFunc(objects, func(a, b referredObject) int { return cmpPaths(a.path, b.path) })
	return objects, nil
}

// cmpPaths compares paths by their directories first, so that those of one are
// together.
func cmpPaths(a, b string) int {
	if c := bytes.Compare([]byte(filepath.Dir(a)), []byte(filepath.Dir(b))); c != 0 {
		return c
	}
	return bytes.Compare([]byte(a), []byte(b))
}
