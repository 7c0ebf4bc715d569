package locate

import (
	"context"
	"slices"

	"github.com/jitinject/jitinject/internal/recording"
)

// substitute looks for files that take the place of missing dumps, and of dumps without a function, and for
// those that describe what other dumps leave out. It adds references for them. A child needs none if a
// process that it was forked from has a dump. The error is ctx's.
func (f *Finder) substitute(ctx context.Context, references []*Reference) ([]*Reference, error) {
	useless, found := make(map[uint32]bool), make(map[uint32]bool)
	for _, r := range references {
		if r.Dump != nil && r.Dump.Source.Traits().Registered {
			continue
		}
		hasFunctions := r.Dump != nil && len(r.Dump.Source.Scanned().Events) > 0
		for _, m := range r.Markers {
			if of := f.described[m.PID]; hasFunctions && !slices.Contains(of, r.Dump.Source) {
				f.described[m.PID], found[m.PID] = append(of, r.Dump.Source), true
			}
			useless[m.PID] = useless[m.PID] || !hasFunctions
		}
	}
	fromFound := &recording.Ancestry{Tree: &f.Rec.ProcessTree, Memory: true, Has: func(pid uint32, _ uint64) bool { return found[pid] }}
	var want []uint32
	for _, pid := range f.Rec.PIDs() {
		if found[pid] || useless[pid] || f.Rec.NumMarkers(pid) == 0 && f.Rec.HasDump(pid) && !fromFound.Holds(pid, recording.LatestTime) {
			want = append(want, pid)
		}
	}
	known := len(f.Rec.Markers)
	for _, format := range f.Formats {
		if format.Complete == nil {
			continue
		}
		before := len(f.Rec.Markers)
		if err := format.Complete(ctx, f, want); err != nil {
			return nil, err
		}
		for _, m := range f.Rec.Markers[before:] { // the next format completes it
			f.described[m.PID] = append(f.described[m.PID], f.given[m.Path].Source)
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
		if found[pid] { // that a further file does not fit, or cannot be read, is no news
			f.Left.Maps, f.Unreadable = maps, unreadable
		}
	}
	var added []*Reference
	for _, m := range f.Rec.Markers[known:] {
		added = append(added, &Reference{Path: markedPath(&m), Markers: []recording.Marker{m}})
	}
	return append(references, added...), f.assign(ctx, added)
}
