package verify

import (
	"context"
	"io"
	"os"
)

// KindRecording is the kind of recordings.
const KindRecording = "perf.data"

// A BelongsFunc reports whether the file at a path is of a process in a recording, which says
// nothing of the file by itself.
type BelongsFunc func(ctx context.Context, path string, w *logWitness) bool

// recordingFormat returns how recordings are checked, with what tells whether a log belongs to one.
func recordingFormat(belongs BelongsFunc) Format {
	return Format{
		Kind: KindRecording, Name: "a perf.data", Rules: recordingRules, Identify: isRecording,
		Check: func(ctx context.Context, r *reporter, path string, opts *Options) error {
			return checkRecording(ctx, r, path, opts.Logs, belongs)
		},
	}
}

// isRecording reports whether a file begins as recordings do. A directory may be one of perf
// record.
func isRecording(src io.ReaderAt, path string) bool {
	if st, err := os.Stat(path); err == nil && st.IsDir() {
		return true
	}
	var magic [8]byte
	n, _ := src.ReadAt(magic[:], 0)
	return string(magic[:n]) == "PERFILE2" || string(magic[:n]) == "2ELIFREP"
}
