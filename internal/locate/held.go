package locate

import (
	"sync"

	"github.com/jitinject/jitinject/internal/recording"
	"github.com/jitinject/jitinject/internal/safefile"
)

// Held are files of a recording that comes through a pipe. When its last record is there, a process
// may have ended and removed its dump, and a container may be gone with all of its files. So the files
// that a marker may mean are opened when the marker comes, and stay open. The zero value is ready.
type Held struct {
	mu     sync.Mutex
	of     map[holder][]find
	number int
	closed bool
}

// A holder is a process and the path of a dump, as it mapped that.
type holder struct {
	pid  uint32
	path string
}

// maxHeld bounds the number of files that are held: half of the usual limit of a process. Those of further markers are looked for at the end.
const maxHeld = 512

// Hold opens the files that a marker may mean now. rec is what is known of the recording. A file that
// cannot be opened is looked for again later.
func (h *Held) Hold(rec *recording.Recording, m recording.Marker) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed || h.number >= maxHeld {
		return
	}
	r := &Reference{Path: markedPath(&m), Markers: []recording.Marker{m}}
	files, _ := liveFiles(rec, r)
	if file, err := safefile.Open(r.Path); err == nil {
		files = append([]find{{path: r.Path, place: recordedPlace, file: file}}, files...)
	}
	if h.of == nil {
		h.of = make(map[holder][]find)
	}
	by := holder{m.PID, r.Path}
	h.of[by] = append(h.of[by], files...)
	h.number += len(files)
}

// take returns the files of a reference. The caller closes them.
func (h *Held) take(r *Reference) (files []find) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, m := range r.Markers {
		by := holder{m.PID, r.Path}
		files = append(files, h.of[by]...)
		delete(h.of, by)
	}
	return files
}

// Close closes the files that no reference has taken. Nothing is held after that.
func (h *Held) Close() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.closed = true
	for _, files := range h.of {
		for _, l := range files {
			l.file.Close()
		}
	}
	h.of = nil
}
