package locate

import (
	"context"
	"errors"
	"io"
	"slices"

	"github.com/jitinject/jitinject/internal/config"
	"github.com/jitinject/jitinject/internal/model"
	"github.com/jitinject/jitinject/internal/recording"
	"github.com/jitinject/jitinject/internal/report"
	"github.com/jitinject/jitinject/internal/source"
)

// A Format has the functions that find the dumps of a format. Any of them may be nil.
type Format struct {
	// Open opens a file as a dump. Its error is Other for a file of another format.
	Open func(src io.ReaderAt) (source.Dump, error)
	// Other is the error of Open for a file of another format.
	Other error

	// Prepare makes a dump follow options before it is scanned, if it has the format.
	Prepare func(d source.Dump, opts *config.Options)

	// Find adds markers for the format's files that no mapping in the recording describes.
	// The error is ctx's, or of options that cannot be followed.
	Find func(ctx context.Context, f *Finder, found *report.Findings) error

	// Substitute adds a marker for a file that takes the place of a process's missing dump, or
	// describes code that its dumps leave out, if there is one. The error is ctx's.
	Substitute func(ctx context.Context, f *Finder, pid uint32) error

	// Complete adds markers for files that describe code which dumps leave out. dumps are those of each
	// process that may lack code: none if they are missing. It precedes Substitute. The error is ctx's.
	Complete func(ctx context.Context, f *Finder, dumps map[uint32][]source.Dump) error

	// Explain fills in a reason why a process that made code has no file of the format. It
	// reports whether it can. who is a clause that says what the process did.
	Explain func(f *Finder, pid uint32, who string, r *report.Reason) bool

	// Check compares a dump, of any format, with the recording when its clock is known.
	Check func(rec *recording.Recording, d *model.Dump, found *report.Findings)

	// IsLarge reports whether a dump of the format has so many functions that only those get objects
	// that samples refer to. It is false for dumps of other formats.
	IsLarge func(d *model.Dump) bool

	// Refused says which files of the format were found and not used, and why, after a semicolon. It
	// returns "" if there are none.
	Refused func(left *Left) string
}

// FindAll adds markers for files of all formats that no mapping describes.
func (f *Finder) FindAll(ctx context.Context, found *report.Findings) error {
	for _, format := range f.Formats {
		if format.Find != nil {
			if err := format.Find(ctx, f, found); err != nil {
				return err
			}
		}
	}
	return nil
}

// IsOther reports whether an error says that a file has none of the formats.
func (f *Finder) IsOther(err error) bool {
	return slices.ContainsFunc(f.Formats, func(format Format) bool { return format.Open != nil && errors.Is(err, format.Other) })
}

// open opens a file as a dump of its format. If it has none of the formats, the error is that of
// the first format.
func (f *Finder) open(src io.ReaderAt) (source.Dump, error) {
	var first error
	for _, format := range f.Formats {
		if format.Open == nil {
			continue
		}
		d, err := format.Open(src)
		if err == nil {
			return d, nil
		}
		if !errors.Is(err, format.Other) {
			return nil, err
		}
		if first == nil {
			first = err
		}
	}
	return nil, first
}
