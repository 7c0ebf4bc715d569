package source

import (
	"cmp"
	"fmt"
	"slices"
	"sync"
)

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
