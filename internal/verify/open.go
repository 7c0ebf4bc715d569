package verify

import (
	"errors"
	"os"

	"github.com/jitinject/jitinject/internal/safefile/sys"
)

// Open opens a file or directory for reading. Pipes and devices are refused:
// opening one may wait forever.
func Open(path string) (*sys.File, error) {
	f, err := sys.Open(path)
	if err != nil {
		return nil, PlainError(err)
	}
	return f, nil
}

// OpenSized is Open, and returns the file's size in bytes.
func OpenSized(path string) (f *sys.File, size int64, err error) {
	if f, err = Open(path); err != nil {
		return nil, 0, err
	}
	st, err := f.Stat()
	if err != nil {
		f.Close()
		return nil, 0, err
	}
	return f, st.Size(), nil
}

// PlainError takes the path off an error that will be printed beside it.
func PlainError(err error) error {
	var pe *os.PathError
	if errors.As(err, &pe) {
		return pe.Err
	}
	return err
}
