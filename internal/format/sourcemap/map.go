package sourcemap

import (
	"errors"
	"fmt"
	"io"
	"sort"
)

// A Map is a source map.
type Map struct {
	Sources []Source
	Damaged int // number of segments with a place or a name that cannot be; they have no place here

	src   io.ReaderAt
	names []string
	parts []part // sorted by position; their first positions ascend
}

// A Source is an original file.
type Source struct {
	URL     string // with the sourceRoot; "" for null. Relative ones count from the map's own URL
	Content bool   // the map has its text
	Size    int    // of the text in UTF-8, in bytes
	Digest  uint64 // hash of the text, the same for equal texts while the process runs

	at, size int64 // of the text as JSON
}

// A Place is a place in an original file.
type Place struct {
	Source       int    // index in Sources
	Line, Column uint32 // from 1
	Name         string // of the identifier at the start of the segment, or ""
	Exact        bool   // the segment begins at the place that was asked about
}

// A part is the map of a part of the generated file.
type part struct {
	line, column uint32 // where it begins, from 0
	mappings     string
	marks        []mark
	sorted       []segment // all of them, if a line is not in the order of its columns
	sources      span      // in those of the map
	names        span      // in those of the map
	lines        uint32    // number of lines of the mappings
}

// A span is a part of a list.
type span struct{ first, count int32 }

// Limits of maps. A larger one is refused.
const (
	maxSize     = 128 << 20 // bytes
	maxSources  = 1 << 20
	maxNames    = 4 << 20
	maxSections = 1 << 16
)

// MostNames bounds the names of all sources of a map of size bytes, in bytes. A root, or the directory of the
// map, is a part of each name.
func MostNames(size int64) int64 { return 16*size + 1<<20 }

// errLarge is the error for a map with more than maxSize bytes.
var errLarge = fmt.Errorf("source map: it has more than %d MiB", maxSize>>20)

// Read reads a map of size bytes. It fails if the map is damaged, or is no map. The map reads texts
// of sources from src when they are asked for.
func Read(src io.ReaderAt, size int64) (*Map, error) {
	if size > maxSize {
		return nil, errLarge
	}
	p, err := newParser(src, size)
	if err != nil {
		return nil, err
	}
	m := &Map{src: src}
	if err := p.document(m); err != nil {
		return nil, err
	}
	for i := range m.parts {
		damaged, err := m.parts[i].index()
		if err != nil {
			return nil, err
		}
		m.Damaged += damaged
	}
	return m, nil
}

// errNotMap is the error for other files.
var errNotMap = errors.New("source map: not a source map (no JSON object with version 3)")

// Lines returns how many lines of the generated file the map describes, at least.
func (m *Map) Lines() uint32 {
	last := uint32(0)
	for i := range m.parts {
		last = max(last, m.parts[i].line+m.parts[i].lines)
	}
	return last
}

// HasNames reports whether the map has names.
func (m *Map) HasNames() bool { return len(m.names) > 0 }

// Memory returns how much memory the map needs, in bytes.
func (m *Map) Memory() int {
	n := 64 * len(m.Sources)
	for i := range m.Sources {
		n += len(m.Sources[i].URL)
	}
	for _, name := range m.names {
		n += 16 + len(name)
	}
	for i := range m.parts {
		n += len(m.parts[i].mappings) + 56*cap(m.parts[i].marks) + 40*cap(m.parts[i].sorted) + 104
	}
	return n
}

// Find returns the original place of a place in the generated file. Line and column count from 1.
// ok is false if the place has none.
func (m *Map) Find(line, column uint32) (p Place, ok bool) {
	if line == 0 || column == 0 {
		return Place{}, false
	}
	line, column = line-1, column-1
	i := sort.Search(len(m.parts), func(i int) bool {
		q := &m.parts[i]
		return q.line > line || q.line == line && q.column > column
	}) - 1
	if i < 0 {
		return Place{}, false
	}
	q := &m.parts[i]
	if line -= q.line; line == 0 {
		column -= q.column
	}
	s, ok := q.find(line, column)
	if !ok || !q.has(&s) {
		return Place{}, false
	}
	p = Place{Source: int(q.sources.first + s.source), Line: uint32(s.line) + 1, Column: uint32(s.column) + 1, Exact: s.generated == int64(column)}
	if s.fields == 5 {
		p.Name = m.names[q.names.first+s.name]
	}
	return p, true
}
