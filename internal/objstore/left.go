package objstore

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/jitinject/jitinject/internal/quote"
	"github.com/jitinject/jitinject/internal/safefile"
)

// Files that a run made and could not remove. Nothing better can be done than to name them.

// maxLeft is the maximum number of files that a message names.
const maxLeft = 8

// A leftFiles lists such files.
type leftFiles struct {
	names []string
	err   error // of the first
}

// add adds a file, if it could not be removed because of err.
func (l *leftFiles) add(path string, err error) {
	if err == nil {
		return
	}
	if l.names = append(l.names, path); len(l.names) == 1 {
		l.err = safefile.WithoutPath(err)
	}
}

// join adds the files of another list.
func (l *leftFiles) join(other *leftFiles) {
	for _, name := range other.names {
		l.add(name, other.err)
	}
	other.names = nil
}

// String returns a sentence about the files, or "".
func (l *leftFiles) String() string {
	if len(l.names) == 0 {
		return ""
	}
	return fmt.Sprintf("%s could not be removed: %v; remove them by hand", l.list(), l.err)
}

// list returns the names of the files, or of some of many.
func (l *leftFiles) list() string {
	var text strings.Builder
	for i, name := range l.names[:min(len(l.names), maxLeft)] {
		if i > 0 {
			text.WriteString(", ")
		}
		text.WriteString(quote.Printable(name))
	}
	if more := len(l.names) - maxLeft; more > 0 {
		fmt.Fprintf(&text, " and %d more", more)
	}
	return text.String()
}

// leaveOf notes the file that an error says is left, if it says so.
func (s *Store) leaveOf(err error) error {
	var file *safefile.LeftFile
	if errors.As(err, &file) {
		s.leave(file.Name, file.Left)
		return file.Made
	}
	return err
}

// leave notes that a file of the directory could not be removed because of err, if that is not nil.
func (s *Store) leave(name string, err error) {
	s.leftMu.Lock()
	defer s.leftMu.Unlock()
	s.left.add(filepath.Join(s.path, name), err)
}

// A LeftError is the error of a failed run that could not remove all its files.
type LeftError struct {
	Err  error  // why it failed
	Left string // the remaining files, in words
}

// WithLeft adds a note about remaining files to an error. It returns err if left is "".
func WithLeft(err error, left string) error {
	if left == "" || err == nil {
		return err
	}
	if before := Left(err); before != "" {
		left = before + "; " + left
	}
	return &LeftError{err, left}
}

// Error returns the text of Err.
func (e *LeftError) Error() string { return e.Err.Error() }

// Unwrap returns Err.
func (e *LeftError) Unwrap() error { return e.Err }

// Left returns the note about remaining files in an error, or "".
func Left(err error) string {
	var left *LeftError
	if errors.As(err, &left) {
		return left.Left
	}
	return ""
}
