package verify

import (
	"context"
	"io"

	"github.com/jitinject/jitinject/internal/format/monolog"
)

// monoFormat is how logs are checked.
var monoFormat = Format{
	Kind: monolog.FormatName, Name: "a Mono log", Rules: monoRules, Check: checkMono,
	Claims: isGzipLog,
}

// monoRecorded reports whether a log is of a process in a recording.
func monoRecorded(ctx context.Context, path string, w *logWitness) bool {
	f, err := openChecked(path)
	if err != nil {
		return false
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return false
	}
	c := newMonoCheck(newReporter(path, &Options{}, nil))
	if err := c.check(ctx, io.NewSectionReader(f, 0, st.Size())); err != nil || c.header == nil {
		return false
	}
	if c.header.PID != 0 && w.known[c.header.PID] {
		return true
	}
	_, found := w.process(c.header.PID, c.functions)
	return found
}
