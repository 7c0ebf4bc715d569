package fetch

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"path/filepath"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/jitinject/jitinject/internal/perfcache"
	"github.com/jitinject/jitinject/internal/safefile"
	"github.com/jitinject/jitinject/internal/safefile/sys"
)

// objectMode is the mode of the files, before the user's mask.
const objectMode = 0o644

// A target is where objects are put. Several goroutines may use it at once.
type target interface {
	// has reports whether perf finds an object already. The error says that it cannot be put there.
	has(o *object) (bool, error)
	// put writes an object from file. It returns a refused if the file is another one.
	put(o *object, file io.Reader) error
	// sync makes what was put durable.
	sync() error
	close()
}

// A refused is an error about the contents of a file.
type refused struct{ error }

// isObject reports whether an open file is an object, and closes it.
func isObject(f *sys.File, err error, id string) bool {
	if err != nil {
		return false
	}
	defer f.Close()
	st, err := f.Stat()
	return err == nil && st.Mode().IsRegular() && check(f, st.Size(), id) == nil
}

// receive writes an object to a new file of an open directory. rename gives it its final name.
func receive(dir int, name, id string, file io.Reader, rename func(*safefile.Partial, string) error) error {
	out, p, err := safefile.Create(dir, name, objectMode)
	if err != nil {
		return err
	}
	n, err := io.Copy(out, file)
	if err == nil {
		if cerr := check(out, n, id); cerr != nil {
			err = refused{cerr}
		}
	}
	if cerr := out.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = rename(p, name)
	}
	name = p.Name
	if rerr := p.Remove(); rerr != nil && err != nil {
		err = &safefile.LeftFile{Name: name, Made: err, Left: rerr}
	}
	return err
}

// A cacheTarget is perf's build-id cache, or nil if there is none yet.
type cacheTarget struct{ *perfcache.Cache }

func (c cacheTarget) has(o *object) (bool, error) {
	if c.Cache != nil {
		f, err := c.OpenFile([]byte(o.id))
		if isObject(f, err, o.id) {
			return true, nil
		}
	}
	f, err := safefile.Open(o.path) // perf looks there, too
	return isObject(f, err, o.id), nil
}

func (c cacheTarget) put(o *object, file io.Reader) error {
	a := c.Adder()
	defer a.Close()
	return a.Add(o.path, []byte(o.id), func(*sys.File) bool { return false }, func(dir int, _, name string) error {
		return receive(dir, name, o.id, file, (*safefile.Partial).Rename)
	})
}

func (c cacheTarget) sync() error { return c.Sync() }

func (c cacheTarget) close() {
	if c.Cache != nil {
		c.Close()
	}
}

// places are the paths that the recording names.
type places struct {
	mu   sync.Mutex
	dirs map[string]int // open directories, by path
}

// errOther says that an object's path is taken.
var errOther = errors.New("another file is there; it is left alone")

func (p *places) has(o *object) (bool, error) {
	if !path.IsAbs(o.path) {
		return false, errors.New("the recording does not say in which directory it is")
	}
	f, err := safefile.Open(o.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, nil
	case err != nil:
		return false, safefile.WithoutPath(err)
	case isObject(f, nil, o.id):
		return true, nil
	}
	return false, errOther
}

func (p *places) put(o *object, file io.Reader) error {
	dir, err := p.dir(path.Dir(o.path))
	if err != nil {
		return fmt.Errorf("cannot make its directory: %w", err)
	}
	err = receive(dir, path.Base(o.path), o.id, file, (*safefile.Partial).RenameNew)
	if errors.Is(err, unix.EEXIST) {
		if there, _ := p.has(o); there { // another run was faster
			return nil
		}
		return errOther
	}
	return err
}

// dir opens a directory, and makes it if it does not exist. It does not follow links of other users.
func (p *places) dir(name string) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if dir, ok := p.dirs[name]; ok {
		return dir, nil
	}
	dir, _, err := safefile.MakeDir(filepath.Clean(name), 0o755)
	if err != nil {
		return -1, err
	}
	if p.dirs == nil {
		p.dirs = make(map[string]int)
	}
	p.dirs[name] = dir
	return dir, nil
}

func (p *places) sync() (err error) {
	for _, dir := range p.dirs {
		if serr := sys.Syncfs(dir); err == nil {
			err = serr
		}
	}
	return err
}

func (p *places) close() {
	for _, dir := range p.dirs {
		sys.Close(dir)
	}
}
