package output

import (
	"github.com/jitinject/jitinject/perfdata"
)

// MaxHeld is how many bytes of new records are collected before they are written.
const MaxHeld = 64 << 10

// TrackingAttr returns the event that has records of mappings. New records of that kind appear to
// come from it. attrs must not be empty.
func TrackingAttr(attrs []perfdata.Attr) *perfdata.Attr {
	for i := range attrs {
		if attrs[i].Has(perfdata.FlagMmap) || attrs[i].Has(perfdata.FlagMmap2) {
			return &attrs[i]
		}
	}
	return &attrs[0]
}
