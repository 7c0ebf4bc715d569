package terminal

import (
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

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
