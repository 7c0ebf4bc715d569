package report

// A Clock says how the times of a dump became those of the recording.
type Clock struct {
	Kind string `json:"kind"` // one of the constants below

	// Offset is what was added to the dump's times, in nanoseconds. Estimated, it
	// is too small by no more than Error, -1 if nothing bounds that: functions come
	// a little early and never late. That is so when the dump was mapped; from
	// then on the two clocks may have drifted apart.
	Offset int64 `json:"offset"`
	Error  int64 `json:"error"`
}

// The kinds of clocks.
const (
	ClockMonotonic = "monotonic" // the recording's times are the dump's
	ClockTSC       = "tsc"       // the recording says how counts of the processor become its times
	ClockEstimated = "estimated" // the offset was found by evidence
	ClockRealtime  = "realtime"  // the dump's times are of CLOCK_REALTIME; the offset was found by evidence
	ClockGiven     = "given"     // by Options.Clock
	ClockStart     = "start"     // the dump has no times: functions are there from the start
	ClockNone      = "none"      // the times cannot be matched: functions are there from the start
)
