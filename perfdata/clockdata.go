package perfdata

import (
	"encoding/binary"

	"github.com/jitinject/jitinject/internal/wire"
)

// ClockData is the feature CLOCK_DATA of perf record -k, since Linux 5.10. It has one moment in two
// clocks.
type ClockData struct {
	ID    uint32 // of the recording's clock, as in clock_gettime(2)
	Wall  uint64 // CLOCK_REALTIME, in nanoseconds; perf reads it in microseconds
	Clock uint64 // the recording's clock, in nanoseconds; perf reads it after Wall
}

// ReadClockData decodes the feature FeatureClockData. ok is false if it is too short, or of an
// unknown version.
func ReadClockData(order binary.ByteOrder, content []byte) (d ClockData, ok bool) {
	c := wire.NewCursor(FormatName, "CLOCK_DATA", content, order, 0)
	version := c.U32("version")
	d = ClockData{ID: c.U32("clockid"), Wall: c.U64("wall_clock_ns"), Clock: c.U64("clockid_time_ns")}
	return d, c.Err() == nil && version == 1
}
