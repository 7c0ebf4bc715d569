package source

// A Clock is the clock that a dump's times are read from.
type Clock int

const (
	MonotonicClock Clock = iota // nanoseconds of CLOCK_MONOTONIC
	ArchClock                   // ticks of the processor's counter
	UnknownClock                // the header has nothing usable; the clock follows from the times
)
