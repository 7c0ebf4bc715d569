package recording

import "github.com/jitinject/jitinject/perfdata"

// EventName returns perf's name for the event of an attr, by the attr's number. It is "" if the recording
// does not have it.
func (r *Recording) EventName(attr int) string {
	described := r.Described
	if r.In.File != nil {
		f := r.In.File.Feature(perfdata.FeatureEventDesc)
		if f == nil {
			return ""
		}
		var err error
		if described, err = f.Bytes(); err != nil {
			return ""
		}
	}
	events, err := perfdata.EventDesc(r.In.Order, described)
	if err != nil || len(events) != len(r.Attrs) {
		return ""
	}
	return events[attr].Name
}
