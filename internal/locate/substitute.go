package locate

import (
	"context"
	"slices"

	"github.com/jitinject/jitinject/internal/recording"
	"github.com/jitinject/jitinject/internal/source"
)

// substitute looks for files that take the place of missing dumps, and of dumps without a function, and for
// those that describe what other dumps leave out. It adds references for them. A child needs none if a
// process that it was forked from has a dump. The error is ctx's.
func (f *Finder) substitute(ctx context.Context, references []*Reference) ([]*Reference, error) {
	useless, found := make(map[uint32]bool), make(map[uint32]bool)
	dumps := make(map[uint32][]source.Dump)
	for _, r := range references {
		hasFunctions := r.Dump != nil && len(r.Dump.Source.Scanned().Events) > 0
		for _, m := range r.Markers {
			found[m.PID] = found[m.PID] || hasFunctions
			useless[m.PID] = useless[m.PID] || !hasFunctions
			if hasFunctions && !slices.Contains(dumps[m.PID], r.Dump.Source) {
				dumps[m.PID] = append(dumps[m.PID], r.Dump.Source)
			}
		}
	}
	fromFound := &recording.Ancestry{Tree: &f.Rec.ProcessTree, Memory: true, Has: func(pid uint32, _ uint64) bool { return found[pid] }}
	var want []uint32
	lacking := make(map[uint32][]source.Dump)
	for _, pid := range f.Rec.PIDs() {
		if !f.Rec.HasDump(pid) {
			lacking[pid] = dumps[pid]
		}
		if found[pid] || useless[pid] || f.Rec.NumMarkers(pid) == 0 && f.Rec.HasDump(pid) && !fromFound.Holds(pid, recording.LatestTime) {
			want = append(want, pid)
			lacking[pid] = dumps[pid]
		}
	}
	known := len(f.Rec.Markers)
	for _, format := range f.Formats {
		if format.Complete == nil {
			continue
		}
		if err := format.Complete(ctx, f, lacking); err != nil {
			return nil, err
		}
	}
	for _, pid := range want {
		maps, unreadable := f.Left.Maps, f.Unreadable
		for _, format := range f.Formats {
			if format.Substitute == nil {
				continue
			}
			if err := format.Substitute(ctx, f, pid); err != nil {
				return nil, err
			}
		}
		if found[pid] && !useless[pid] { // that a further file does not fit, or cannot be read, is no news
			f.Left.Maps, f.Unreadable = maps, unreadable
		}
	}
	var added []*Reference
	for _, m := range f.Rec.Markers[known:] {
		added = append(added, &Reference{Path: markedPath(&m), Markers: []recording.Marker{m}})
	}
	return append(references, added...), f.assign(ctx, added)
}
