package show

import "bytes"

// The text of source lines.

// maxSourcesHeld bounds what is kept of source files, in bytes.
const maxSourcesHeld = 64 << 20

// SourceTexts finds lines of source files, those read lately from memory.
type SourceTexts struct {
	read func(name string) ([]byte, error) // nil: nothing is read
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
	text, err := t.read(name)
	if t.held == nil || t.size+len(text) > maxSourcesHeld || len(t.held) > 10000 {
		t.held, t.size = make(map[string]*SourceText), 0
	}
	var s *SourceText
	if err == nil {
		s = NewSourceText(text)
	}
	t.held[name] = s
	t.size += 5*len(text) + len(name)
	return s
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
