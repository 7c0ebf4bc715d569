package show

import "bytes"

// The text of source lines.

// SourceTexts finds lines of source files, those read lately from memory.
type SourceTexts struct {
	read  func(name string) ([]byte, error) // nil: nothing is read
	files map[string]SourceText             // by name; nil for a file that cannot be read
	own   map[string]SourceText             // by what a dump brings along
	size  int                               // of both, in bytes
}

// maxSourcesHeld bounds what is kept of source files, in bytes.
const maxSourcesHeld = 64 << 20

// A SourceText has the lines of a text, without their ends.
type SourceText [][]byte

// NewSourceText returns the lines of a text; an empty one has none.
func NewSourceText(text []byte) SourceText {
	if len(text) == 0 {
		return nil
	}
	return bytes.Split(bytes.TrimSuffix(text, []byte("\n")), []byte("\n"))
}

// Line returns a line, which are counted from 1.
func (s SourceText) Line(n uint64) ([]byte, bool) {
	if n == 0 || n > uint64(len(s)) {
		return nil, false
	}
	return bytes.TrimRight(s[n-1], "\r"), true
}

// Of returns the file of a name, or nil.
func (t *SourceTexts) Of(name string) SourceText {
	s, ok := t.files[name]
	if ok || t.read == nil {
		return s
	}
	text, err := t.read(name)
	t.makeRoom(len(text) + len(name))
	if err == nil {
		s = NewSourceText(text)
	}
	t.files[name] = s
	return s
}

// Brought returns the lines of a text that a dump brings along.
func (t *SourceTexts) Brought(text string) SourceText {
	s, ok := t.own[text]
	if !ok {
		t.makeRoom(len(text))
		s = NewSourceText([]byte(text))
		t.own[text] = s
	}
	return s
}

// makeRoom gives up what is kept if there is too much of it.
func (t *SourceTexts) makeRoom(size int) {
	if t.size += 5*size + 100; t.files == nil || t.size > maxSourcesHeld {
		t.files, t.own, t.size = make(map[string]SourceText), make(map[string]SourceText), 0
	}
}
