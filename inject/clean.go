package inject

import (
	"context"

	"github.com/jitinject/jitinject/internal/objstore"
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
	Input   string    `json:"input"`
	Objects int       `json:"objects"` // files that Input refers to
	Removed int       `json:"removed"` // removed files; with DryRun, files to remove
	Missing int       `json:"missing"` // files that did not exist
	Bytes   int64     `json:"bytes"`   // size of the removed files
	Cached  int       `json:"cached"`  // removed entries of the build-id cache; with DryRun, entries to remove
	Kept    []Problem `json:"kept"`    // files that stay, with the reasons

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
func Clean(ctx context.Context, opts CleanOptions) (*CleanSummary, error) {
	sum, err := objstore.Clean(ctx, objstore.CleanOptions(opts))
	if sum == nil {
		return nil, withLeft(err)
	}
	public := new(CleanSummary)
	convert(public, sum)
	return public, withLeft(err)
}
