package show

import (
	"errors"
	"strings"
)

// A Format is how files of one format are shown.
type Format struct {
	// Name is what messages call a file of the format, with its article.
	Name string

	// Begins reports whether a file has the format, by its first eight bytes, or all of a shorter
	// file. It is true of a damaged file, too: Show shows as much of it as can be read. nil for
	// formats that only the name of a file tells.
	Begins func(head []byte) bool

	// Named reports whether a file that begins as none has the format, by its path; or nil.
	Named func(path string) bool

	// Show shows a file. An error is about the whole file: nothing was shown.
	Show func(v *Viewer) error

	// Types are the types of items, for filters. A filter may leave out one of Prefixes of a type.
	Types    []string
	Prefixes []string
}

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

// enumerate writes a list: "a, b or c", or without commas "a nor b".
func enumerate(names []string, last string) string {
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	n := len(names) - 1
	return strings.Join(names[:n], ", ") + " " + last + " " + names[n]
}
