package report

// A Reason says why there was nothing to inject. It is about the recording, or about one process
// in it that ran jitted code.
type Reason struct {
	Kind string `json:"kind"` // one of the constants below
	PID  uint32 `json:"pid,omitempty"`
	// Command is the name of the process in the recording.
	Command string `json:"command,omitempty"`
	// Samples counts the samples of the process in user space that are in no file: in jitted
	// code.
	Samples int64  `json:"samples,omitempty"`
	Text    string `json:"text"`             // what the recording shows
	Advice  string `json:"advice,omitempty"` // what to do; a command stands alone in it
}

// These values are the kinds of reasons.
const (
	ReasonInjected     = "already-injected" // an earlier run has made the recording
	ReasonNoSamples    = "no-samples"       // it has no samples
	ReasonNoJittedCode = "no-jitted-code"   // all samples are in files: nothing is missing
	// ReasonNoMarker means that there is a dump, but the recording has no marker of it.
	ReasonNoMarker = "no-marker"
	// ReasonPerfMap means that there is a perf-PID.map that was not used: it is of another run, or
	// the recording is a pipe, and perf reads the map by itself.
	ReasonPerfMap        = "perf-map"
	ReasonFlagMissing    = "flag-missing"    // the runtime writes a dump only with a flag
	ReasonNoDump         = "no-dump"         // it got that flag, but there is no dump
	ReasonUnknownRuntime = "unknown-runtime" // the runtime is unknown
	ReasonMore           = "more"            // further processes like these
)
