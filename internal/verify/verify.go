package verify

// Options say how files are checked. The zero value is of use, except that nobody
// hears of the complaints.
type Options struct {
	// Emit gets each complaint as it comes up.
	Emit func(Complaint)

	// All tells of every complaint. Otherwise the eleventh about one rule and those
	// behind it are counted only.
	All bool

	// Recording is the path of the recording that dumps belong to. They are held
	// against its markers, clock and samples.
	Recording string

	// Recordings are paths of recordings that dumps may belong to, if Recording is
	// empty. A dump is held against each that knows its process; of one that none
	// knows, only that is said.
	Recordings []string

	// Logs are paths of Mono's logs, XRay's traces and captures that recordings may belong to. A
	// recording says nothing of them by itself.
	Logs []string

	// Now is CLOCK_MONOTONIC of this machine in nanoseconds, for dumps that were made
	// on it, or 0.
	Now uint64
}
