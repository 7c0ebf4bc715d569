package journal

import "time"

// holds has a value while the run must not be abandoned.
var holds = make(chan struct{}, 1)

// Hold keeps [Abandon] waiting until release is called: the run is putting its result into its
// place.
func Hold() (release func()) {
	holds <- struct{}{}
	return func() { <-holds }
}

// Abandon waits until no result is being put into its place, but not longer than patience. No result
// is put into its place after that. The process has to exit.
func Abandon(patience time.Duration) {
	select {
	case holds <- struct{}{}:
	case <-time.After(patience):
	}
}
