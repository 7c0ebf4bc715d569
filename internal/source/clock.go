package source

// A Clock is the clock that a dump's times are read from.
type Clock int

const (
	MonotonicClock Clock = iota // nanoseconds of CLOCK_MONOTONIC
	ArchClock                   // ticks of the processor's counter
	RealtimeClock               // nanoseconds of CLOCK_REALTIME
	UnknownClock                // the header has nothing usable; the clock follows from the times
)

// Sure returns the clock, or MonotonicClock if it is unknown. The format asks for CLOCK_MONOTONIC,
// and nearly all producers use it.
func (c Clock) Sure() Clock {
	if c == UnknownClock {
		return MonotonicClock
	}
	return c
}
