package verify

import (
	"errors"
	"os"
)

// openChecked opens a file or directory for reading. Pipes and devices are refused:
// opening one may wait forever.
func openChecked(path string) (*os.File, error) {
	st, err := os.Stat(path)
	if err != nil {
		return nil, plainError(err)
	}
	if !st.Mode().IsRegular() && !st.IsDir() {
		return nil, errors.New("it is no regular file")
	}
	f, err := os.Open(path)
	return f, plainError(err)
}

// plainError takes the path off an error that will be printed beside it.
func plainError(err error) error {
	var pe *os.PathError
	if errors.As(err, &pe) {
		return pe.Err
	}
	return err
}
