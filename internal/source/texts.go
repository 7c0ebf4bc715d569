package source

import (
	"sort"
)

// A MadeText stands for the source file of methods with unknown lines. Its lines are the bytecodes,
// starting with index 0. Each shows what the body has of that bytecode.
type MadeText struct {
	File string
	Text string
}

// A Span is a record in the file. Size 0 means that there is no record.
type Span struct {
	Off  int64
	Size uint32
}

// Embedded sources of a dump.

// A Source is the text of a source file in a dump. It applies to functions that are loaded after
// it, until another source of the same name replaces it.
type Source struct {
	Name     string // as lines refer to it
	Path     string // of its file, if Name is no path; may be ""
	Function int    // the first function it applies to
	Size     int    // of the text, in bytes; of a Text, a lower bound
	Text     Text   // nil for texts in the dump

	Place   string // path of the written file; "" if it was not written
	At      Span   // its record
	Listing bool   // made from Function's record, and applies only to it
}

// Sources are the sources of a dump, in the order of the file.
type Sources struct {
	All      []Source
	byName   map[string][]int  // numbers in All, without listings and shared ones
	shared   map[string]int    // numbers in All, of texts outside the dump
	listings map[listingID]int // numbers in All
}

// maxSources bounds the number of sources of a dump.
const maxSources = 1 << 20

// Add adds a source of size bytes, in the record at, for function and later functions. It returns
// false if there are too many sources.
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

// AddText adds a source outside the dump, and returns its number, or -1 if there are too many.
// alone says that no other one has the name. Then it applies to all functions with files of that
// name, unless the dump has such a source.
func (s *Sources) AddText(t Source, alone bool) int {
	if len(s.All) >= maxSources {
		return -1
	}
	n := len(s.All)
	s.All = append(s.All, t)
	if alone {
		if s.shared == nil {
			s.shared = make(map[string]int)
		}
		s.shared[t.Name] = n
	}
	return n
}

// Of returns the number of the source that has a file name and applies to a function.
func (s *Sources) Of(name string, function int) (int, bool) {
	list := s.byName[name]
	later := sort.Search(len(list), func(i int) bool { return s.All[list[i]].Function > function })
	if later == 0 {
		n, ok := s.shared[name]
		return n, ok
	}
	return list[later-1], true
}
