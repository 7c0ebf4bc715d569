package engine

import (
	"context"
	"path/filepath"

	"github.com/jitinject/jitinject/internal/codebytes"
	"github.com/jitinject/jitinject/internal/config"
	"github.com/jitinject/jitinject/internal/locate"
	"github.com/jitinject/jitinject/internal/output"
	"github.com/jitinject/jitinject/internal/recording"
	"github.com/jitinject/jitinject/internal/report"
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
	dir := ""
	if out.Temp != nil {
		dir = filepath.Dir(opts.Output)
	}
	return in.Spool(ctx, dir, held.Hold)
}
