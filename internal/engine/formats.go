package engine

import (
	"slices"

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
