package xray

import (
	"cmp"
	"errors"
	"math"
	"slices"

	"github.com/jitinject/jitinject/internal/sorting"
)

// Conversion of processor clock counts to times. Every buffer of a trace begins with an anchor: the
// count of its first record, and CLOCK_MONOTONIC in microseconds. The same thread reads the latter
// a little later. The delay differs: 0.1 µs with a free buffer, 25 µs for a thread's first one, and
// milliseconds if the thread was preempted in between. So the earliest anchors are right, and all
// others late. The times lie on the line closest to the anchors that has no anchor below it. Clocks
// of two machines are compared in the same way from packet delays (Moon, Skelly, Towsley:
// Estimation and Removal of Clock Skew from Network Delay Measurements, INFOCOM 1999).

// A LogClock converts a trace's counts to times.
type LogClock struct {
	count uint64  // at a reference
	time  uint64  // CLOCK_MONOTONIC nanoseconds there
	rate  float64 // nanoseconds for each count

	Emulated  bool    // the counts are nanoseconds of CLOCK_REALTIME
	Claimed   uint64  // counts per second in the header
	Frequency float64 // counts per second, as used
	Measured  bool    // from the anchors, which contradict the header
	Anchors   int     // number of anchors

	// Error is the possible error of times, in nanoseconds, as the anchors show it. It is their
	// disagreement plus their unit, a microsecond.
	Error int64
}

// An anchor is a moment with a known count and time.
type anchor struct {
	count uint64
	time  uint64 // CLOCK_MONOTONIC nanoseconds, rounded down to a microsecond
}

const (
	// emulatedFrequency in a header says that the runtime had no processor clock, and used
	// CLOCK_REALTIME in nanoseconds (compiler-rt/lib/xray/xray_tsc.h).
	emulatedFrequency = 1_000_000_000

	// microsecond is the resolution of the anchors' times, in nanoseconds.
	microsecond = 1000

	// lateness is the maximum measured delay of anchors in a thread's first buffer, in nanoseconds:
	// 3.7 to 24 µs.
	lateness = 25_000

	// few is a number of anchors that may all be of first buffers.
	few = 8
)

// newXRayClock returns the clock of a trace. frequency is that of the header, in Hz. It sorts
// anchors.
func newXRayClock(frequency uint64, anchors []anchor) (*LogClock, error) {
	switch {
	case len(anchors) == 0:
		return nil, errors.New("none of its buffers has a time, so its counts of the processor's clock cannot be converted")
	case frequency == 0:
		return nil, errors.New("its header does not say how fast the processor's clock was")
	}
	sorting.By(anchors, func(a, b anchor) int {
		return cmp.Or(cmp.Compare(a.count, b.count), cmp.Compare(a.time, b.time))
	})
	c := &LogClock{Claimed: frequency, Emulated: frequency == emulatedFrequency, Anchors: len(anchors)}
	points := make([]point, len(anchors))
	for i, a := range anchors {
		points[i] = point{float64(a.count - anchors[0].count), float64(int64(a.time - anchors[0].time))}
	}
	c.rate = 1e9 / float64(frequency)
	rough := c.rate
	if median, ok := medianSlope(points); ok && !c.Emulated && contradicts(points, median, c.rate) {
		rough = median // no single anchor spoils it
	}
	points = plausible(points, rough)
	if s, ok := floorSlope(points); ok && !c.Emulated && contradicts(points, s, c.rate) {
		c.rate, c.Measured = s, true
	}
	c.Frequency = 1e9 / c.rate
	low := lowest(points, c.rate)
	c.count = anchors[0].count
	c.time = shift(anchors[0].time, math.Floor(low)+microsecond/2)
	c.Error = spread(points, c.rate, low)
	if len(points) < few {
		c.Error += lateness
		if c.Measured {
			c.Error += lateness
		}
	}
	return c, nil
}

// Time returns the time of a count, in nanoseconds of CLOCK_MONOTONIC.
func (c *LogClock) Time(count uint64) uint64 {
	return shift(c.time, float64(int64(count-c.count))*c.rate)
}

// shift returns the time d nanoseconds after t, limited to the range of uint64.
func shift(t uint64, d float64) uint64 {
	switch d = math.Round(d); {
	case d < 0 && -d >= float64(t):
		return 0
	case d < 0:
		return t - uint64(-d)
	case d >= float64(math.MaxUint64-t):
		return math.MaxUint64
	}
	return t + uint64(d)
}

// A point is an anchor relative to the first one. A float64 holds a hundred days of counts.
type point struct{ x, y float64 }

// maxSlopes bounds the number of anchors for the median of slopes.
const maxSlopes = 256

// medianSlope returns the median of the slopes between all points (Theil and Sen). ok is false
// without any slope.
func medianSlope(points []point) (slope float64, ok bool) {
	step := 1 + len(points)/maxSlopes
	var slopes []float64
	for i := 0; i < len(points); i += step {
		for j := i + step; j < len(points); j += step {
			if dx, dy := points[j].x-points[i].x, points[j].y-points[i].y; dx > 0 && dy > 0 {
				slopes = append(slopes, dy/dx)
			}
		}
	}
	if len(slopes) == 0 {
		return 0, false
	}
	sorting.By(slopes, cmp.Compare)
	return slopes[len(slopes)/2], true
}

// contradicts reports whether points with a slope contradict the header's. The header has the
// kernel's estimate of the clock, exact to some millionths, or the processor's highest speed, which
// differs. Few anchors show only large differences.
func contradicts(points []point, slope, header float64) bool {
	span := points[len(points)-1].x
	drift := math.Abs(slope-header) * span
	differs := math.Abs(slope-header) / header
	switch {
	case len(points) < 4:
		return drift > 2*lateness && differs > 0.002
	case len(points) < 16:
		return drift > lateness && differs > 0.0005
	}
	return drift > 5*microsecond
}

// plausible drops points far below all others. Every error of an anchor makes it late, so early
// ones are damaged.
func plausible(points []point, slope float64) []point {
	if len(points) < 4 {
		return points
	}
	rest := make([]float64, len(points))
	for i, p := range points {
		rest[i] = p.y - slope*p.x
	}
	sorted := slices.Clone(rest)
	sorting.By(sorted, cmp.Compare)
	middle := sorted[len(sorted)/2]
	// At most so far below the middle: the largest delay of an anchor, and the error of the slope
	// over the distance.
	width := max(1e6, 20*(sorted[len(sorted)/2]-sorted[len(sorted)/4]))
	kept := make([]point, 0, len(points))
	for i, p := range points {
		if rest[i] >= middle-width {
			kept = append(kept, p)
		}
	}
	return kept
}

// floorSlope returns the slope of the line closest to the points that has no point below it. It is
// the edge of their lower convex hull below their centre. ok is false if there is no such line, or
// it falls.
func floorSlope(points []point) (slope float64, ok bool) {
	var hull []point
	centre := 0.0
	for _, p := range points {
		centre += p.x / float64(len(points))
		if n := len(hull); n > 0 && hull[n-1].x == p.x {
			continue // sorted: it is above
		}
		for n := len(hull); n >= 2; n-- {
			a, b := hull[n-2], hull[n-1]
			if (b.y-a.y)*(p.x-a.x) < (p.y-a.y)*(b.x-a.x) {
				break
			}
			hull = hull[:n-1]
		}
		hull = append(hull, p)
	}
	if len(hull) < 2 {
		return 0, false
	}
	i := 1
	for i < len(hull)-1 && hull[i].x < centre {
		i++
	}
	slope = (hull[i].y - hull[i-1].y) / (hull[i].x - hull[i-1].x)
	return slope, slope > 0
}

// lowest returns the height of the line with a slope that touches the points from below.
func lowest(points []point, slope float64) float64 {
	low := math.Inf(1)
	for _, p := range points {
		low = min(low, p.y-slope*p.x)
	}
	return low
}

// spread bounds the error of the line with a slope: the height above it of the lowest points in
// each part of the time. It doubles this for delays common to all parts.
func spread(points []point, slope, low float64) int64 {
	const parts = 4
	span := points[len(points)-1].x
	var lows [parts]float64
	for i := range lows {
		lows[i] = math.Inf(1)
	}
	for _, p := range points {
		i := 0
		if span > 0 {
			i = min(int(p.x/span*parts), parts-1)
		}
		lows[i] = min(lows[i], p.y-slope*p.x-low)
	}
	worst := 0.0
	for _, l := range lows {
		if !math.IsInf(l, 1) {
			worst = max(worst, l)
		}
	}
	return int64(math.Ceil(min(2*worst, math.MaxInt64/4))) + microsecond
}
