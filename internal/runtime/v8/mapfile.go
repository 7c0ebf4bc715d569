package v8

import (
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"path"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/jitinject/jitinject/internal/format/sourcemap"
	"github.com/jitinject/jitinject/internal/quote"
	"github.com/jitinject/jitinject/internal/runtime/jitdump"
	"github.com/jitinject/jitinject/internal/safefile"
	"github.com/jitinject/jitinject/internal/safefile/sys"
)

// Source maps in files of their own, beside their scripts.

// errAbsent is the error for a map that is in no file.
var errAbsent = errors.New("there is no such file")

// mapPath returns the path that a script's URL of a map stands for.
func mapPath(script, ref string) (string, error) {
	switch scheme := sourcemap.Scheme(ref); scheme {
	case "":
	case "file":
		return jitdump.FileName(ref), nil
	default:
		return "", fmt.Errorf("it is at %s, which is no local file", quote.Printable(ref))
	}
	ref, _, _ = strings.Cut(ref, "?")
	ref, _, _ = strings.Cut(ref, "#")
	if plain, err := url.PathUnescape(ref); err == nil {
		ref = plain
	}
	if path.IsAbs(ref) {
		return path.Clean(ref), nil
	}
	script = jitdump.FileName(script)
	if !path.IsAbs(script) {
		return "", errors.New("its script is in no file")
	}
	return path.Join(path.Dir(script), ref), nil
}

// A mapFile is the file of a map. It is opened for each use, by the same rules: a program may have
// thousands of maps.
type mapFile struct {
	open func() (*sys.File, error)
	now  *sys.File // while it is read from the beginning
}

// ReadAt reads the file.
func (f *mapFile) ReadAt(p []byte, off int64) (int, error) {
	if f.now != nil {
		return f.now.ReadAt(p, off)
	}
	file, err := f.open()
	if err != nil {
		return 0, err
	}
	defer file.Close()
	return file.ReadAt(p, off)
}

// openMap finds the file of a script's map: where it was, or beside the recording or the dump, or
// in a directory of the options. It is errAbsent if there is none.
func (a *attacher) openMap(t *target, script, name string) (*mapFile, error) {
	candidates := []string{name}
	for _, dir := range append([]string{a.rec.In.Dir, filepath.Dir(t.dump.Path)}, a.opts.DumpDirs...) {
		candidates = append(candidates, filepath.Join(dir, filepath.Base(name)))
	}
	for _, candidate := range candidates {
		open := func() (*sys.File, error) { return t.openMapFile(script, candidate) }
		file, err := open()
		if safefile.IsAbsent(err) {
			continue
		}
		if err != nil {
			return nil, safefile.PlainError(err)
		}
		return &mapFile{open, file}, nil
	}
	return nil, errAbsent
}

// openMapFile opens a file with a map. Names in logs lead anywhere. So the
// program must have been able to read the file, and its owner to give the program other code.
func (t *target) openMapFile(script, name string) (*sys.File, error) {
	file, err := safefile.Open(name)
	if err != nil {
		return nil, err
	}
	info, err := file.Stat()
	switch {
	case err != nil: // nothing is known of it
	case !isOwnersOf(info, t.dump.File) && !isOwnersOfScript(info, script):
		err = errors.New("it belongs to another user than the dump")
	case !isReadableBy(file, info, t.dump.File):
		err = errors.New("the dump's user may not read it")
	}
	if err != nil {
		file.Close()
		return nil, err
	}
	return file, nil
}

// isOwnersOfScript reports whether a file has the owner of the script's own file.
func isOwnersOfScript(info fs.FileInfo, script string) bool {
	own, err := safefile.Open(jitdump.FileName(script))
	if err != nil {
		return false
	}
	defer own.Close()
	st, err := own.Stat()
	return err == nil && uidOf(info) == uidOf(st)
}

// isReadableBy reports whether the owner of a dump may read a file. Root may run this for other
// users: they must not get to see files of root.
func isReadableBy(file *sys.File, info fs.FileInfo, dump *sys.File) bool {
	st, err := dump.Stat()
	if err != nil {
		return false
	}
	user := uidOf(st)
	if user == 0 || int(user) == unix.Geteuid() {
		return true // as this process can
	}
	if uidOf(info) != user && info.Mode()&0o004 == 0 {
		return false
	}
	at, err := sys.Readlink(fmt.Sprintf("/proc/self/fd/%d", file.Fd()))
	if err != nil {
		return false
	}
	for dir := path.Dir(at); ; dir = path.Dir(dir) {
		st, err := sys.Stat(dir)
		if err != nil {
			return false
		}
		if uidOf(st) != user && st.Mode()&0o001 == 0 {
			return false
		}
		if dir == "/" {
			return true
		}
	}
}
