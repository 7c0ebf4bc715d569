package objstore

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/jitinject/jitinject/internal/config"
	"github.com/jitinject/jitinject/internal/model"
	"github.com/jitinject/jitinject/internal/quote"
	"github.com/jitinject/jitinject/internal/report"
	"github.com/jitinject/jitinject/internal/safefile"
	"github.com/jitinject/jitinject/internal/source"
)

// Source files that dumps bring along, written to where tools that show source
// code find them.

// A SourceTree is the directory that source files are written into. It is the
// compilation directory of the objects, and files are named relative to it. Names
// come from dumps, which anyone may have written: whatever they say, nothing is
// written outside the directory, and nothing that is there is changed.
type SourceTree struct {
	path string
	root *os.Root
	made []string // files and directories in root that were not there, in order
	own  []string // directories that were made for root itself, outermost first

	failed map[*model.Dump]int // how many files could not be written
	full   bool                // none ever will
}

// OpenSources opens the directory for source files, making it if it is not there.
// Without one, it returns nil.
func OpenSources(opts *config.Options) (*SourceTree, error) {
	if opts.Sources == "" {
		return nil, nil
	}
	dir, err := filepath.Abs(opts.Sources)
	if err != nil {
		return nil, err
	}
	t := &SourceTree{path: dir, failed: make(map[*model.Dump]int)}
	for d := dir; ; d = filepath.Dir(d) {
		if _, err := os.Lstat(d); !errors.Is(err, fs.ErrNotExist) {
			break
		}
		t.own = append([]string{d}, t.own...)
	}
	if err = os.MkdirAll(dir, 0o777); err == nil {
		t.root, err = os.OpenRoot(dir)
	}
	if err != nil {
		t.Undo()
		return nil, fmt.Errorf("%s: cannot write source files there: %w; %s", quote.Printable(dir), safefile.WithoutPath(err), otherSources)
	}
	return t, nil
}

// otherSources is what to do where source files cannot be written.
var otherSources = "name another directory with " + report.Mentioned("Sources", "DIR")

// CompDir returns what relative names of source files count from, or "" where
// nothing is known of that.
func (t *SourceTree) CompDir() string {
	if t == nil {
		return ""
	}
	return t.path
}

func (t *SourceTree) Close() {
	if t != nil && t.root != nil {
		t.root.Close()
	}
}

// Undo removes what was written.
func (t *SourceTree) Undo() {
	if t == nil {
		return
	}
	for i := len(t.made) - 1; i >= 0 && t.root != nil; i-- {
		t.root.Remove(t.made[i])
	}
	for i := len(t.own) - 1; i >= 0; i-- {
		os.Remove(t.own[i])
	}
}

// Place writes the sources of a dump that have come since it was called last, in
// the order of the dump, so that the names do not depend on anything else. What
// cannot be written is a problem, and stays under the name that it had. It returns how many
// sources the dump has.
func (t *SourceTree) Place(d *model.Dump) (n int, found report.Findings) {
	texts, ok := d.Source.(source.Texter)
	if !ok {
		return 0, found
	}
	all := texts.Sources()
	if t == nil {
		return len(all), found
	}
	for ; d.Placed < len(all); d.Placed++ {
		if t.full {
			t.failed[d]++
			continue
		}
		s := &all[d.Placed]
		text, err := texts.SourceText(d.Placed)
		if err == nil {
			var name string
			if name, err = t.put(s.Name, text, Mode(d)); err == nil {
				texts.PlaceSource(d.Placed, name)
				continue
			}
		}
		advice := otherSources
		if t.full = isFinal(err); t.full {
			advice = "make room, or " + otherSources
		}
		if t.failed[d]++; t.failed[d] <= report.MaxProblems {
			found.Problem(report.Problem{File: d.Path, Offset: -1, Text: fmt.Sprintf("its source file %s could not be written into %s: %v", quote.Printable(s.Name), quote.Printable(t.path), safefile.WithoutPath(err)), Advice: advice})
		}
	}
	return len(all), found
}

// Report says how many more files could not be written than were named.
func (t *SourceTree) Report(dumps []*model.Dump) (found report.Findings) {
	if t == nil {
		return found
	}
	for _, d := range dumps {
		named := report.MaxProblems
		if t.full {
			named = 1
		}
		if n := t.failed[d] - named; n > 0 {
			found.Problem(report.Problem{File: d.Path, Offset: -1, Text: fmt.Sprintf("%d more of its source files could not be written", n), Advice: otherSources})
		}
	}
	return found
}

// put writes a file of the given name, or finds it there, and returns its name
// relative to the tree. Where the name is taken by something else, or cannot be
// that of a file, it gets a directory to itself, named by the text.
func (t *SourceTree) put(name string, text []byte, mode uint32) (string, error) {
	digest := fmt.Sprintf("@%x", sha256.Sum256(text))[:13]
	inside := path.Clean("/" + name)[1:] // what leads out ends at the top
	candidates := []string{inside, path.Join(digest, inside), path.Join(digest, "source")}
	if inside == "" || len(t.path)+len(digest)+len(inside) > maxPath || strings.Count(inside, "/") > maxDirs {
		candidates = candidates[2:]
	}
	var err error
	for _, file := range candidates {
		if err = t.putAt(file, text, mode); err == nil || isFinal(err) {
			return file, err
		}
	}
	return "", err
}

// Longer names, and those in more directories, are none that tools could open.
const (
	maxPath = 4000
	maxDirs = 100
)

// isFinal reports whether no other name will do better, nor any other file.
func isFinal(err error) bool {
	return errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EDQUOT) || errors.Is(err, unix.EACCES) || errors.Is(err, unix.EROFS)
}

func (t *SourceTree) putAt(file string, text []byte, mode uint32) error {
	if err := t.makeDirs(path.Dir(file)); err != nil {
		return err
	}
	f, err := t.root.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL|unix.O_NOFOLLOW, os.FileMode(mode))
	if errors.Is(err, fs.ErrExist) && t.holds(file, text) {
		return nil
	}
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		t.root.Remove(file)
		return err
	}
	t.made = append(t.made, file)
	return nil
}

// makeDirs makes a directory and those it is in.
func (t *SourceTree) makeDirs(dir string) error {
	if dir == "." {
		return nil
	}
	if st, err := t.root.Stat(dir); err == nil && st.IsDir() {
		return nil
	}
	if err := t.makeDirs(path.Dir(dir)); err != nil {
		return err
	}
	err := t.root.Mkdir(dir, 0o777)
	if err == nil {
		t.made = append(t.made, dir)
	}
	return err
}

// holds reports whether file is a regular file with the given content.
func (t *SourceTree) holds(file string, text []byte) bool {
	f, err := t.root.OpenFile(file, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err != nil {
		return false
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil || !st.Mode().IsRegular() || st.Size() != int64(len(text)) {
		return false
	}
	there, err := io.ReadAll(f)
	return err == nil && bytes.Equal(there, text)
}
