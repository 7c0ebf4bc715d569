package checkdump

import (
	"context"
	"path/filepath"

	"github.com/jitinject/jitinject/internal/verify"
	"github.com/jitinject/jitinject/internal/verify/recorded"
	"github.com/jitinject/jitinject/jitdump"
)

// isOfRecordings reports whether the dump is to be checked: it belongs to one of the recordings, or there are
// none. A recording that is not injected has to have the dump's marker. An injection reports whatever else is
// wrong between the two.
func (c *checker) isOfRecordings(ctx context.Context, path string, opts *verify.Options) (checked bool, err error) {
	reader, err := jitdump.NewReader(c.src)
	if err != nil || len(opts.Beside()) == 0 {
		return true, nil // checkHeader reports the error
	}
	own, base := reader.Header().PID, filepath.Base(path)
	for _, recording := range opts.Beside() {
		contents, err := recorded.ReadContents(ctx, recording)
		if err != nil {
			return false, err
		}
		pid, marked := contents.Markers[base]
		if !marked {
			pid = own
		}
		if opts.Recording == "" && !marked && !contents.Known[pid] {
			continue
		}
		checked = true
		if !marked && !contents.Injected {
			c.Violation("dump/marker", -1, "the recording has no marker of %s", verify.Quoted(base))
		}
	}
	if !checked {
		c.Result.Holds = "not checked"
		c.Violation("dump/other-process", -1, "of process %d, which is in none of the recordings: not checked", own)
	}
	return checked, nil
}
