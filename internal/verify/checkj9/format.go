package checkj9

import (
	"context"
	"io"
	"path/filepath"

	"github.com/jitinject/jitinject/internal/format/j9meta"
	"github.com/jitinject/jitinject/internal/verify"
	"github.com/jitinject/jitinject/internal/verify/jitted"
	"github.com/jitinject/jitinject/internal/verify/recorded"
)

// Format is how captures are checked. A capture is named by either of its files.
var Format = verify.Format{
	Kind: j9meta.FormatName, Name: "metadata of OpenJ9 with its JSON beside it", Rules: rules, Check: checkFile,
	Recognizes: func(_ io.ReaderAt, path string) bool { return j9meta.IsCapture(path) },
	Lacks:      otherOfCapture, Files: captureFiles,
}

// otherOfCapture says which file would be beside that of a capture, if the name is that of one.
func otherOfCapture(path string) string {
	bin, description, named := j9meta.CapturePaths(path)
	if !named {
		return ""
	}
	other := description
	if path == description {
		other = bin
	}
	return "a capture would have " + filepath.Base(other) + " beside it"
}

// captureFiles returns the files to check where some are named: instead of a directory that perf
// record did not make the captures in it, each capture once, and no files with code that a
// capture names, which is checked with it.
func captureFiles(named []string) []string {
	var files []string
	for _, path := range named {
		if bins := j9meta.NamedIn(path); len(bins) > 0 {
			files = append(files, bins...)
		} else {
			files = append(files, path)
		}
	}
	return j9meta.Named(files)
}

// Recorded reports whether a capture is of a process in a recording.
func Recorded(_ context.Context, path string, w *recorded.Processes) bool {
	capture, err := j9meta.ReadCapture(path)
	if err != nil {
		return false
	}
	_, found := w.Owner(capture.PID, []jitted.Function{{Addr: capture.StartPC, Size: 1}})
	return found
}
