package source

import (
	"sort"
)

// A MadeText stands for the source file of methods whose lines are not known: its
// lines are the byte codes, that of index 0 being the first, and say what the body
// has of each.
type MadeText struct {
	File string
	Text string
}

// A Span is a record in the file; size 0 means there is none.
type Span struct {
	Off  int64
	Size uint32
}

// Source files that a dump brings along.

// A Source is the text of a source file in a dump. It holds for the functions that
// are loaded behind it, until another of the same name takes its place.
type Source struct {
	Name     string // as lines refer to it
	Function int    // the first function it holds for
	Size     int    // of the text in bytes

	Place   string // what the file is called instead
	At      Span   // its record
	Listing bool   // it is made of what Function's record says, and holds for no other
}

// Sources are those of a dump, in the order of the file.
type Sources struct {
	All      []Source
	byName   map[string][]int  // without listings
	listings map[listingID]int // their places in all
}

// maxSources bounds how many sources of a dump are believed in.
const maxSources = 1 << 20

// Add adds the source of a name with a text of size bytes, in the record at, for function and
// those after it. It reports false if there are too many.
func (s *Sources) Add(name string, size int, at Span, function int) bool {
	if len(s.All) >= maxSources {
		return false
	}
	if s.byName == nil {
		s.byName = make(map[string][]int)
	}
	s.byName[name] = append(s.byName[name], len(s.All))
	s.All = append(s.All, Source{Name: name, Function: function, Size: size, At: at})
	return true
}

// Of returns the number of the source that a function means by a file name.
func (s *Sources) Of(name string, function int) (int, bool) {
	list := s.byName[name]
	later := sort.Search(len(list), func(i int) bool { return s.All[list[i]].Function > function })
	if later == 0 {
		return 0, false
	}
	return list[later-1], true
}
