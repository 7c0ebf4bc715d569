package locate

import (
	"context"

	"github.com/jitinject/jitinject/internal/recording"
)

// substitute looks for files that take the place of missing dumps, and of dumps without a function. It
// adds references for them. A process with another dump needs none, unless that dump has only its
// registered objects. A child needs none if a process that it was forked from has a dump. The error is
// ctx's.
func (f *Finder) substitute(ctx context.Context, references []*Reference) ([]*Reference, error) {
	marked, useless, found := make(map[uint32]bool), make(map[uint32]bool), make(map[uint32]bool)
	for _, c := range references {
		registered := c.Dump != nil && c.Dump.Source.Traits().Registered
		hasFunctions := c.Dump != nil && len(c.Dump.Source.Scanned().Events) > 0
		for _, m := range c.Markers {
			marked[m.PID] = true
			found[m.PID] = found[m.PID] || hasFunctions && !registered
			useless[m.PID] = useless[m.PID] || !hasFunctions && !registered
		}
	}
	fromFound := &recording.Ancestry{Tree: &f.Rec.ProcessTree, Memory: true, Has: func(pid uint32, _ uint64) bool { return found[pid] }}
	known := len(f.Rec.Markers)
	for _, pid := range f.Rec.PIDs() { // a copy: Substitute adds markers
		wants := useless[pid] && !found[pid]
		if !marked[pid] && f.Rec.HasDump(pid) {
			wants = !fromFound.Holds(pid, recording.LatestTime)
		}
		if wants {
			if err := f.substituteFor(ctx, pid); err != nil {
				return nil, err
			}
		}
	}
	var added []*Reference
	for _, m := range f.Rec.Markers[known:] {
		r := &Reference{Path: markedPath(&m), Markers: []recording.Marker{m}}
		if err := f.Search(ctx, r); err != nil {
			return nil, err
		}
		added = append(added, r)
	}
	f.Assign(added)
	return append(references, added...), nil
}

// substituteFor asks the formats for a file instead of the dump of a process.
func (f *Finder) substituteFor(ctx context.Context, pid uint32) error {
	for _, format := range f.Formats {
		if format.Substitute == nil {
			continue
		}
		if err := format.Substitute(ctx, f, pid); err != nil {
			return err
		}
	}
	return nil
}
