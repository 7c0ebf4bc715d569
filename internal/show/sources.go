package show

import (
	"bytes"
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// The text of source lines.

// Bounds of what is read and kept of source files.
const (
	maxSourceSize  = 8 << 20
	maxSourcesHeld = 64 << 20
)

// sourceTexts finds lines of source files, those read lately from memory.
type sourceTexts struct {
	read func(name string) ([]byte, bool) // nil: nothing is read
	held map[string]*sourceText
	size int
	own  map[string]ownText // by the name of the file
}

// A sourceText is a text and where its lines begin. It is nil for a file that cannot
// be read.
type sourceText struct {
	text   []byte
	starts []int32
}

func newSourceText(text []byte) *sourceText {
	s := &sourceText{text: text, starts: []int32{0}}
	for at := 0; ; {
		n := bytes.IndexByte(text[at:], '\n')
		if n < 0 {
			return s
		}
		at += n + 1
		s.starts = append(s.starts, int32(at))
	}
}

// line returns a line, which are counted from 1, without its end.
func (s *sourceText) line(n uint64) ([]byte, bool) {
	if s == nil || n == 0 || n > uint64(len(s.starts)) {
		return nil, false
	}
	from, to := int(s.starts[n-1]), len(s.text)
	if n < uint64(len(s.starts)) {
		to = int(s.starts[n]) - 1
	}
	return bytes.TrimRight(s.text[from:to], "\r"), true
}

// of returns the file of a name, or nil.
func (t *sourceTexts) of(name string) *sourceText {
	if s, ok := t.held[name]; ok {
		return s
	}
	if t.read == nil {
		return nil
	}
	text, ok := t.read(name)
	if t.held == nil || t.size+len(text) > maxSourcesHeld || len(t.held) > 10000 {
		t.held, t.size = make(map[string]*sourceText), 0
	}
	var s *sourceText
	if ok {
		s = newSourceText(text)
	}
	t.held[name] = s
	t.size += 5*len(text) + len(name)
	return s
}

// ReadSource reads a source file for Options.Sources. Names come from files that anyone
// may have written: only a regular file is read, and only one that is not huge. Files of
// /proc, some of which lose what is read, say that they are empty.
func ReadSource(name string) ([]byte, bool) {
	f, err := os.OpenFile(name, os.O_RDONLY|unix.O_NONBLOCK|unix.O_NOCTTY, 0)
	if err != nil {
		return nil, false
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil || !st.Mode().IsRegular() || st.Size() == 0 || st.Size() > maxSourceSize {
		return nil, false
	}
	text, err := io.ReadAll(io.LimitReader(f, maxSourceSize))
	return text, err == nil
}

// brought returns a text that a dump brings along for a file.
func (t *sourceTexts) brought(name, text string) *sourceText {
	if t.own == nil || len(t.own) > 1000 {
		t.own = make(map[string]ownText)
	}
	own, ok := t.own[name]
	if !ok || own.text != text {
		own = ownText{text, newSourceText([]byte(text))}
		t.own[name] = own
	}
	return own.lines
}

// An ownText is a text that a dump brought along, and its lines.
type ownText struct {
	text  string
	lines *sourceText
}
