package objstore

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/jitinject/jitinject/internal/config"
	"github.com/jitinject/jitinject/internal/model"
	"github.com/jitinject/jitinject/internal/quote"
	"github.com/jitinject/jitinject/internal/report"
	"github.com/jitinject/jitinject/internal/safefile"
	"github.com/jitinject/jitinject/internal/safefile/sys"
	"github.com/jitinject/jitinject/internal/source"
)

// Embedded sources of dumps are written to a directory, where tools that show source code find
// them.

// A SourceTree is the directory for embedded sources. It is the compilation directory of the
// objects, and files are named relative to it. The names come from dumps, which are not trusted.
// For any name, nothing is written outside the directory, and existing files never change.
type SourceTree struct {
	path string
	root *sys.Root
	made []string // created files and directories below root, in order
	used bool     // there are files that the result refers to
	own  []string // directories created for root itself, outermost first

	full bool // no further file can be written
}

// OpenSources opens the directory for embedded sources, and creates it if needed. It returns nil if
// the options name none.
func OpenSources(opts *config.Options) (*SourceTree, error) {
	if opts.Sources == "" {
		return nil, nil
	}
	dir, err := filepath.Abs(opts.Sources)
	if err != nil {
		return nil, err
	}
	t := &SourceTree{path: dir}
	if t.root, t.own, err = safefile.OpenRoot(dir, 0o777); err != nil {
		left := t.Undo()
		err = fmt.Errorf("%s: cannot write source files there: %w; %s", quote.Printable(dir), safefile.WithoutPath(err), report.AdviceOr(err, otherSources()))
		return nil, WithLeft(err, left)
	}
	return t, nil
}

// otherSources returns the advice if embedded sources cannot be written.
func otherSources() string {
	return "name another directory with " + report.Mentioned("Sources", "DIR")
}

// CompDir returns the base directory of relative source file names, or "" if it is unknown.
func (t *SourceTree) CompDir() string {
	if t == nil {
		return ""
	}
	return t.path
}

// Close closes the directory.
func (t *SourceTree) Close() {
	if t != nil && t.root != nil {
		t.root.Close()
	}
}

// Undo removes the written files and directories. left says which could not be removed, or is "".
func (t *SourceTree) Undo() (left string) {
	if t == nil {
		return ""
	}
	var all leftFiles
	for i := len(t.made) - 1; i >= 0 && t.root != nil; i-- {
		err := twice(func() error { return t.root.Remove(t.made[i]) })
		if !errors.Is(err, unix.ENOTEMPTY) && !errors.Is(err, unix.ENOENT) {
			all.add(filepath.Join(t.path, t.made[i]), err)
		}
	}
	for _, dir := range slices.Backward(t.own) {
		all.add(dir, removeEmpty(dir))
	}
	return all.String()
}

// Place writes the sources of a dump, and returns their number. It writes in the order of the dump, so that
// file names depend on nothing else. A source that cannot be written becomes a problem, and keeps its name.
func (t *SourceTree) Place(d *model.Dump) (n int, found report.Findings) {
	texts, ok := d.Source.(source.Texter)
	if !ok {
		return 0, found
	}
	all := texts.Sources()
	if t == nil {
		return len(all), found
	}
	failed := 0
	for i, s := range all {
		if t.full {
			failed++
			continue
		}
		name, err := t.write(cmp.Or(s.Path, s.Name), texts, i, d)
		if err == nil {
			t.used = true
			texts.PlaceSource(i, name)
			continue
		}
		advice := report.AdviceOr(err, otherSources())
		t.full = isFinal(err)
		if failed++; failed <= report.MaxProblems {
			found.Problem(report.Problem{Code: report.ProblemNotWritten, File: d.Path, Offset: -1, Text: fmt.Sprintf("its source file %s could not be written into %s: %v", quote.Printable(s.Name), quote.Printable(t.path), safefile.WithoutPath(err)), Advice: advice})
		}
	}
	if more := failed - len(found.Problems); more > 0 {
		found.Problem(report.Problem{Code: report.ProblemNotWritten, File: d.Path, Offset: -1, Text: fmt.Sprintf("%d more of its source files could not be written", more), Advice: otherSources()})
	}
	return len(all), found
}

// write writes the i-th source of a dump, and returns its name relative to the tree.
func (t *SourceTree) write(name string, texts source.Texter, i int, d *model.Dump) (string, error) {
	text, err := texts.Text(i)
	if err != nil {
		return "", err
	}
	return t.put(name, text, d)
}

// put writes a file of the given name, or finds it there. It returns the name relative to the tree.
// An occupied or unusable name gets a directory of its own, named by a hash of the text.
func (t *SourceTree) put(name string, text source.Text, d *model.Dump) (string, error) {
	mode, err := Mode(d)
	if err != nil {
		return "", err
	}
	sum := sha256.New()
	if err := text(sum); err != nil {
		return "", err
	}
	digest := fmt.Sprintf("@%x", sum.Sum(nil))[:13]
	inside := path.Clean("/" + name)[1:] // paths that lead out of the tree end at its top
	candidates := []string{inside, path.Join(digest, inside), path.Join(digest, "source")}
	if inside == "" || len(t.path)+len(digest)+len(inside) > maxPath || strings.Count(inside, "/") > maxDirs {
		candidates = candidates[2:]
	}
	for _, file := range candidates {
		if err = t.putAt(file, text, mode); err == nil || !isOfName(err) {
			return file, err
		}
	}
	return "", err
}

// maxPath and maxDirs bound file names: tools cannot open longer names, or deeper ones.
const (
	maxPath = 4000
	maxDirs = 100
)

// isFinal reports whether every other file would fail in the same way.
func isFinal(err error) bool {
	return errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EDQUOT) || errors.Is(err, unix.EACCES) || errors.Is(err, unix.EROFS)
}

// isOfName reports whether an error is one of the name: another name may do.
func isOfName(err error) bool {
	var errno unix.Errno
	if !errors.As(err, &errno) { // the name leads out of the tree, or exists
		return true
	}
	switch errno {
	case unix.EEXIST, unix.ENOTDIR, unix.EISDIR, unix.ELOOP, unix.ENAMETOOLONG, unix.EINVAL, unix.EILSEQ, unix.ENOENT, unix.EXDEV:
		return true
	}
	return false
}

// putAt writes a file, or finds it there with the same content.
func (t *SourceTree) putAt(file string, text source.Text, mode uint32) error {
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
	err = text(f)
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		if rerr := twice(func() error { return t.root.Remove(file) }); rerr != nil {
			t.made = append(t.made, file) // Undo may be able to
		}
		return err
	}
	t.made = append(t.made, file)
	return nil
}

// makeDirs makes a directory and its parents.
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
func (t *SourceTree) holds(file string, text source.Text) bool {
	f, err := t.root.OpenFile(file, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err != nil {
		return false
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil || !st.Mode().IsRegular() {
		return false
	}
	same := comparison{there: f}
	if text(&same) != nil {
		return false
	}
	var rest [1]byte
	n, err := f.Read(rest[:])
	return n == 0 && err == io.EOF
}

// errDiffers says that a file has another content.
var errDiffers = errors.New("the file differs")

// A comparison is a writer that fails unless it gets the content of a file.
type comparison struct {
	there io.Reader
	buf   []byte
}

// Write compares p with as many bytes of the file.
func (c *comparison) Write(p []byte) (int, error) {
	if cap(c.buf) < len(p) {
		c.buf = make([]byte, len(p))
	}
	b := c.buf[:len(p)]
	if _, err := io.ReadFull(c.there, b); err != nil || !bytes.Equal(b, p) {
		return 0, errDiffers
	}
	return len(p), nil
}
