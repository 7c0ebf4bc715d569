package engine

import (
	"github.com/jitinject/jitinject/internal/build"
	"github.com/jitinject/jitinject/internal/config"
	"github.com/jitinject/jitinject/internal/model"
	"github.com/jitinject/jitinject/internal/objstore"
	"github.com/jitinject/jitinject/internal/report"
)

// A dirs has the directories for the files of a run other than its output, and what the run has
// written there.
type dirs struct {
	stores  *objstore.Stores
	sources *objstore.SourceTree // nil if no sources are to be written
	plan    *model.Plan          // the plan of the objects in stores
	made    *build.Writer        // nil before any object was made
}

// end closes the directories at the end of a run. It adds the files that could not be removed to
// err, or to the summary if err is nil.
func (d *dirs) end(sum *report.Summary, err error) error {
	d.sources.Close()
	left := d.stores.Close()
	if left != "" && err == nil {
		sum.Problem(report.Problem{Code: report.ProblemLeftOver, Offset: -1, Text: left})
	}
	return objstore.WithLeft(err, left)
}

// sync makes the objects and sources durable. The result refers to them, so it gets its name later.
func (d *dirs) sync(opts *config.Options) error {
	if opts.NoSync {
		return nil
	}
	if err := d.sources.Sync(); err != nil {
		return err
	}
	return d.stores.Sync()
}

// undo removes the files that a run created before it failed with err. It returns err with the
// files that it could not remove.
func (d *dirs) undo(err error) error {
	if d.made != nil {
		err = objstore.WithLeft(err, d.made.Undo())
	}
	err = objstore.WithLeft(err, d.sources.Undo())
	d.stores.RemoveMade()
	return err
}
