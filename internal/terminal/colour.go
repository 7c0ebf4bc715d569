package terminal

import (
	"bytes"
	"os"
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
