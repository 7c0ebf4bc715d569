package inject

// A TraceSummary has the results for one log of calls.
type TraceSummary struct {
	PID     uint32 `json:"pid"`
	Command string `json:"command,omitempty"`
	Path    string `json:"path"`
	Event   string `json:"event"`   // name of the event of its samples
	Threads int64  `json:"threads"` // number of threads that logged anything
	// Unknown counts those of them that got synthetic tids, because their own are unknown.
	Unknown int   `json:"unknown_threads"`
	Calls   int64 `json:"calls"` // samples of the event
	// Notes counts the program's own messages, which are samples of another event.
	Notes int64 `json:"notes"`
	// Inferred counts calls with ends that follow from other calls, and were not logged.
	Inferred int64 `json:"inferred"`
	// Unmatched counts ends of calls with beginnings that were not logged.
	Unmatched int64 `json:"unmatched"`
	Gaps      int64 `json:"gaps"`     // places where a thread's log is missing
	Backward  int64 `json:"backward"` // entries that were older than the one before
	// TooDeep counts the times that a stack had too many calls. The calls in its middle then
	// count as ended.
	TooDeep  int64  `json:"too_deep"`
	Cut      int64  `json:"cut"`       // callchains without the calls in the middle
	CutNotes int64  `json:"cut_notes"` // notes that lost their ends
	Traced   uint64 `json:"traced_ns"` // sum of exclusive times
	Early    int64  `json:"early"`     // samples before all times of the recording
	Late     int64  `json:"late"`      // samples after the end of the recording
	Clock    Clock  `json:"clock"`

	XRay *XRaySummary `json:"xray,omitempty"` // data that only traces of XRay have
}

// An XRaySummary has the results for a trace that only XRay has.
type XRaySummary struct {
	Format  int `json:"format"`  // the version of the format
	Buffers int `json:"buffers"` // number of buffers of the process
	// More counts further files of the process. The results are about all of them.
	More    int    `json:"more"`
	Program string `json:"program"` // where functions were looked up
	// Unchecked says that nothing shows whether Program is the build that was recorded.
	Unchecked bool `json:"unchecked"`
	Functions int  `json:"functions"` // number of functions in it, called or not
	// Claimed is the frequency of the counts that the trace gives, or 0.
	Claimed   uint64  `json:"claimed_hz"`
	Frequency float64 `json:"frequency_hz"` // frequency that was used
	// Measured says that Frequency is measured from the times of the trace, and differs from
	// Claimed.
	Measured bool `json:"measured"`
	Emulated bool `json:"emulated"` // the counts are nanoseconds of CLOCK_REALTIME
	// Anchors counts places where the trace has both a count and a time.
	Anchors int `json:"anchors"`

	// Fixes are deviations of runtimes from the format's document.
	Fixes []Fix `json:"repairs"`
}
