package engine

import (
	"fmt"
	"slices"

	"github.com/jitinject/jitinject/internal/config"
	"github.com/jitinject/jitinject/internal/formats"
	"github.com/jitinject/jitinject/internal/locate"
	"github.com/jitinject/jitinject/internal/model"
)

// isLarge reports whether a dump has so many functions that only those get objects that samples refer
// to.
func isLarge(d *model.Dump) bool {
	return slices.ContainsFunc(formats.All, func(f formats.Format) bool { return f.Dump.IsLarge != nil && f.Dump.IsLarge(d) })
}

// refused says which files of processes were found and not used, and why, or nothing.
func refused(left *locate.Left) (text string) {
	for i := range formats.All {
		if f := formats.All[i].Dump.Refused; f != nil {
			text += f(left)
		}
	}
	return text
}

// checkSideFiles refuses side files of kinds that no stage would look at. Jitdumps become dumps
// of any kind: both are found by their process. The caller's slice stays as it is.
func checkSideFiles(opts *config.Options) error {
	opts.SideFiles = slices.Clone(opts.SideFiles)
	for i := range opts.SideFiles {
		f := &opts.SideFiles[i]
		if f.Kind == formats.Jitdump {
			f.Kind = config.AnyDump
		}
		if f.Kind != config.AnyDump && !formats.IsNamed(f.Kind) {
			return fmt.Errorf("%v: there are no side files of that kind", f)
		}
	}
	return nil
}
