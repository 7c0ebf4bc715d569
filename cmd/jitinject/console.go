package main

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/jitinject/jitinject/internal/quote"
	"github.com/jitinject/jitinject/internal/terminal"
)

// A console is where messages go: standard error. What is written there takes the
// place of a bar that shows how far the program is.
type console struct {
	w    io.Writer
	perf bool // the program is a command of perf, and calls itself so

	mu    sync.Mutex // guards what follows, and writing
	meter *meter     // what shows the bar, or nil
}

func newConsole(program string, w io.Writer) *console {
	return &console{w: w, perf: filepath.Base(program) == "perf-jitinject"}
}

// Write writes whole messages. It escapes control characters, which texts of files and other programs may have.
func (c *console) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.meter != nil {
		c.meter.hide()
	}
	text := []byte(quote.Lines(string(p)))
	if c.perf {
		text = asPerf(text)
	}
	if f, ok := c.w.(*os.File); ok && terminal.HasColour(f) {
		text = terminal.Colour(text)
	}
	if _, err := c.w.Write(text); err != nil {
		return 0, err
	}
	return len(p), nil
}

// asPerf names the program in messages as it was called: perf jitinject.
func asPerf(text []byte) []byte {
	var out []byte
	for line := range bytes.Lines(text) {
		if bytes.HasPrefix(line, []byte("jitinject: ")) {
			out = append(out, "perf "...)
		}
		for _, advice := range []string{" see jitinject ", ": jitinject -"} {
			line = bytes.Replace(line, []byte(advice), []byte(strings.Replace(advice, "jitinject", "perf jitinject", 1)), 1)
		}
		out = append(out, line...)
	}
	return out
}

// programName is what the program is called in usages: as it was called itself.
func programName(stderr io.Writer) string {
	if c, ok := stderr.(*console); ok && c.perf {
		return "perf jitinject"
	}
	return "jitinject"
}

// terminal returns the terminal that messages go to, or nil. One that cannot move its
// cursor, like the shell of an editor, is none.
func (c *console) terminal() *os.File {
	f, ok := c.w.(*os.File)
	if !ok || !terminal.HasCursor(f) {
		return nil
	}
	return f
}
