package safefile

import (
	"errors"
	"io/fs"
)

// WithoutPath returns an error without the path that package os adds.
func WithoutPath(err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err
	}
	return err
}
