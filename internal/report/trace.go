package report

// A TraceSummary is about one log of calls.
type TraceSummary struct {
	PID       uint32 `json:"pid"`
	Command   string `json:"command,omitempty"`
	Path      string `json:"path"`
	Event     string `json:"event"`           // the name of the event that its samples have
	Threads   int64  `json:"threads"`         // that logged anything
	Unknown   int    `json:"unknown_threads"` // of them, those with made-up numbers, because nobody knows their own
	Calls     int64  `json:"calls"`           // samples of the event
	Notes     int64  `json:"notes"`           // what the program said itself, in samples of another event
	Inferred  int64  `json:"inferred"`        // calls whose end follows from others, and is not logged
	Unmatched int64  `json:"unmatched"`       // ends of calls whose beginnings are not logged
	Gaps      int64  `json:"gaps"`            // places where a thread's log is missing
	Backward  int64  `json:"backward"`        // entries that were older than the one before
	TooDeep   int64  `json:"too_deep"`        // times that the calls in the middle of a stack were taken to have ended, because there were too many
	Cut       int64  `json:"cut"`             // callchains without the calls in the middle
	CutNotes  int64  `json:"cut_notes"`       // notes that lost their ends
	Traced    uint64 `json:"traced_ns"`       // the sum of exclusive times
	Early     int64  `json:"early"`           // samples before all that the recording has times of
	Late      int64  `json:"late"`            // and behind that
	Clock     Clock  `json:"clock"`

	XRay *XRaySummary `json:"xray,omitempty"` // what only traces of XRay have
}

// Traces of XRay: programs that clang built with -fxray-instrument log every call of a
// function by its number and a count of the processor's clock. What the numbers mean is in
// the program; where that was in memory, the recording knows.

// An XRaySummary is what is special about a trace of XRay.
type XRaySummary struct {
	Format    int     `json:"format"`       // the version of the format
	Buffers   int     `json:"buffers"`      // of the process
	More      int     `json:"more"`         // further files of the process; what is said of the trace is about all of them
	Program   string  `json:"program"`      // where functions were looked up
	Unchecked bool    `json:"unchecked"`    // nothing tells whether that is the build that was recorded
	Functions int     `json:"functions"`    // that it has, called or not
	Claimed   uint64  `json:"claimed_hz"`   // of the counts, as the trace says, or 0
	Frequency float64 `json:"frequency_hz"` // as it is
	Measured  bool    `json:"measured"`     // that is not what the trace says, but what its times show
	Emulated  bool    `json:"emulated"`     // the counts are nanoseconds of CLOCK_REALTIME
	Anchors   int     `json:"anchors"`      // places where the trace tells a count and a time

	Fixes []Fix `json:"repairs"` // what runtimes write otherwise than the format's document says
}
