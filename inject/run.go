package inject

import (
	"context"

	"github.com/jitinject/jitinject/internal/config"
	"github.com/jitinject/jitinject/internal/engine"
	"github.com/jitinject/jitinject/internal/objstore"
	"github.com/jitinject/jitinject/internal/report"
)

// Run reads opts.Input, writes opts.Output, and returns a summary of what it did. The summary
// says whether anything is missing ([Summary.Complete]).
//
// If Run fails, it writes no output and leaves an existing output as it was. Existing objects
// with the same contents are left as they were, too. But others may have been replaced
// already. The error of files wraps that of package io/fs, and the error of a cancelled run that of
// the context. See also [ErrNothing], [ErrStrict] and [LeftError].
//
// When ctx is cancelled, Run stops soon and leaves no new file.
func Run(ctx context.Context, opts Options) (*Summary, error) {
	sum, err := engine.Run(ctx, opts.settings())
	if err != nil {
		return nil, withLeft(err)
	}
	public := new(Summary)
	convert(public, sum)
	return public, nil
}

// settings returns the options as the engine has them.
func (o Options) settings() config.Options {
	progress := o.Progress
	o.Progress = nil
	var settings config.Options
	convert(&settings, &o)
	if progress != nil {
		settings.Progress = &progress.engine
	}
	return settings
}

// These errors of [Run] have values that callers can compare.
var (
	// ErrNothing says that there are side files, but none of their functions could be injected.
	ErrNothing = report.ErrNothing
	// ErrStrict says that a result would be incomplete, and was not written because of Options.Strict.
	ErrStrict = report.ErrStrict
)

// A LeftError is the error of a failed run that could not remove all of its files.
type LeftError struct {
	Err  error  // why it failed
	Left string // the remaining files, in words
}

// Error returns the text of Err.
func (e *LeftError) Error() string { return e.Err.Error() }

// Unwrap returns Err.
func (e *LeftError) Unwrap() error { return e.Err }

// withLeft returns an error of the engine with the public type, if files are left.
func withLeft(err error) error {
	if left := objstore.Left(err); left != "" {
		return &LeftError{err, left}
	}
	return err
}
