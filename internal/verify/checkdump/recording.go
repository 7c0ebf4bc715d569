package checkdump

import (
	"context"
	"path/filepath"

	"github.com/jitinject/jitinject/internal/verify"
	"github.com/jitinject/jitinject/internal/verify/recorded"
	"github.com/jitinject/jitinject/jitdump"
)

// A result is a recording with the functions of a dump put in.
type result struct {
	*recorded.Contents
	pid uint32 // of the process with the functions
}

// results returns the recordings that have objects for the dump, which is to be checked if it belongs to one
// of the recordings, or if there are none. A recording that is not injected has to have the dump's marker. An
// injection reports whatever else is wrong between the two.
func (c *checker) results(ctx context.Context, path string, opts *verify.Options) (found []result, checked bool, err error) {
	reader, err := jitdump.NewReader(c.src)
	if err != nil || len(opts.Beside()) == 0 {
		return nil, true, nil // checkHeader reports the error
	}
	own, base := reader.Header().PID, filepath.Base(path)
	for _, recording := range opts.Beside() {
		contents, err := recorded.ReadContents(ctx, recording)
		if err != nil {
			return nil, false, err
		}
		pid, marked := own, false
		if p, ok := contents.Markers[base]; ok {
			pid, marked = p, true
		}
		if opts.Recording == "" && !marked && !contents.Known[pid] {
			continue
		}
		checked = true
		if owner := contents.Owner(pid); owner != 0 {
			found = append(found, result{contents, owner})
		} else if len(contents.Objects) == 0 && !marked {
			c.Violation("dump/marker", -1, "the recording has no marker of %s", verify.Quoted(base))
		}
	}
	if !checked {
		c.Result.Holds = "not checked"
		c.Violation("dump/other-process", -1, "of process %d, which is in none of the recordings: not checked", own)
	}
	return found, checked, nil
}
