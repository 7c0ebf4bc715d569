package safefile

import (
	"errors"
	"io/fs"
)

// A LeftFile is the error of making a file that failed halfway, and that could not be removed.
type LeftFile struct {
	Name string // of the file in its directory
	Made error  // why it was not made
	Left error  // why it could not be removed
}

// Error returns the texts of both errors.
func (e *LeftFile) Error() string {
	return e.Made.Error() + "; " + e.Name + " is left there, as it could not be removed: " + e.Left.Error()
}

// Unwrap returns Made.
func (e *LeftFile) Unwrap() error { return e.Made }

// WithoutPath returns an error without the path that package os adds.
func WithoutPath(err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err
	}
	return err
}
