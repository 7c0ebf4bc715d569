package engine

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/jitinject/jitinject/internal/codebytes"
	"github.com/jitinject/jitinject/internal/config"
	"github.com/jitinject/jitinject/internal/locate"
	"github.com/jitinject/jitinject/internal/output"
	"github.com/jitinject/jitinject/internal/quote"
	"github.com/jitinject/jitinject/internal/recording"
	"github.com/jitinject/jitinject/internal/report"
	"github.com/jitinject/jitinject/internal/safefile"
	"github.com/jitinject/jitinject/internal/safefile/sys"
)

// spool copies a recording that comes through a pipe to a file, and holds the files that its markers
// name. The file is beside the result, which needs as much room, or among temporary files if the
// result is no file. A recording that has come and cannot be injected is lost, so spool fails for
// wrong names before it begins.
func spool(ctx context.Context, in *recording.Input, held *locate.Held, out *output.Output, opts *config.Options) error {
	if !in.IsPipe() {
		return nil
	}
	err := locate.CheckDirs(opts)
	if err != nil {
		return err
	}
	code, err := codebytes.Open(new(recording.Recording), opts, new(report.Findings))
	if err != nil {
		return err
	}
	code.Close()
	for _, f := range opts.Named(config.AnyDump) {
		if _, err := sys.Stat(f.Path); err != nil {
			return fmt.Errorf("%s: %w", f, safefile.PlainError(err))
		}
	}
	for _, dir := range []string{opts.Objects, opts.Sources} {
		if err := canMake(dir); err != nil {
			return fmt.Errorf("%s: cannot write there: %w", quote.Printable(dir), err)
		}
	}
	dir := ""
	if out.Temp != nil {
		dir = filepath.Dir(opts.Output)
	}
	return in.Spool(ctx, dir, held.Hold)
}

// keep keeps the recording that came through a pipe, as the user asked for a refusal of what cannot be
// injected completely. It returns the refusal with the name of the recording.
func keep(refusal error, in *recording.Input, out *output.Output, opts *config.Options) error {
	path := filepath.Join(os.TempDir(), "jitinject.recording")
	if out.Temp != nil {
		path = opts.Output + ".recording"
	}
	name, err := in.Keep(path)
	if err != nil {
		return fmt.Errorf("%w; the recording is lost, as it cannot be kept as %s: %w", refusal, quote.Printable(name), safefile.WithoutPath(err))
	}
	return fmt.Errorf("%w; the recording is kept; to inject it: %s", refusal, opts.Again(report.Setting{Field: "Input", Value: name, IsPath: true}))
}

// canMake returns why files cannot be made in a directory, or in the nearest one above it that exists.
func canMake(dir string) error {
	if dir == "" {
		return nil
	}
	for {
		if _, err := sys.Stat(dir); !errors.Is(err, fs.ErrNotExist) || dir == filepath.Dir(dir) {
			return unix.Access(dir, unix.W_OK|unix.X_OK)
		}
		dir = filepath.Dir(dir)
	}
}
