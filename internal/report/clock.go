package report

// A Clock describes the conversion of a dump's times into the recording's.
type Clock struct {
	Kind string `json:"kind"` // one of the constants below

	// Offset is what was added to the dump's times, in nanoseconds. Error bounds the error of
	// an estimated offset, in nanoseconds; it is -1 if there is no bound. An estimated offset
	// is never too large, so functions come a little early and never late. Both are for the
	// time when the dump was mapped. From then on the two clocks may have drifted apart.
	Offset int64 `json:"offset"`
	Error  int64 `json:"error"`
}

// These values are the kinds of clocks.
const (
	ClockMonotonic = "monotonic" // the recording's times are the dump's
	// ClockTSC means that the recording says how to convert counts of the processor.
	ClockTSC       = "tsc"
	ClockEstimated = "estimated" // the offset was estimated from the recording
	// ClockOther means that the recording's clock is CLOCK_MONOTONIC, and the dump's is another. The
	// offset was estimated from the recording.
	ClockOther = "other"
	// ClockRealtime means that the dump's times are of CLOCK_REALTIME, and the offset was
	// estimated or measured.
	ClockRealtime = "realtime"
	ClockGiven    = "given" // by Options.Clock
	ClockStart    = "start" // the dump has no times: functions are there from the start
	// ClockNone means that the times cannot be matched: functions are there from the start.
	ClockNone = "none"
)
