package source

import (
	"cmp"
	"fmt"
	"slices"
	"sync"
)

// Listings as sources of a dump: where each is, and how those of one function, which are made
// together, are read one after the other.

// A listingID names a listing of a function.
type listingID struct {
	file     string
	function int
}

// addListing takes in a listing of a function, which has a size in bytes.
func (s *sources) addListing(file string, size, function int) {
	if len(s.all) >= maxSources {
		return
	}
	if s.listings == nil {
		s.listings = make(map[listingID]int)
	}
	s.listings[listingID{file, function}] = len(s.all)
	s.all = append(s.all, Source{Name: file, Function: function, Size: size, listing: true})
}

// listingPlace returns the name that a function's listing for a file is placed under, or file.
func (s *sources) listingPlace(file string, function int) string {
	if n, ok := s.listings[listingID{file, function}]; ok && s.all[n].place != "" {
		return s.all[n].place
	}
	return file
}

// listingOf returns the text of a listing of a function, whose listings are in the order
// of their files.
func listingOf(list []J9Listing, file string) (text string, ok bool) {
	i, ok := slices.BinarySearchFunc(list, file, func(l J9Listing, file string) int { return cmp.Compare(l.File, file) })
	if !ok {
		return "", false
	}
	return list[i].Text, true
}

// listingsOf are the listings of a function, kept while they are read.
type listingsOf struct {
	mu       sync.Mutex
	kept     bool
	function int
	list     []J9Listing
}

// text returns the text of the i-th of all sources, a listing. read makes those of a function.
func (l *listingsOf) text(all []Source, i int, read func(function int) ([]J9Listing, error)) ([]byte, error) {
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
	text, ok := listingOf(l.list, s.Name)
	if i+1 == len(all) || all[i+1].Function != s.Function { // nobody asks for more of them
		l.kept, l.list = false, nil
	}
	if !ok {
		return nil, fmt.Errorf("function %d has no listing %s any more", s.Function, s.Name)
	}
	return []byte(text), nil
}
