package inject

import (
	"github.com/jitinject/jitinject/internal/build"
	"github.com/jitinject/jitinject/internal/config"
	"github.com/jitinject/jitinject/internal/model"
	"github.com/jitinject/jitinject/internal/objstore"
	"github.com/jitinject/jitinject/internal/report"
)

// Dirs are the directories that a run writes files into beside its output, and what it has
// written there.
type dirs struct {
	stores  objstore.Stores
	sources *objstore.SourceTree // nil if none was asked for
	plan    *model.Plan          // that stores have the objects of
	made    *build.Writer        // nil before any was made
}

// openDirs opens the directories for the objects of dumps and for their sources. It returns the
// dumps with a directory that can be written. The directories are to be closed even where it fails.
func openDirs(dumps []*model.Dump, opts *config.Options) (d *dirs, usable []*model.Dump, found report.Findings, err error) {
	d = new(dirs)
	if d.stores, usable, found, err = objstore.OpenAll(dumps, opts); err == nil {
		d.sources, err = objstore.OpenSources(opts)
	}
	return d, usable, found, err
}

func (d *dirs) close() {
	d.stores.Close()
	d.sources.Close()
}

// undo removes the files that were not there before, of a run that has failed with err. It returns
// err with what had to stay.
func (d *dirs) undo(err error) error {
	if d.made != nil {
		err = objstore.WithLeft(err, d.made.Undo())
	}
	d.sources.Undo()
	d.stores.RemoveMade()
	return err
}
