package safefile

import "sync"

// partials are the partial files of this process. Whoever makes or renames one reads-locks it.
var partials struct {
	sync.RWMutex
	all sync.Map // of *Partial
}

// Hold keeps [RemovePartials] waiting until release is called: a file is being made, or a result is
// being put into its place.
func Hold() (release func()) {
	partials.RLock()
	return partials.RUnlock
}

// RemovePartials removes all partial files of this process, which has to exit at once: what would
// make or rename a file waits for ever from then on. It is for a process that does not end by itself
// after a signal.
func RemovePartials() {
	partials.Lock()
	for p := range partials.all.Range {
		p.(*Partial).remove()
	}
}
