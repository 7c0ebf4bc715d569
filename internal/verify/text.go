package verify

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strconv"
	"unicode"
	"unicode/utf8"

	"github.com/jitinject/jitinject/internal/safefile/sys"
	"github.com/jitinject/jitinject/internal/wire"
)

// Quoted returns a name from a file for a text, on one line and not endless.
func Quoted[T string | []byte](name T) string {
	const most = 80
	if len(name) > most {
		return fmt.Sprintf("%q...", string(name[:most]))
	}
	return fmt.Sprintf("%q", string(name))
}

// Span returns a length of time, given in nanoseconds, with three digits.
func Span(ns uint64) string {
	v, unit := float64(ns), "ns"
	for _, next := range []string{"µs", "ms", "s"} {
		if v < 1000 {
			break
		}
		v, unit = v/1000, next
	}
	return strconv.FormatFloat(v, 'g', max(3, len(strconv.Itoa(int(v)))), 64) + " " + unit
}

// IsText reports whether a name is UTF-8 without control characters.
func IsText(name []byte) bool {
	return utf8.Valid(name) && !bytes.ContainsFunc(name, unicode.IsControl)
}

// FaultAt returns where in the file an error of a codec is, or what is next to it.
func FaultAt(err error, near int64) int64 {
	var we *wire.Error
	if errors.As(err, &we) {
		return we.Offset
	}
	return near
}

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
