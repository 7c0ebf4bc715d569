package report

// A TraceSummary has the results for one log of calls.
type TraceSummary struct {
	PID       uint32       `json:"pid"`
	Command   string       `json:"command,omitempty"`
	Path      string       `json:"path"`
	Event     string       `json:"event"`   // name of the event of its samples
	Threads   int64        `json:"threads"` // number of threads that logged anything
	Unknown   int          `json:"unknown_threads"`
	Calls     int64        `json:"calls"` // samples of the event
	Notes     int64        `json:"notes"`
	Inferred  int64        `json:"inferred"`
	Unmatched int64        `json:"unmatched"`
	Gaps      int64        `json:"gaps"`     // places where a thread's log is missing
	Backward  int64        `json:"backward"` // entries that were older than the one before
	TooDeep   int64        `json:"too_deep"`
	Cut       int64        `json:"cut"`       // callchains without the calls in the middle
	CutNotes  int64        `json:"cut_notes"` // notes that lost their ends
	Traced    uint64       `json:"traced_ns"` // sum of exclusive times
	Early     int64        `json:"early"`     // samples before all times of the recording
	Late      int64        `json:"late"`      // samples after the end of the recording
	Clock     Clock        `json:"clock"`
	XRay      *XRaySummary `json:"xray,omitempty"` // data that only traces of XRay have
}

// Programs that clang built with -fxray-instrument write traces of XRay. They log every call of a
// function by its number and a count of the processor's clock. The program has the meaning of the
// numbers. The recording has its location in memory.

// An XRaySummary has the results for a trace that only XRay has.
type XRaySummary struct {
	Format    int     `json:"format"`  // the version of the format
	Buffers   int     `json:"buffers"` // number of buffers of the process
	More      int     `json:"more"`
	Program   string  `json:"program"` // where functions were looked up
	Unchecked bool    `json:"unchecked"`
	Functions int     `json:"functions"` // number of functions in it, called or not
	Claimed   uint64  `json:"claimed_hz"`
	Frequency float64 `json:"frequency_hz"` // frequency that was used
	Measured  bool    `json:"measured"`
	Emulated  bool    `json:"emulated"` // the counts are nanoseconds of CLOCK_REALTIME
	Anchors   int     `json:"anchors"`
	Fixes     []Fix   `json:"repairs"`
}
