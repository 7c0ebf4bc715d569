package terminal

import (
	"bytes"
	"os"
	"os/exec"
	"strconv"

	"golang.org/x/sys/unix"
)

// The colours are those of gcc, with a sequence that resets each.
const (
	red     = "\x1b[1;31m"
	magenta = "\x1b[1;35m"
	cyan    = "\x1b[1;36m"
	reset   = "\x1b[m"
)

// severities are the words that are coloured, each after a colon and a space, or at the start of a
// line.
var severities = []struct{ word, colour string }{{"error:", red}, {"warning:", magenta}, {"note:", cyan}}

// HasColour reports whether text for f may have colours: it is a terminal that is not dumb, and
// NO_COLOR is empty (no-color.org). f may be nil.
func HasColour(f *os.File) bool {
	return os.Getenv("NO_COLOR") == "" && HasCursor(f)
}

// Colour returns text with the first severity of each line in its colour.
func Colour(text []byte) []byte {
	var out []byte
	for line := range bytes.Lines(text) {
		out = append(out, colourLine(line)...)
	}
	return out
}

func colourLine(line []byte) []byte {
	at, first := -1, severities[0]
	for _, s := range severities {
		i := 0
		if !bytes.HasPrefix(line, []byte(s.word)) {
			if i = bytes.Index(line, []byte(": "+s.word)); i < 0 {
				continue
			}
			i += len(": ")
		}
		if at < 0 || i < at {
			at, first = i, s
		}
	}
	if at < 0 {
		return line
	}
	out := append([]byte(nil), line[:at]...)
	out = append(out, first.colour+first.word+reset...)
	return append(out, line[at+len(first.word):]...)
}

// OpenPage opens a page in the user's browser, if there is a display and xdg-open. It does not wait.
func OpenPage(path string) {
	if os.Getenv("DISPLAY") == "" && os.Getenv("WAYLAND_DISPLAY") == "" {
		return
	}
	if opener, err := exec.LookPath("xdg-open"); err == nil {
		exec.Command(opener, path).Start()
	}
}

// usual is the number of columns of text that does not go to a terminal.
const usual = 80

// Limits of [Width]: shorter lines break options apart, longer ones are hard to read.
const narrowest, widest = 40, 100

// Is reports whether f is a terminal. f may be nil.
func Is(f *os.File) bool {
	if f == nil {
		return false
	}
	_, err := unix.IoctlGetTermios(int(f.Fd()), unix.TCGETS)
	return err == nil
}

// Columns returns how many columns a terminal has, or 80 if that is unknown.
func Columns(f *os.File) int {
	if size, err := unix.IoctlGetWinsize(int(f.Fd()), unix.TIOCGWINSZ); err == nil && size.Col > 0 {
		return int(size.Col)
	}
	return usual
}

// Width returns how many columns text for f should have: from COLUMNS if that is a number, or else
// those of the terminal, between 40 and 100. It is 80 if f is not a terminal. f may be nil.
func Width(f *os.File) int {
	if !Is(f) {
		return usual
	}
	n, err := strconv.Atoi(os.Getenv("COLUMNS"))
	if err != nil || n <= 0 {
		n = Columns(f)
	}
	return min(widest, max(n, narrowest))
}

// HasCursor reports whether f is a terminal that can move its cursor. Shells of editors cannot: they
// set TERM to dumb.
func HasCursor(f *os.File) bool {
	term := os.Getenv("TERM")
	return Is(f) && term != "" && term != "dumb"
}

// InForeground reports whether the program may draw on a terminal. A background job of a shell would
// overwrite what the user types, or be stopped (stty tostop). If the terminal does not control the
// program, there are no jobs.
func InForeground(f *os.File) bool {
	group, err := unix.IoctlGetInt(int(f.Fd()), unix.TIOCGPGRP)
	return err != nil || group == unix.Getpgrp()
}
