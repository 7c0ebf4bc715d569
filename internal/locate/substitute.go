package locate

import (
	"context"

	"github.com/jitinject/jitinject/internal/recording"
)

// substitute looks for files that take the place of missing dumps, and adds references for them. A
// process of which another dump was found needs none. The error is ctx's.
func (f *Finder) substitute(ctx context.Context, references []*Reference) ([]*Reference, error) {
	done := make(map[uint32]bool) // processes that have a dump, or have been looked at
	for _, c := range references {
		for _, m := range c.Markers {
			done[m.PID] = done[m.PID] || c.Dump != nil
		}
	}
	known := len(f.Rec.Markers)
	for _, c := range references {
		for _, m := range c.Markers {
			if done[m.PID] {
				continue
			}
			done[m.PID] = true
			if err := f.substituteFor(ctx, m); err != nil {
				return nil, err
			}
		}
	}
	var added []*Reference
	for _, m := range f.Rec.Markers[known:] {
		c := &Reference{Path: markedPath(&m), Markers: []recording.Marker{m}}
		if err := f.Search(ctx, c); err != nil {
			return nil, err
		}
		added = append(added, c)
	}
	f.Assign(added)
	return append(references, added...), nil
}

// substituteFor asks the formats for a file instead of the dump of a marker.
func (f *Finder) substituteFor(ctx context.Context, m recording.Marker) error {
	for _, format := range f.Formats {
		if format.Substitute == nil {
			continue
		}
		if err := format.Substitute(ctx, f, m.PID); err != nil {
			return err
		}
	}
	return nil
}
