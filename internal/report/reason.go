package report

// A Reason says why there was nothing to inject, of the recording or of one process in it
// that ran code which was made while it ran.
type Reason struct {
	Kind    string `json:"kind"` // one of the constants below
	PID     uint32 `json:"pid,omitempty"`
	Command string `json:"command,omitempty"` // what the process is called in the recording
	Samples int64  `json:"samples,omitempty"` // of the process, in user space but in no file: in code that was made while it ran
	Text    string `json:"text"`              // what the recording tells
	Advice  string `json:"advice,omitempty"`  // what to do; a command stands alone in it
}

// Kinds of reasons.
const (
	ReasonInjected       = "already-injected" // an earlier run has made the recording
	ReasonNoSamples      = "no-samples"       // there are none in it
	ReasonNoJittedCode   = "no-jitted-code"   // no sample is in memory of no file: nothing is missing
	ReasonNoMarker       = "no-marker"        // there is a dump, but the recording does not say so
	ReasonPerfMap        = "perf-map"         // names are in a perf-PID.map, which perf reads by itself
	ReasonFlagMissing    = "flag-missing"     // a runtime that writes a dump if it is told to
	ReasonNoDump         = "no-dump"          // it has been told so, and yet there is none
	ReasonUnknownRuntime = "unknown-runtime"  // some other program
	ReasonMore           = "more"             // further processes like these
	ReasonClock          = "clock"            // recorded without -k mono; comes behind others
)
