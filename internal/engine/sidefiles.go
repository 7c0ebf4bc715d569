package engine

import (
	"fmt"
	"slices"

	"github.com/jitinject/jitinject/internal/config"
	"github.com/jitinject/jitinject/internal/formats"
)

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
