package recording

import "github.com/jitinject/jitinject/perfdata"

// EventName returns perf's name for the event of an attr, by the attr's number. It is "" if the recording
// does not have it.
func (r *Recording) EventName(attr int) string {
	f := r.In.File.Feature(perfdata.FeatureEventDesc)
	if f == nil {
		return ""
	}
	described, err := f.Bytes()
	if err != nil {
		return ""
	}
	events, err := perfdata.EventDesc(r.In.Order, described)
	if err != nil || len(events) != len(r.Attrs) {
		return ""
	}
	return events[attr].Name
}
