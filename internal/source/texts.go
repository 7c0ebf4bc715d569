package source

import (
	"cmp"
	"fmt"
	"slices"
	"sort"
	"sync"
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

// AddTexts adds sources outside the dump, and returns their numbers, or -1 for those that are too many. One
// that has its name alone applies to all functions with files of that name, unless the dump has such a
// source. It is called once.
func (s *Sources) AddTexts(texts []Source) (numbers []int) {
	count := make(map[string]int)
	for i := range texts {
		count[texts[i].Name]++
	}
	s.shared = make(map[string]int)
	for _, t := range texts {
		n := len(s.All)
		if n >= maxSources {
			numbers = append(numbers, -1)
			continue
		}
		s.All, numbers = append(s.All, t), append(numbers, n)
		if count[t.Name] == 1 {
			s.shared[t.Name] = n
		}
	}
	return numbers
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

// Listings as sources of a dump. All listings of a function are made together, so they are read one
// after the other.

// A listingID names a listing of a function.
type listingID struct {
	file     string
	function int
}

// AddListing adds a listing of a function. size is in bytes.
func (s *Sources) AddListing(file string, size, function int) {
	if len(s.All) >= maxSources {
		return
	}
	if s.listings == nil {
		s.listings = make(map[listingID]int)
	}
	s.listings[listingID{file, function}] = len(s.All)
	s.All = append(s.All, Source{Name: file, Function: function, Size: size, Listing: true})
}

// ListingPlace returns the path of a function's listing for a file, or else file.
func (s *Sources) ListingPlace(file string, function int) string {
	if n, ok := s.listings[listingID{file, function}]; ok && s.All[n].Place != "" {
		return s.All[n].Place
	}
	return file
}

// ListingOf returns the text of the listing for file. list has the listings of a function, sorted
// by file.
func ListingOf(list []MadeText, file string) (text string, ok bool) {
	i, ok := slices.BinarySearchFunc(list, file, func(l MadeText, file string) int { return cmp.Compare(l.File, file) })
	if !ok {
		return "", false
	}
	return list[i].Text, true
}

// ListingsOf caches the listings of one function while they are read.
type ListingsOf struct {
	mu       sync.Mutex
	kept     bool
	function int
	list     []MadeText
}

// Text returns the text of the i-th of all sources, a listing. read makes all listings of a
// function.
func (l *ListingsOf) Text(all []Source, i int, read func(function int) ([]MadeText, error)) ([]byte, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := &all[i]
	if !l.kept || l.function != s.Function {
		list, err := read(s.Function)
		if err != nil {
			return nil, err
		}
		l.kept, l.function, l.list = true, s.Function, list
	}
	text, ok := ListingOf(l.list, s.Name)
	if i+1 == len(all) || all[i+1].Function != s.Function { // no more of them are needed
		l.kept, l.list = false, nil
	}
	if !ok {
		return nil, fmt.Errorf("function %d has no listing %s any more", s.Function, s.Name)
	}
	return []byte(text), nil
}
