package locate

import (
	"github.com/jitinject/jitinject/internal/report"
	"github.com/jitinject/jitinject/internal/safefile/sys"
)

// Attached are files of one format that describe functions in dumps of another. Its owner closes it.
type Attached struct {
	Files []*sys.File // they stay open until the last function is read
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
