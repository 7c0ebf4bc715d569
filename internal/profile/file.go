package profile

import (
	"fmt"
	"strings"

	"github.com/jitinject/jitinject/internal/format/elffile"
	"github.com/jitinject/jitinject/internal/perfcache"
	"github.com/jitinject/jitinject/internal/quote"
	"github.com/jitinject/jitinject/internal/safefile"
	"github.com/jitinject/jitinject/internal/safefile/sys"
)

// An elfFile is an open file with code.
type elfFile struct {
	elf  *elffile.File
	file *sys.File
	path string // which may be in perf's build-id cache
}

func (f *elfFile) close() { f.file.Close() }

// openELF opens a file with code, at its path or in perf's build-id cache. It fails if what is there is
// not the recorded file, by its build id. The caller closes it.
func (t *tables) openELF(path string) (*elfFile, error) {
	want := t.rec.buildIDs[path]
	file, err := sys.Open(path)
	if err == nil {
		f, err := newELF(file, path, want)
		if err == nil || want == "" {
			return f, err
		}
		if cached, _ := openCached(want); cached != nil {
			return newELF(cached, cached.Name(), want)
		}
		return nil, err
	}
	if want != "" {
		if cached, _ := openCached(want); cached != nil {
			return newELF(cached, cached.Name(), want)
		}
	}
	return nil, fmt.Errorf("%s: %w", quote.Printable(path), safefile.WithoutPath(err))
}

// newELF returns an open file, or closes it and says why it cannot be used.
func newELF(file *sys.File, path, want string) (*elfFile, error) {
	f, err := elffile.Open(file)
	if err == nil {
		got := strings.TrimRight(f.BuildID(), "\x00")
		if want == "" || got == want {
			return &elfFile{f, file, path}, nil
		}
		err = fmt.Errorf("it is not the recorded file: its build id is %x, and that in the recording %x", got, want)
	}
	file.Close()
	return nil, fmt.Errorf("%s: %w", quote.Printable(path), err)
}

// openCached opens the file of a build id in perf's cache.
func openCached(id string) (*sys.File, error) {
	dir, err := perfcache.Find()
	if err != nil {
		return nil, err
	}
	cache, err := perfcache.OpenExisting(dir)
	if err != nil {
		return nil, err
	}
	defer cache.Close()
	return cache.OpenFile([]byte(id))
}
