package show

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// A Format is how files of one format are shown.
type Format struct {
	// Name is what messages call a file of the format, with its article.
	Name string

	// Begins reports whether a file has the format, by its first eight bytes, or all of a shorter
	// file. It is true of a damaged file, too: Show shows as much of it as can be read. nil for
	// formats that Neighbours identify.
	Begins func(head []byte) bool

	// Show shows a file. An error is about the whole file: nothing was shown.
	Show func(v *Viewer) error

	// HasCalls is whether files may record calls, for Options.Stats.
	HasCalls bool

	// Types are the types of items, for filters. A filter may leave out one of Prefixes of a type.
	Types    []string
	Prefixes []string

	Directory  *Directory  // nil where directories mean nothing
	Neighbours *Neighbours // nil where the file alone tells its format
}

// A Directory is how a format shows a directory.
type Directory struct {
	What string // describes such a directory in messages, after "known are those"

	// Show shows a directory, or returns ErrOtherDirectory.
	Show func(v *Viewer) error
}

// Neighbours are for formats with several files in a directory that belong together.
type Neighbours struct {
	// Identify reports whether a file has the format, by the files beside it.
	Identify func(path string) bool

	// Explain returns why a file with a name of the format does not have it; nil for other names.
	Explain func(path string) error

	// Once returns paths without the files that are shown with others of them.
	Once func(paths []string) []string
}

// ErrOtherDirectory says that a directory does not have the format.
var ErrOtherDirectory = errors.New("it is a directory of another format")

// ErrUnknown says that a file has none of the formats. Callers test for it with errors.Is.
var ErrUnknown = errors.New("it has no format that is known here")

// An unknownError is ErrUnknown with the formats that a file could have.
type unknownError struct {
	formats []Format
	found   string
}

func (e *unknownError) Error() string {
	names := make([]string, len(e.formats))
	for i := range e.formats {
		_, names[i], _ = strings.Cut(e.formats[i].Name, " ")
	}
	return "it is no " + enumerate(names, "or") + ": " + e.found
}

func (e *unknownError) Unwrap() error { return ErrUnknown }

// Unknown is the error about a file that has none of the formats.
func (v *Viewer) Unknown(found string) error { return &unknownError{v.Opts.Formats, found} }

// noCalls says that there is nothing that statistics could be of.
func noCalls(formats []Format) error {
	var names []string
	for i := range formats {
		if formats[i].HasCalls {
			names = append(names, formats[i].Name)
		}
	}
	slices.Reverse(names)
	return fmt.Errorf("--stats counts calls, and the file is neither %s", enumerate(names, "nor"))
}

// enumerate writes a list: "a, b or c", or without commas "a nor b".
func enumerate(names []string, last string) string {
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	n := len(names) - 1
	return strings.Join(names[:n], ", ") + " " + last + " " + names[n]
}

// Files returns the files to show, of those that were named: files that belong together only once.
func Files(named []string, formats []Format) []string {
	for i := range formats {
		if n := formats[i].Neighbours; n != nil {
			named = n.Once(named)
		}
	}
	return named
}
