package screen

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// A Hotspot is the window of hotspot, with a recording that it has parsed.
type Hotspot struct {
	*Window
	dir string
	// Stacks has the stacks that the window shows, as it exports them: a line for each, the outermost
	// frame first, separated by semicolons, then the cost. Inlined calls are frames.
	Stacks string
}

// exported is the file that the window exports its stacks to.
const exported = "stacks.txt"

// OpenHotspot opens a recording in the window of hotspot 1.3, and waits until it is parsed. dir is
// the directory of the recording; the window writes a file there. The caller closes the window.
func (s *Screen) OpenHotspot(timeout time.Duration, dir, recording string) (*Hotspot, error) {
	end := time.Now().Add(timeout)
	w, err := s.Open(timeout, dir, recording+" - Hotspot", "hotspot", recording)
	if err != nil {
		return nil, err
	}
	h := &Hotspot{Window: w, dir: dir}
	for h.Stacks == "" && err == nil {
		if time.Now().After(end) {
			err = fmt.Errorf("hotspot has exported no stacks of %s in %v", recording, timeout)
			break
		}
		time.Sleep(time.Second)
		err = h.export()
	}
	if err != nil {
		h.Close()
		return nil, err
	}
	return h, nil
}

// export sets Stacks. It stays empty if the recording is not yet parsed.
func (h *Hotspot) export() error {
	path := filepath.Join(h.dir, exported)
	if err := os.RemoveAll(path); err != nil {
		return err
	}
	// The last entry of View is Export, with Stack Collapsed and its events. It is empty, and the keys
	// do nothing, before the recording is parsed.
	if err := h.Keys("alt+v", "Up", "Right", "Right", "Return"); err != nil {
		return err
	}
	time.Sleep(time.Second)
	if _, err := h.screen.xdotool("search", "--onlyvisible", "--name", "^Export "); err != nil {
		return h.Keys("Escape", "Escape", "Escape") // no dialog: xdotool fails if it finds nothing
	}
	if err := h.Type(exported); err != nil {
		return err
	}
	if err := h.Keys("Return"); err != nil {
		return err
	}
	time.Sleep(time.Second)
	b, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return h.Keys("Escape", "Escape", "Escape")
	}
	h.Stacks = string(b)
	return err
}

// ShowFlameGraph shows the flame graph without the timeline.
func (h *Hotspot) ShowFlameGraph() error {
	// Three tabs to the right of the summary.
	if err := h.Keys("ctrl+Tab", "ctrl+Tab", "ctrl+Tab", "ctrl+t"); err != nil {
		return err
	}
	time.Sleep(2 * time.Second)
	return h.Running()
}
