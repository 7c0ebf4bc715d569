package perfdata

import (
	"encoding/binary"
	"math/bits"

	"github.com/jitinject/jitinject/internal/wire"
)

// A TimeConv converts counts of the machine's own clock, such as the TSC, to perf's time. perf
// record writes the record if the kernel exposes the numbers to user space; with -k it does not.
type TimeConv struct {
	Shift, Mult, Zero uint64

	// Cycles, Mask and Short are in longer records only.
	Cycles, Mask uint64
	Short        bool // the clock has only the bits of Mask
}

// TimeConv decodes a TIME_CONV record. Mult is 0 if the record is empty.
func (ls *Layouts) TimeConv(rec Record) (TimeConv, error) {
	c := wire.NewCursor(FormatName, rec.Type.String(), rec.Data[recordHead:], ls.order, recordHead)
	t := TimeConv{Shift: c.U64("time_shift"), Mult: c.U64("time_mult"), Zero: c.U64("time_zero")}
	if err := c.Err(); err != nil || c.Len() < 18 {
		return t, err
	}
	t.Cycles = c.U64("time_cycles")
	t.Mask = c.U64("time_mask")
	if c.U8("cap_user_time_zero") == 0 {
		t.Mult = 0
	}
	t.Short = c.U8("cap_user_time_short") != 0
	return t, c.Err()
}

// Time converts a count to nanoseconds. See the comment on time_shift in linux/perf_event.h.
func (t *TimeConv) Time(count uint64) uint64 {
	if t.Short {
		count = t.Cycles + (count-t.Cycles)&t.Mask
	}
	hi, lo := bits.Mul64(count, t.Mult)
	shift := min(t.Shift, 127)
	if shift >= 64 {
		return t.Zero + hi>>(shift-64)
	}
	return t.Zero + lo>>shift + hi<<(64-shift)
}

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
