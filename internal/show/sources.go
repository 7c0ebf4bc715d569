package show

import (
	"bytes"
	"io"
	"os"

	"golang.org/x/sys/unix"

	"github.com/jitinject/jitinject/internal/safefile/sys"
)

// The text of source lines.

// Bounds of what is read and kept of source files.
const (
	maxSourceSize  = 8 << 20
	maxSourcesHeld = 64 << 20
)

// SourceTexts finds lines of source files, those read lately from memory.
type SourceTexts struct {
	read func(name string) ([]byte, bool) // nil: nothing is read
	held map[string]*SourceText
	size int
	own  map[string]ownText // by the name of the file
}

// A SourceText is a text and where its lines begin. It is nil for a file that cannot
// be read.
type SourceText struct {
	text   []byte
	Starts []int32
}

func NewSourceText(text []byte) *SourceText {
	s := &SourceText{text: text, Starts: []int32{0}}
	for at := 0; ; {
		n := bytes.IndexByte(text[at:], '\n')
		if n < 0 {
			return s
		}
		at += n + 1
		s.Starts = append(s.Starts, int32(at))
	}
}

// Line returns a line, which are counted from 1, without its end.
func (s *SourceText) Line(n uint64) ([]byte, bool) {
	if s == nil || n == 0 || n > uint64(len(s.Starts)) {
		return nil, false
	}
	from, to := int(s.Starts[n-1]), len(s.text)
	if n < uint64(len(s.Starts)) {
		to = int(s.Starts[n]) - 1
	}
	return bytes.TrimRight(s.text[from:to], "\r"), true
}

// Of returns the file of a name, or nil.
func (t *SourceTexts) Of(name string) *SourceText {
	if s, ok := t.held[name]; ok {
		return s
	}
	if t.read == nil {
		return nil
	}
	text, ok := t.read(name)
	if t.held == nil || t.size+len(text) > maxSourcesHeld || len(t.held) > 10000 {
		t.held, t.size = make(map[string]*SourceText), 0
	}
	var s *SourceText
	if ok {
		s = NewSourceText(text)
	}
	t.held[name] = s
	t.size += 5*len(text) + len(name)
	return s
}

// ReadSource reads a source file for Options.Sources. Names come from files that anyone
// may have written: only a regular file is read, and only one that is not huge. Files of
// /proc, some of which lose what is read, say that they are empty.
func ReadSource(name string) ([]byte, bool) {
	f, err := sys.OpenFile(name, os.O_RDONLY|unix.O_NONBLOCK|unix.O_NOCTTY, 0)
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

// Brought returns a text that a dump brings along for a file.
func (t *SourceTexts) Brought(name, text string) *SourceText {
	if t.own == nil || len(t.own) > 1000 {
		t.own = make(map[string]ownText)
	}
	own, ok := t.own[name]
	if !ok || own.text != text {
		own = ownText{text, NewSourceText([]byte(text))}
		t.own[name] = own
	}
	return own.lines
}

// An ownText is a text that a dump brought along, and its lines.
type ownText struct {
	text  string
	lines *SourceText
}
