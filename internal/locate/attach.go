package locate

import (
	"context"

	"github.com/jitinject/jitinject/internal/config"
	"github.com/jitinject/jitinject/internal/model"
	"github.com/jitinject/jitinject/internal/recording"
	"github.com/jitinject/jitinject/internal/report"
	"github.com/jitinject/jitinject/internal/safefile/sys"
)

// An Attach lets files of one format describe functions in dumps of another. The error is ctx's, or of
// options that cannot be followed. The caller closes the result's files.
type Attach func(ctx context.Context, rec *recording.Recording, dumps []*model.Dump, opts *config.Options) (*Attached, error)

// Attached are the results of an [Attach].
type Attached struct {
	Dumps []*model.Dump // the dumps that still have functions
	Files []*sys.File   // files that functions are read from; they stay open until the last is read
	Found report.Findings
}

// Close closes the files. Functions of the dumps must not be read afterwards.
func (a *Attached) Close() {
	for _, f := range a.Files {
		f.Close()
	}
}

// EachFailed calls f for each file that could not be read, at least in part, with the first error.
func (a *Attached) EachFailed(f func(path string, err error)) {
	for _, file := range a.Files {
		if err := file.Failed(); err != nil {
			f(file.Name(), err)
		}
	}
}
