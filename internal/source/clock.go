package source

// A Clock is what a source's times are counted by.
type Clock int

const (
	MonotonicClock Clock = iota // nanoseconds of CLOCK_MONOTONIC
	ArchClock                   // ticks of the processor's counter
	RealtimeClock               // nanoseconds of CLOCK_REALTIME
	UnknownClock                // the header says nothing that can be believed: times have to tell
)

// Sure returns the clock, or MonotonicClock where that is unknown: it is what the format
// wants, and nearly all producers write.
func (c Clock) Sure() Clock {
	if c == UnknownClock {
		return MonotonicClock
	}
	return c
}
