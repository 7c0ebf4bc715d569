package summary

import (
	"fmt"

	"github.com/jitinject/jitinject/internal/report"
)

// clockText says how a dump's times were matched, if that was not a matter of course.
func clockText(c report.Clock) string {
	offset := fmt.Sprintf("%+.6f s", float64(c.Offset)/1e9)
	switch c.Kind {
	case report.ClockEstimated:
		if c.Error < 0 {
			return "its times are estimated to be " + offset + " off; functions may be there too early; record with -k mono to have them exact"
		}
		return fmt.Sprintf("its times are estimated to be %s off; functions may be there up to %.1f ms too early; record with -k mono to have them exact", offset, float64(c.Error)/1e6)
	case report.ClockOther:
		return "its times are estimated to be " + offset + " off the recording's CLOCK_MONOTONIC; functions may be there too early; a runtime should write CLOCK_MONOTONIC"
	case report.ClockRealtime:
		text := "its times are of CLOCK_REALTIME (nanoseconds since 1970), estimated to be " + offset + " off; functions may be there "
		if c.Error < 0 {
			return text + "too early; the runtime should write CLOCK_MONOTONIC"
		}
		return text + fmt.Sprintf("up to %.1f ms too early; the runtime should write CLOCK_MONOTONIC", float64(c.Error)/1e6)
	case report.ClockGiven:
		return offset + " were added to its times, as --clock says"
	case report.ClockStart:
		return "it has no times: its functions are used from the start of the recording"
	case report.ClockNone:
		return "its times cannot be matched; its functions are used from the start of the recording"
	}
	return ""
}
