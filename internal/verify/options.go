package verify

// Options say how files are checked. The zero value can be used, but diagnostics go
// nowhere.
type Options struct {
	// Emit gets each complaint as it comes up.
	Emit func(Diagnostic)

	// All tells of every complaint. Otherwise the eleventh about one rule and those
	// behind it are counted only.
	All bool

	// User emits only what a user of jitinject can act on: no diagnostics of rules that are Repaired,
	// and the first of each other rule. The others are counted.
	User bool

	// Counted reports whether a run of the engine with Options.Preview has read a file. With User,
	// diagnostics of rules that are Counted are left to it. It may be nil.
	Counted func(path string) bool

	// Recording is the path of the recording that side files belong to, or "".
	Recording string

	// Recordings are paths of recordings that side files may belong to, if Recording is "". A file
	// is compared with each that has its process.
	Recordings []string

	// Producer adds notes about what jitdumps lack that profilers could show.
	Producer bool

	// Now is CLOCK_MONOTONIC of this machine in nanoseconds, for files that were
	// written on it, or 0.
	Now uint64
}

// Beside returns the recordings that side files are compared with.
func (o *Options) Beside() []string {
	if o.Recording != "" {
		return []string{o.Recording}
	}
	return o.Recordings
}
