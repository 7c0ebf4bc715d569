package checkrecording

import (
	"context"
	"io"

	"github.com/jitinject/jitinject/internal/safefile/sys"
	"github.com/jitinject/jitinject/internal/verify"
	"github.com/jitinject/jitinject/internal/verify/recorded"
	"github.com/jitinject/jitinject/perfdata"
)

// Kind is the kind of recordings.
const Kind = "perf.data"

// Format returns how recordings are checked, with what tells whether a log belongs to one
// and the names of the events that calls become.
func Format(belongs recorded.BelongsFunc, calls []string) verify.Format {
	return verify.Format{
		Kind: Kind, Name: "a perf.data", Rules: rules, Identify: isRecording,
		Check: func(ctx context.Context, r *verify.Reporter, path string, opts *verify.Options) error {
			return checkFile(ctx, r, path, opts.Logs, belongs, calls)
		},
	}
}

// isRecording reports whether a file begins as recordings do. A directory may be one of perf
// record.
func isRecording(src io.ReaderAt, path string) bool {
	if st, err := sys.Stat(path); err == nil && st.IsDir() {
		return true
	}
	var magic [8]byte
	n, _ := src.ReadAt(magic[:], 0)
	return perfdata.HasMagic(magic[:n])
}
