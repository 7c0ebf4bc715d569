package engine

import (
	"context"
	"slices"

	"github.com/jitinject/jitinject/internal/config"
	"github.com/jitinject/jitinject/internal/formats"
	"github.com/jitinject/jitinject/internal/locate"
	"github.com/jitinject/jitinject/internal/model"
	"github.com/jitinject/jitinject/internal/recording"
)

// attach lets files of all formats describe functions of dumps. The caller closes the result.
func attach(ctx context.Context, rec *recording.Recording, dumps []*model.Dump, opts *config.Options) (*locate.Attached, error) {
	all := &locate.Attached{Dumps: dumps}
	for i := range formats.All {
		if formats.All[i].Attach == nil {
			continue
		}
		one, err := formats.All[i].Attach(ctx, rec, all.Dumps, opts)
		if err != nil {
			all.Close()
			return nil, err
		}
		all.Dumps, all.Files = one.Dumps, slices.Concat(all.Files, one.Files)
		all.Found.Add(one.Found)
	}
	return all, nil
}

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
