package show

import (
	"bytes"
	"fmt"

	"github.com/jitinject/jitinject/internal/safefile/sys"
)

// The text of source lines.

// SourceTexts finds lines of source files. A file is read once, by any of its names, unless it was given up
// for others.
type SourceTexts struct {
	read  func(name string) ([]byte, error) // nil: nothing is read
	files map[string]SourceText             // by name, and by inode; nil for an unreadable file
	own   map[string]SourceText             // by what a dump brings along
	size  int                               // of both, in bytes
	was   map[string]bool                   // the keys of files that were read
	again int                               // bytes that were read again
}

// maxSourcesHeld bounds what is kept of texts, and maxSourcesAgain what is read again of files, in bytes.
const (
	maxSourcesHeld  = 64 << 20
	maxSourcesAgain = 1 << 30
)

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
	file := name
	if inode, err := sys.PathInode(name); err == nil {
		file = fmt.Sprint("\x00", inode) // no name has a zero
	}
	if s, ok = t.files[file]; !ok && (!t.was[file] || t.again < maxSourcesAgain) {
		if text, err := t.read(name); err == nil {
			s = NewSourceText(text)
			t.makeRoom(len(text) + 20*len(s)) // 24 bytes a line
			if t.was[file] {
				t.again += len(text)
			}
			t.was[file] = true
		}
	}
	t.files[name], t.files[file] = s, s
	return s
}

// Brought returns the lines of a text that a dump brings along. The texts used lately are kept.
func (t *SourceTexts) Brought(text string) SourceText {
	s, ok := t.own[text]
	if !ok {
		t.makeRoom(5*len(text) + 100)
		s = NewSourceText([]byte(text))
		t.own[text] = s
	}
	return s
}

// makeRoom gives up what is kept if there is too much of it.
func (t *SourceTexts) makeRoom(size int) {
	if t.size += size; t.size > maxSourcesHeld {
		clear(t.files)
		clear(t.own)
		t.size = size
	}
}
