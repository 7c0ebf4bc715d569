package checkmono

import (
	"context"
	"io"

	"github.com/jitinject/jitinject/internal/format/monolog"
	"github.com/jitinject/jitinject/internal/verify"
	"github.com/jitinject/jitinject/internal/verify/recorded"
)

// Format is how logs are checked.
var Format = verify.Format{
	Kind: monolog.FormatName, Name: "a Mono log", Rules: rules, Check: checkFile,
	Recognizes: isGzipLog,
}

// Recorded reports whether a log is of a process in a recording.
func Recorded(ctx context.Context, path string, w *recorded.Processes) bool {
	f, size, err := verify.OpenSized(path)
	if err != nil {
		return false
	}
	defer f.Close()
	c := newChecker(verify.NewReporter(path, &verify.Options{}, nil))
	if err := c.check(ctx, io.NewSectionReader(f, 0, size)); err != nil || c.header == nil {
		return false
	}
	if c.header.PID != 0 && w.Known[c.header.PID] {
		return true
	}
	_, found := w.Owner(c.header.PID, c.functions)
	return found
}
